package worker_test

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// quickly has a Leaser look at its row often.
var quickly = lease.Config{Expiry: 100 * time.Millisecond}

// An outage is how a database can be unavailable.
type outage struct {
	kinds []string
	begin func(t *testing.T, s *store) (db *gorm.DB, begin func() (end func()))
	cause error
}

var outages = map[string]outage{
	"hangs": {dbtest.Kinds, func(t *testing.T, s *store) (*gorm.DB, func() func()) {
		db, pool := s.Pooled(t)
		return db, func() func() {
			pool.Hang()
			return pool.Heal
		}
	}, context.DeadlineExceeded},
	"locked": {servers, func(t *testing.T, s *store) (*gorm.DB, func() func()) {
		return s.DB, func() func() {
			lock, tx := "LOCK TABLES "+s.Table+" WRITE", begin(t, s.DB)
			if s.Kind == "postgres" {
				lock = "LOCK TABLE " + s.Table + " IN ACCESS EXCLUSIVE MODE"
			}
			need.Must(t, tx.Exec(lock).Error)
			return func() {
				_ = tx.Exec("UNLOCK TABLES").Error // of MySQL
				tx.Rollback()
			}
		}
	}, context.DeadlineExceeded},
	"network cut": {servers, func(t *testing.T, s *store) (*gorm.DB, func() func()) {
		url, link := s.Linked(t)
		return s.Open(t, url), func() func() {
			link.Cut()
			return func() { servertest.Eventually(t, "the address is free", func() bool { return link.Mend() == nil }) }
		}
	}, syscall.ECONNREFUSED},
	"renamed": {dbtest.Kinds, func(t *testing.T, s *store) (*gorm.DB, func() func()) {
		return s.DB, func() func() {
			s.Exec(t, "ALTER TABLE %s RENAME TO %[1]s_old", s.Table)
			return func() { s.Exec(t, "ALTER TABLE %s_old RENAME TO %[1]s", s.Table) }
		}
	}, worker.ErrNoTable},
}

// Ids go on while the database is unavailable, and the number is kept.
func TestOutage(t *testing.T) {
	need.Time(t)
	for name, o := range outages {
		t.Run(name, func(t *testing.T) {
			on(t, o.kinds, leasers, func(t *testing.T, s *store) {
				db, begin := o.begin(t, s)
				gen, err := uid.NewCached(t.Context(), s.leaser(db, quickly, quiet), uid.CachedConfig{Logger: silent})
				need.Must(t, err)
				t.Cleanup(func() { gen.Close() })
				end := begin()
				servertest.Eventually(t, "the outage is told", func() bool {
					_, err := gen.Next()
					need.Must(t, err)
					return errors.Is(gen.Stats().Clock.LeaseError, o.cause)
				})
				_, err = gen.Next()
				need.Must(t, err)
				end()
				servertest.Eventually(t, "it is renewed", func() bool { return gen.Stats().Clock.LeaseError == nil })
				if stats := gen.Stats(); stats.Clock.WorkerChanges != 0 || stats.Clock.Worker != first {
					t.Errorf("%+v", stats)
				}
			})
		})
	}
}
