package segmentsql_test

import (
	"context"
	"errors"
	"log"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
)

// Without the table, List returns ErrUnknownTag: the database is not down. A start that makes the
// table prints nothing, although the table is missing at first.
func TestSilentStart(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, s *dbtest.Store) {
		var out logged.Text
		db := s.Reopen(t, nil, gorm.Config{Logger: logger.New(log.New(&out, "", 0), logger.Config{LogLevel: logger.Error})})
		store := segmentsql.NewLeafAlloc(db, segmentsql.Config{Table: s.Table})
		_, err := store.List(t.Context())
		wantErr(t, err, segment.ErrUnknownTag)
		must(t, open(t, store, "orders", segment.Config{Create: true}).Close())
		if out.String() != "" {
			t.Errorf("printed %s", &out)
		}
	})
}

// A transaction that holds the only connection cannot get an id. The error says why.
func TestPoolIsFull(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, s *dbtest.Store) {
		store := created(t, s)
		pool, err := s.DB.DB()
		must(t, err)
		pool.SetMaxOpenConns(1)
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		err = s.DB.Transaction(func(*gorm.DB) error {
			_, _, err := store.Reserve(ctx, "orders", 1)
			return err
		})
		wantErr(t, err, context.DeadlineExceeded, "the connection pool is exhausted, 1 of 1 are in use")
		reserves(t, store, "orders", 1, 1)
	})
}

// Where a collation takes two tags for one, they share a counter, and the store says so.
func TestEqualTags(t *testing.T) {
	s := dbtest.New(t, "mysql")
	s.Exec(t, leafTable+" DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", s.Table)
	var out logged.Text
	store := segmentsql.NewLeafAlloc(s.DB, segmentsql.Config{Table: s.Table, Logger: out.Logger()})
	must(t, store.Create(t.Context(), "orders", 1, 10))
	for i, tag := range []string{"orders", "Orders", "órders", "Orders", "órders"} {
		reserves(t, store, tag, 10, int64(1+10*i))
	}
	for _, tag := range []string{"Orders", "órders"} {
		wantErr(t, store.Create(t.Context(), tag, 1, 10), segment.ErrTagExists)
		if out.Count("level=WARN", "share one counter", "tag="+tag, "row=orders") != 1 {
			t.Errorf("logged %s, want one warning about %s", &out, tag)
		}
	}
	if out.Count("level=WARN") != 2 {
		t.Errorf("logged %s", &out)
	}
}

// A tag is refused that the column's character set cannot have, or that the server would read as another since the DSN has
// another character set than UTF-8. What the error says helps.
func TestTagsInOtherScripts(t *testing.T) {
	for _, c := range []struct {
		kind, option, table string
		has                 string // a tag that it can have
		tags                []string
	}{
		{"mysql", "", leafTable + " DEFAULT CHARACTER SET latin1", "größen", []string{"订单", "заказы", "orders📦"}},
		{"mysql", "charset=latin1", leafTable, "orders", []string{"größen", "订单📦"}},
		{"mysql", "charset=utf8", leafTable, "größen", []string{"订单📦"}},
		{"mysql", "charset=utf8mb3", leafTable, "größen", []string{"订单📦"}},
		{"postgres", "client_encoding=LATIN1", "", "orders", []string{"größen", "订单📦"}},
	} {
		for _, tag := range c.tags {
			s := dbtest.New(t, c.kind)
			if c.table != "" {
				s.Exec(t, c.table, s.Table)
			}
			url, want := s.Plain(), "ALTER TABLE"
			if c.option != "" {
				url, want = s.With(c.option), "in the DSN"
			}
			store := segmentsql.NewLeafAlloc(s.Open(t, url), segmentsql.Config{Table: s.Table})
			must(t, store.Create(t.Context(), c.has, 1, 10))
			_, started := segment.New(t.Context(), store, tag, segment.Config{})
			for _, err := range []error{started, store.Create(t.Context(), tag, 1, 10)} {
				if !errors.Is(err, segment.ErrUnusable) || errors.Is(err, uid.ErrUnavailable) || !strings.Contains(err.Error(), want) {
					t.Fatalf("%s, %s: %v, want ErrUnusable and what to do", c.option, tag, err)
				}
			}
			if c.option == "" {
				s.Exec(t, "ALTER TABLE %s CONVERT TO CHARACTER SET utf8mb4", s.Table)
			} else {
				_, advice, _ := strings.Cut(started.Error(), "want ")
				advice, _, _ = strings.Cut(advice, " ")
				store = segmentsql.NewLeafAlloc(s.Open(t, s.With(advice)), segmentsql.Config{Table: s.Table})
			}
			must(t, store.Create(t.Context(), tag, 1, 10))
			reserves(t, store, tag, 5, 1)
		}
	}
}

// A tag in other letters than ASCII's is asked about once.
func TestTagIsAskedAboutOnce(t *testing.T) {
	for _, kind := range []string{"mysql", "postgres"} {
		s := dbtest.New(t, kind)
		must(t, leafAlloc(s).Create(t.Context(), "订单", 1, 10))
		db, pool := s.Pooled(t)
		store, asked := segmentsql.NewLeafAlloc(db, segmentsql.Config{Table: s.Table}), 0
		pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
			if strings.Contains(query, "HEX(CONVERT(") || strings.Contains(query, "ENCODE(CONVERT_TO(") {
				asked++
			}
			return nil
		}})
		for i := range int64(3) {
			reserves(t, store, "订单", 10, 1+10*i)
		}
		if asked != 1 {
			t.Errorf("%s: asked %d times how the server reads the tag, want once", kind, asked)
		}
	}
}

// The spaces with which a CHAR is padded make no other tag.
func TestPaddedTag(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, s *dbtest.Store) {
		url, char := s.Plain(), "CHAR(32)"
		if s.Kind == "mysql" { // which otherwise leaves out the spaces, as PostgreSQL does
			url, char = s.With("sql_mode='PAD_CHAR_TO_FULL_LENGTH'"), "CHAR(32) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
		}
		s.Exec(t, "CREATE TABLE %s (biz_tag %s PRIMARY KEY, max_id BIGINT NOT NULL, step INT NOT NULL, update_time TIMESTAMP)", s.Table, char)
		var out logged.Text
		store := segmentsql.NewLeafAlloc(s.Open(t, url), segmentsql.Config{Table: s.Table, Logger: out.Logger()})
		must(t, store.Create(t.Context(), "orders", 1, 10))
		if reserves(t, store, "orders", 10, 1); out.Count("level=WARN") > 0 {
			t.Errorf("logged %s", &out)
		}
	})
}

// A look at the settings that fails is made again with the next range.
func TestFlushIsAskedAgain(t *testing.T) {
	s := dbtest.New(t, "sqlite")
	created(t, s)
	db, pool := s.Pooled(t)
	var out logged.Text
	store, failed := segmentsql.NewLeafAlloc(db, segmentsql.Config{Table: s.Table, Logger: out.Logger()}), false
	pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
		if !failed && strings.Contains(query, "pragma_synchronous") {
			failed = true
			return errors.New("database is locked")
		}
		return nil
	}})
	for want := range 3 {
		if _, _, err := store.Reserve(t.Context(), "orders", 10); err != nil || out.Count("setting=synchronous") != min(want, 1) {
			t.Errorf("Reserve() = %v; logged %s, want %d warnings", err, &out, min(want, 1))
		}
	}
}
