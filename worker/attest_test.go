package worker_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
)

// A row that is gone or not what its start wrote is answered as was asked for. A
// database that is unavailable is no evidence.
func TestAttest(t *testing.T) {
	for _, tt := range []struct {
		tamper string
		then   worker.Response
	}{
		{"deleted", worker.ResponseLogOnly},
		{"deleted", worker.ResponseReregister},
		{"deleted", worker.ResponseStopIssuing},
		{"another", worker.ResponseStopIssuing},
		{"restored", worker.ResponseStopIssuing},
	} {
		t.Run(fmt.Sprint(tt.tamper, tt.then), func(t *testing.T) {
			each(t, registries, func(t *testing.T, s *store) {
				var out logged.Text
				db, pool := s.Pooled(t)
				gen := cached(t, worker.Attest(s.registry(db, logTo(out.Logger())), time.Second, tt.then))
				number := gen.Worker()
				before, err := gen.Next()
				need.Must(t, err)
				issues := func(wantNumber, wantChanges int64) {
					t.Helper()
					id, err := gen.Next()
					if stats := gen.Stats(); err != nil || id <= before || stats.Clock.LeaseError != nil ||
						stats.Clock.Worker != wantNumber || stats.Clock.WorkerChanges != wantChanges {
						t.Errorf("id %d after %d, %v, %+v; want one of number %d", id, before, err, stats, wantNumber)
					}
					before = id
				}
				var looks atomic.Int64
				pool.Set(dbtest.Faults{Statement: func(context.Context, string) error {
					looks.Add(1)
					return errUnavailable
				}})
				servertest.Eventually(t, "the row cannot be looked at", func() bool { return looks.Load() > 2 })
				if n := out.Count("level=WARN", "cannot read", errUnavailable.Error(), "table="+s.Table); n != 1 {
					t.Errorf("logged %d times that the row cannot be looked at, want once", n)
				}
				issues(number, 0)

				pool.Heal()
				s.Exec(t, map[string]string{
					"deleted":  "DELETE FROM %s WHERE id = %d",
					"another":  "UPDATE %s SET port = '1' WHERE id = %d",
					"restored": "UPDATE %s SET created = " + earlier[s.Kind] + " WHERE id = %d", // as another start wrote it
				}[tt.tamper], s.Table, number)
				servertest.Eventually(t, "it is logged", func() bool { return out.Count("level=ERROR", "number=1 ", lease.ErrRewound.Error()) > 0 })
				switch tt.then {
				case worker.ResponseLogOnly:
					time.Sleep(1500 * time.Millisecond) // another look
					issues(number, 0)
				case worker.ResponseReregister:
					servertest.Eventually(t, "another number is in use", func() bool {
						return gen.Stats().Clock.WorkerChanges == 1 && out.Count("level=INFO", "registered anew") > 0
					})
					numbers := s.numbers(t)
					issues(numbers[len(numbers)-1], 1)
					if n := out.Count("level=INFO", "registered anew"); n != 1 || slices.Contains(numbers, number) {
						t.Errorf("logged %d registrations, and the table has %v", n, numbers)
					}
				case worker.ResponseStopIssuing:
					servertest.Eventually(t, "ids stop", func() bool {
						return errors.Is(gen.Stats().Clock.LeaseError, lease.ErrRewound) && gen.Stats().Remaining == 0
					})
					if id, err := gen.Next(); !errors.Is(err, uid.ErrReservation) || !errors.Is(err, lease.ErrRewound) {
						t.Errorf("Next = %d, %v; want ErrRewound", id, err)
					}
				}
				if err := gen.Close(); err != nil || out.Count("level=ERROR") != 1 {
					t.Errorf("%v; logged %s", err, &out)
				}
			})
		})
	}
}

// earlier is an hour before a row was created.
var earlier = map[string]string{
	"mysql":    "created - INTERVAL 1 HOUR",
	"postgres": "created - INTERVAL '1 hour'",
	"sqlite":   "DATETIME(created, '-1 hour')",
}

// Registering anew is tried for as long as the database is unavailable, and not again once
// the numbers are used up.
func TestAttestCannotRegister(t *testing.T) {
	for name, limit := range map[string]int64{"unavailable": 2, "exhausted": 1} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newSQLite(t)
				db, pool := s.Pooled(t)
				h := holding.Take(t, worker.Attest(s.registry(db, quiet), time.Second, worker.ResponseReregister), limit)
				s.Exec(t, "DELETE FROM %s", s.Table)
				time.Sleep(1500 * time.Millisecond)
				if g := h.Last(); g.Held || !errors.Is(g.Err, lease.ErrRewound) {
					t.Errorf("%v; want ErrRewound", g)
				}
				if name == "exhausted" {
					time.Sleep(24 * time.Hour)
					if g := h.Last(); g.Held || !errors.Is(g.Err, lease.ErrExhausted) || len(h.History()) != 3 {
						t.Errorf("%v; want ErrExhausted, once", h.History())
					}
					return
				}
				pool.Cut(errUnavailable)
				time.Sleep(24 * time.Hour)
				if g := h.Last(); g.Held || !errors.Is(g.Err, errUnavailable) {
					t.Errorf("%v; want that the database is unavailable", g)
				}
				pool.Heal()
				time.Sleep(2 * time.Minute)
				if g := h.Last(); !g.Held || g.Number != 2 || g.Err != nil {
					t.Errorf("%v; want number 2", g)
				}
			})
		})
	}
}

// Release returns when its context ends, even while Granted blocks.
func TestAttestReleasedMeanwhile(t *testing.T) {
	s := newSQLite(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	held, err := worker.Attest(s.registry(s.DB), time.Second, worker.ResponseStopIssuing).Lease(t.Context(), lease.Request{
		Limit: max22, Clock: time.Now, Granted: func(g lease.Grant) {
			if g == (lease.Grant{Held: true, Number: 1, Fresh: true}) {
				return
			}
			close(entered)
			<-leave
		},
	})
	need.Must(t, err)
	need.Must(t, s.DB.Exec("DELETE FROM "+s.Table).Error)
	<-entered
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	need.Must(t, held.Release(ended, time.Now()))
	close(leave)
	if err := held.Release(context.Background(), time.Now()); err != nil { // waits until it is over
		t.Error(err)
	}
}
