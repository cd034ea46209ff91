package segmentsql_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// What cannot be gapless is refused, and changes nothing.
func TestGaplessRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, s *dbtest.Store) {
		l := newLedger(t, s.Kind)
		refused := func(want error, store *segmentsql.Store, tag string, texts ...string) {
			t.Helper()
			err := l.DB.Transaction(func(tx *gorm.DB) error {
				_, err := store.NextGapless(tx, tag)
				wantErr(t, err, want, texts...)
				return errRolledBack
			})
			wantErr(t, err, errRolledBack)
		}
		must(t, l.counters.Create(t.Context(), "orders", 1, 10))
		refused(segment.ErrUnusable, l.counters, "orders")
		refused(segment.ErrUnknownTag, l.counters, "nosuch", "--gapless")
		refused(segment.ErrUnknownTag, segmentsql.NewLeafAlloc(l.DB, segmentsql.Config{Table: "nosuch"}), "invoices", "--gapless")
		sequence := segmentsql.NewSequence(l.DB, segmentsql.Config{Table: l.Another(t).Table})
		refused(segment.ErrUnusable, sequence, "invoices")
		refused(segment.ErrUnusable, segmentsql.NewLeafAlloc(nil, segmentsql.Config{}), "invoices")
		wantErr(t, sequence.CreateGapless(t.Context(), "invoices", 1), segment.ErrUnusable)
		wantErr(t, l.counters.CreateGapless(t.Context(), "invoices", 1), segment.ErrTagExists)
		for name, db := range map[string]*gorm.DB{"nil": nil, "no transaction": l.DB, "dry run": l.DB.Session(&gorm.Session{DryRun: true})} {
			if number, err := l.counters.NextGapless(db, "invoices"); !errors.Is(err, segment.ErrUnusable) {
				t.Errorf("%s: NextGapless() = %d, %v, want ErrUnusable", name, number, err)
			}
		}
		other := dbtest.New(t, map[string]string{"sqlite": "mysql", "mysql": "postgres", "postgres": "sqlite"}[s.Kind])
		_, err := invoice(other.DB, l.counters)
		wantErr(t, err, segment.ErrUnusable, "it is of "+other.Kind+", want "+s.Kind)
		_, err = l.counters.NextGaplessTx(t.Context(), nil, "invoices")
		wantErr(t, err, segment.ErrUnusable)
		ended, end := context.WithCancel(t.Context())
		end()
		_ = l.DB.Transaction(func(tx *gorm.DB) error {
			_, err := l.counters.NextGapless(tx.WithContext(ended), "invoices")
			wantErr(t, err, context.Canceled)
			_, err = l.counters.NextGaplessTx(ended, tx.Statement.ConnPool.(*sql.Tx), "invoices")
			wantErr(t, err, context.Canceled)
			return errRolledBack
		})
		l.want(t, 0)
		l.Exec(t, "UPDATE %s SET max_id = -5 WHERE biz_tag = 'invoices'", l.Table)
		refused(segment.ErrUnusable, l.counters, "invoices")
		l.Exec(t, "UPDATE %s SET max_id = 9223372036854775807 WHERE biz_tag = 'invoices'", l.Table)
		refused(segment.ErrUsedUp, l.counters, "invoices")
	})
}

// An engine that does not roll back, and a column at its end, are refused.
func TestGaplessTable(t *testing.T) {
	engine := func(name string) string { return strings.Replace(leafTable, "InnoDB", name, 1) }
	for ddl, name := range map[string]string{
		engine("MyISAM"): "ENGINE = InnoDB", engine("MEMORY"): "ENGINE = InnoDB", engine("Aria"): "ENGINE = InnoDB",
		strings.Replace(leafTable, "bigint(20)", "TINYINT", 1): "BIGINT",
	} {
		t.Run(ddl[len(ddl)-13:], func(t *testing.T) {
			s := dbtest.New(t, "mysql")
			if strings.HasSuffix(ddl, "Aria") && !s.MariaDB(t) {
				return
			}
			s.Exec(t, ddl, s.Table)
			s.Exec(t, "INSERT INTO %s (biz_tag, max_id, step) VALUES ('invoices', 127, 0)", s.Table)
			store := segmentsql.NewLeafAlloc(s.DB, segmentsql.Config{Table: s.Table, Logger: quiet})
			_, err := invoice(s.DB, store)
			wantErr(t, err, segment.ErrUnusable, name)
		})
	}
}

// A connection to a server that has become read-only is closed, so that the pool's next one may reach another server.
func TestGaplessReadOnly(t *testing.T) {
	s := dbtest.New(t, "postgres")
	store := leafAlloc(s)
	must(t, store.CreateGapless(t.Context(), "invoices", 1))
	pool, err := s.DB.DB()
	must(t, err)
	pool.SetMaxOpenConns(1)
	session := func() (pid int) {
		must(t, s.DB.Raw("SELECT pg_backend_pid()").Scan(&pid).Error)
		return pid
	}
	before := session()
	s.Exec(t, "SET default_transaction_read_only = on")
	if _, err := invoice(s.DB, store); err == nil || errors.Is(err, segment.ErrUnusable) {
		t.Errorf("NextGapless() = %v on a server that is read-only, want what the server says", err)
	}
	if session() == before {
		t.Error("the connection is still open")
	}
	if n, err := invoice(s.DB, store); n != 1 || err != nil {
		t.Errorf("NextGapless() = %d, %v on a new connection, want 1", n, err)
	}
}
