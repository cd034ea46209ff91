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
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
)

// errUnavailable is what a database says that is not there.
var errUnavailable = errors.New("the database is unavailable")

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
		return s.DB, func() func() { return s.lock(t) }
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
				gen := cached(t, s.leaser(db, quickly, quiet))
				var all ids
				end := begin()
				servertest.Eventually(t, "the outage is told", func() bool {
					if _, err := all.draw(t, gen, 1); err != nil {
						t.Fatal(err)
					}
					return errors.Is(gen.Stats().Clock.LeaseError, o.cause)
				})
				if _, err := all.draw(t, gen, 100); err != nil {
					t.Error(err)
				}
				end()
				servertest.Eventually(t, "it is renewed", func() bool { return gen.Stats().Clock.LeaseError == nil })
				if stats := gen.Stats(); stats.Clock.WorkerChanges != 0 || stats.Clock.Worker != first {
					t.Errorf("%+v", stats)
				}
			})
		})
	}
}

// Transactions that take longer than the time between two renewals keep nobody from
// renewing.
func TestSlow(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		db, pool := s.Pooled(t)
		h := holdertest.Take(t, s.leaser(db, quickly, quiet), max22)
		pool.Slow()
		h.Renew(t)
		h.Renew(t)
		h.Kept(t)
	})
}

// Release ends with its context while another process has locked the SQLite file, though
// SQLite's drivers wait for the lock even then.
func TestReleaseWhileLocked(t *testing.T) {
	need.Time(t)
	on(t, []string{"sqlite"}, leasers, func(t *testing.T, s *store) {
		db, pool := s.Waiting(t, 10*time.Minute).Pooled(t)
		h := holdertest.Take(t, s.on(db, quickly, quiet), max22)
		unlock := s.lock(t)
		waiting := make(chan struct{}, 1000)
		pool.Set(dbtest.Faults{Statement: func(context.Context, string) error { waiting <- struct{}{}; return nil }})
		<-waiting // a renewal or a check
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		released := make(chan error, 1)
		go func() { released <- h.Release(ctx, time.Now()) }()
		select {
		case err := <-released:
			if err == nil {
				t.Error("Release: no error")
			}
		case <-time.After(time.Minute):
			t.Error("Release waits for the lock")
		}
		unlock()
		servertest.Eventually(t, "the client has returned", func() bool { return pool.Stats().InUse == 0 })
	})
}

// A holder whose row is another's, gone or restored drops its number, leaves the row alone
// and takes another number. One whose reservation was lowered by hand raises it again.
func TestRowTampered(t *testing.T) {
	for name, tt := range map[string]struct {
		statement     string
		lost, rewound bool
	}{
		"taken over": {"UPDATE %s SET token = 'another', heartbeat_at = heartbeat_at + 3600000, reserved_until = reserved_until + 3600000 WHERE worker_id = %d", true, false},
		"deleted":    {"DELETE FROM %s WHERE worker_id = %d", true, true},
		"restored":   {"UPDATE %s SET token = 'old', heartbeat_at = heartbeat_at + 3600000, reserved_until = 1 WHERE worker_id = %d", true, true},
		"lowered":    {"UPDATE %s SET reserved_until = 1 WHERE worker_id = %d", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, leasers, func(t *testing.T, s *store) {
				h := holdertest.Take(t, s.leaser(s.DB, quickly, quiet), max22)
				number := h.Last().Number
				s.Exec(t, tt.statement, s.Table, number)
				before, _ := s.row(t, number)
				if !tt.lost {
					servertest.Eventually(t, "what is granted is reserved", func() bool {
						granted := h.Last().Until // before the row is read: a read may take longer than a renewal
						r, _ := s.row(t, number)
						return r.Reserved > 1 && r.Reserved >= granted.UnixMilli()
					})
					h.Kept(t)
					return
				}
				if err := h.Loss(t); !errors.Is(err, lease.ErrLost) || errors.Is(err, lease.ErrRewound) != tt.rewound {
					t.Errorf("%v; want ErrLost, and ErrRewound %t", err, tt.rewound)
				}
				// Any other one: an insert that is given up on a busy machine may have used up the next.
				h.Await(t, "there is another number", func(g lease.Grant) bool { return g.Held && g.Number != number && g.Err == nil })
				release(t, h, time.Now())
				if after, _ := s.row(t, number); after != before {
					t.Errorf("the row is %+v, want it left alone as %+v", after, before)
				}
			})
		})
	}
}
