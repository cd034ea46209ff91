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
		refused := func(name string, want error, store *segmentsql.Store, tag string) {
			t.Helper()
			err := l.DB.Transaction(func(tx *gorm.DB) error {
				number, err := store.NextGapless(tx, tag)
				if !errors.Is(err, want) || want == segment.ErrUnknownTag && !strings.Contains(err.Error(), "--gapless") {
					t.Errorf("%s: NextGapless() = %d, %v, want %v", name, number, err, want)
				}
				return errRolledBack
			})
			if !errors.Is(err, errRolledBack) {
				t.Error(err)
			}
		}
		must(t, l.counters.Create(t.Context(), "orders", 1, 10))
		refused("segment", segment.ErrUnusable, l.counters, "orders")
		refused("unknown", segment.ErrUnknownTag, l.counters, "nosuch")
		refused("no table", segment.ErrUnknownTag, segmentsql.NewLeafAlloc(l.DB, segmentsql.Config{Table: "nosuch"}), "invoices")
		sequence := segmentsql.NewSequence(l.DB, segmentsql.Config{Table: l.Another(t).Table})
		refused("sequence", segment.ErrUnusable, sequence, "invoices")
		refused("no database", segment.ErrUnusable, segmentsql.NewLeafAlloc(nil, segmentsql.Config{}), "invoices")
		if err := sequence.CreateGapless(t.Context(), "invoices", 1); !errors.Is(err, segment.ErrUnusable) {
			t.Errorf("CreateGapless() = %v in SEQUENCE, want ErrUnusable", err)
		}
		if err := l.counters.CreateGapless(t.Context(), "invoices", 1); !errors.Is(err, segment.ErrTagExists) {
			t.Errorf("CreateGapless() = %v again, want ErrTagExists", err)
		}
		for name, db := range map[string]*gorm.DB{"nil": nil, "no transaction": l.DB, "dry run": l.DB.Session(&gorm.Session{DryRun: true})} {
			if number, err := l.counters.NextGapless(db, "invoices"); !errors.Is(err, segment.ErrUnusable) {
				t.Errorf("%s: NextGapless() = %d, %v, want ErrUnusable", name, number, err)
			}
		}
		other := dbtest.New(t, map[string]string{"sqlite": "mysql", "mysql": "postgres", "postgres": "sqlite"}[s.Kind])
		_ = other.DB.Transaction(func(tx *gorm.DB) error {
			_, err := l.counters.NextGapless(tx, "invoices")
			if !errors.Is(err, segment.ErrUnusable) || !strings.Contains(err.Error(), "it is of "+other.Kind+", want "+s.Kind) {
				t.Errorf("NextGapless() = %v, want ErrUnusable with both kinds", err)
			}
			return err
		})
		if number, err := l.counters.NextGaplessTx(t.Context(), nil, "invoices"); !errors.Is(err, segment.ErrUnusable) {
			t.Errorf("NextGaplessTx() = %d, %v without a transaction, want ErrUnusable", number, err)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		_ = l.DB.Transaction(func(tx *gorm.DB) error {
			_, err1 := l.counters.NextGapless(tx.WithContext(ended), "invoices")
			_, err2 := l.counters.NextGaplessTx(ended, tx.Statement.ConnPool.(*sql.Tx), "invoices")
			if !errors.Is(err1, context.Canceled) || !errors.Is(err2, context.Canceled) {
				t.Errorf("NextGapless() = %v and %v with a context that has ended, want Canceled", err1, err2)
			}
			return errRolledBack
		})
		l.want(t, 0)
		l.Exec(t, "UPDATE %s SET max_id = -5 WHERE biz_tag = 'invoices'", l.Table)
		refused("negative", segment.ErrUnusable, l.counters, "invoices")
		l.Exec(t, "UPDATE %s SET max_id = 9223372036854775807 WHERE biz_tag = 'invoices'", l.Table)
		refused("used up", segment.ErrUsedUp, l.counters, "invoices")
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
			_ = s.DB.Transaction(func(tx *gorm.DB) error {
				number, err := store.NextGapless(tx, "invoices")
				if !errors.Is(err, segment.ErrUnusable) || !strings.Contains(err.Error(), name) {
					t.Errorf("NextGapless() = %d, %v, want what to do", number, err)
				}
				return err
			})
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
	draw := func() (n int64, err error) {
		err = s.DB.Transaction(func(tx *gorm.DB) error { n, err = store.NextGapless(tx, "invoices"); return err })
		return n, err
	}
	if _, err := draw(); err == nil || errors.Is(err, segment.ErrUnusable) {
		t.Errorf("NextGapless() = %v on a server that is read-only, want what the server says", err)
	}
	if session() == before {
		t.Error("the connection is still open")
	}
	if n, err := draw(); n != 1 || err != nil {
		t.Errorf("NextGapless() = %d, %v on a new connection, want 1", n, err)
	}
}
