//go:build linux

// Package edges uses the library as services do, at the edges of what databases allow.
package edges

import (
	"database/sql"
	"errors"
	"log/slog"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

var quiet = slog.New(slog.DiscardHandler)

// A failover leaves every pool with idle connections to a server that refuses writes. Leases are
// renewed and given back all the same, and counters count on.
func TestFailover(t *testing.T) {
	need.CI(t)
	for _, kind := range []string{"mysql", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := dbtest.NewFailover(t, kind, func(db *gorm.DB) error {
				store := segmentsql.NewLeafAlloc(db, segmentsql.Config{Logger: quiet})
				need.Must(t, store.Create(t.Context(), "orders", 1, 1))
				need.Must(t, store.CreateGapless(t.Context(), "invoices", 1))
				return worker.NewStore(db, worker.StoreConfig{}).EnsureSchema(t.Context())
			})
			counters := func() (*gorm.DB, *segmentsql.Store) {
				db := warm(t, f)
				return db, segmentsql.NewLeafAlloc(db, segmentsql.Config{Logger: quiet})
			}
			renewed, resting := cached(t, f, 400*time.Millisecond), cached(t, f, time.Hour)
			_, orders := counters()
			gen, err := segment.New(t.Context(), orders, "orders", segment.Config{MaxStep: 1, Logger: quiet})
			need.Must(t, err)
			db, invoices := counters()
			draw := func() (number int64, err error) {
				err = db.Transaction(func(tx *gorm.DB) (err error) {
					number, err = invoices.NextGapless(tx, "invoices")
					return err
				})
				return number, err
			}
			if n, err := draw(); n != 1 || err != nil {
				t.Fatal(n, err)
			}

			f.Demote(t, "WORKER_NODE", "WORKER_LEASE", "leaf_alloc")
			var last uid.ID
			servertest.Eventually(t, "everything fails", func() bool {
				id, err := gen.Next()
				last = max(last, id)
				return err != nil && renewed.Stats().Clock.LeaseError != nil
			})
			f.Promote()
			if _, err := draw(); err == nil {
				t.Error("a connection to the demoted server counts")
			}
			if n, err := draw(); n != 2 || err != nil {
				t.Errorf("the second transaction after the failover: %d, %v; want 2", n, err)
			}
			servertest.Eventually(t, "everything works", func() bool {
				id, err := gen.Next()
				if err == nil && id <= last {
					t.Fatalf("id %d after %d", id, last)
				}
				return err == nil && renewed.Stats().Clock.LeaseError == nil
			})
			if s := renewed.Stats(); s.Clock.WorkerChanges != 0 {
				t.Errorf("another number was taken: %+v", s.Clock)
			}
			need.Must(t, errors.Join(renewed.Close(), resting.Close(), gen.Close()))
		})
	}
}

// cached starts a generator as a service does.
func cached(t *testing.T, f *dbtest.Failover, expiry time.Duration) *uid.Cached {
	t.Helper()
	return running(t, worker.NewLeaser(warm(t, f), lease.Config{Expiry: expiry, Window: 2 * time.Hour, Logger: quiet}))
}

// running starts a generator, which runs to the end of the test at most.
func running(t *testing.T, source uid.WorkerSource) *uid.Cached {
	t.Helper()
	gen, err := uid.NewCached(t.Context(), source, uid.CachedConfig{Logger: quiet})
	need.Must(t, err)
	t.Cleanup(func() { _ = gen.Close() })
	return gen
}

// warm returns a handle that has idle connections.
func warm(t *testing.T, f *dbtest.Failover) *gorm.DB {
	t.Helper()
	db := f.Open(t, f.URL)
	pool, err := db.DB()
	need.Must(t, err)
	pool.SetMaxIdleConns(4)
	var used [4]*sql.Conn
	for i := range used {
		used[i], err = pool.Conn(t.Context())
		need.Must(t, err)
	}
	for _, conn := range used {
		need.Must(t, conn.Close())
	}
	return db
}
