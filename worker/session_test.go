package worker_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
)

// What the app chained to its handle does not leak in.
func TestChainedHandles(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	each(t, tables, func(t *testing.T, s *store) {
		s.create(t)
		want := int64(1)
		for name, chain := range map[string]func(*gorm.DB) *gorm.DB{
			"where": func(db *gorm.DB) *gorm.DB { return db.Where("1 = 0").Limit(0).Order("nothing") },
			"scopes": func(db *gorm.DB) *gorm.DB {
				return db.Scopes(func(db *gorm.DB) *gorm.DB { return db.Where("nothing") })
			},
			"raw":         func(db *gorm.DB) *gorm.DB { return db.Raw("NONSENSE") },
			"ended":       func(db *gorm.DB) *gorm.DB { return db.WithContext(ended) },
			"session":     func(db *gorm.DB) *gorm.DB { return db.Omit("port").Session(&gorm.Session{}) },
			"initialized": func(db *gorm.DB) *gorm.DB { return db.Omit("port").Session(&gorm.Session{Initialized: true}) },
		} {
			db := chain(s.Reopen(t, nil, gorm.Config{}))
			number, err := take(t, context.Background(), s.on(db), max22)
			if number != want || err != nil {
				t.Errorf("%s: %d, %v; want %d", name, number, err, want)
				want = max(want, number)
			}
			want++
		}
		db := s.DB.Session(&gorm.Session{}).Omit("type") // one that goes on to change
		a := s.on(db)
		db.Omit("host_name").Where("1 = 0")
		if got := assign(t, a); got != want {
			t.Errorf("number %d, want %d", got, want)
		}
	})
}

// A plugin that changes what is inserted is caught by the read-back.
func TestRowChangedByPlugin(t *testing.T) {
	each(t, registries, func(t *testing.T, s *store) {
		db := s.Reopen(t, nil, gorm.Config{})
		err := db.Callback().Create().Before("gorm:create").Register("test:change", func(tx *gorm.DB) {
			tx.Statement.SetColumn("HostName", "another")
		})
		need.Must(t, err)
		number, err := s.registry(db).Assign(context.Background(), max22)
		if number != 0 || !errors.Is(err, worker.ErrKey) || strings.Count(err.Error(), "worker: ") != 1 {
			t.Errorf("Assign = %d, %v; want ErrKey, and the package's name once", number, err)
		}
	})
}

// A later start on MySQL prepares one statement, the one that takes its number: a statement that is prepared costs three
// requests.
func TestPreparedStatements(t *testing.T) {
	on(t, []string{"mysql"}, tables, func(t *testing.T, s *store) {
		gen, err := uid.NewCached(t.Context(), s.on(s.DB), uid.CachedConfig{})
		need.Must(t, errors.Join(err, gen.Close()))

		db := s.Open(t, s.URL)
		pool, err := db.DB()
		need.Must(t, err)
		pool.SetMaxOpenConns(1)
		prepared := func() (n int64) {
			t.Helper()
			var name string
			need.Must(t, pool.QueryRow("SHOW SESSION STATUS LIKE 'Com_stmt_prepare'").Scan(&name, &n))
			return n
		}
		before := prepared()
		gen, err = uid.NewCached(t.Context(), s.on(db), uid.CachedConfig{})
		need.Must(t, err)
		if n := prepared() - before; n != 1 {
			t.Errorf("%d statements were prepared, want 1", n)
		}
		need.Must(t, gen.Close())
	})
}

// A renewal is one statement, which MySQL's driver need not prepare.
func TestRenewalIsOneStatement(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		s.create(t)
		db, pool := s.Pooled(t)
		h := holdertest.Take(t, s.leaser(db, quiet, lease.Config{Expiry: time.Hour, Window: time.Hour}), max22)
		h.Renew(t)
		var sent atomic.Int64
		pool.Set(dbtest.Faults{Statement: func(_ context.Context, query string) error {
			if sent.Add(1); !strings.HasPrefix(query, "UPDATE ") || s.Kind == "mysql" && strings.Contains(query, "?") {
				t.Errorf("a renewal sends %s", query)
			}
			return nil
		}})
		for range 3 {
			h.Renew(t)
		}
		if pool.Heal(); sent.Load() != 3 {
			t.Errorf("3 renewals send %d statements", sent.Load())
		}
	})
}
