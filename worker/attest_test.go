package worker_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
)

// tampers are what can become of a row while its number is in use.
func (s *store) tampers() map[string]string {
	earlier := map[string]string{
		"mysql":    "created - INTERVAL 1 HOUR",
		"postgres": "created - INTERVAL '1 hour'",
		"sqlite":   "DATETIME(created, '-1 hour')",
	}[s.Kind]
	return map[string]string{
		"deleted":  "DELETE FROM %s WHERE id = %d",
		"another":  "UPDATE %s SET port = '1' WHERE id = %d",
		"restored": "UPDATE %s SET created = " + earlier + " WHERE id = %d", // as another start wrote it
	}
}

// attestation is a generator whose row is looked at.
type attestation struct {
	*uid.Cached
	then   worker.Response
	tamper string
	number int64
	ids    ids
	last   uid.ID
}

// A row that is gone or not what its start wrote is answered as was asked for. A
// database that is unavailable is no evidence.
func TestAttest(t *testing.T) {
	each(t, []assigner{attested}, func(t *testing.T, s *store) {
		var out logged.Text
		db, pool := s.Pooled(t)
		r := s.registry(db, logTo(out.Logger()))
		var gens []*attestation
		for _, tamper := range s.tampers() {
			for _, then := range []worker.Response{worker.ResponseLogOnly, worker.ResponseStopIssuing, worker.ResponseReregister} {
				gen := cached(t, worker.Attest(r, time.Second, then))
				gens = append(gens, &attestation{Cached: gen, then: then, tamper: tamper, number: gen.Worker()})
			}
		}
		var looks atomic.Int64
		pool.Set(dbtest.Faults{Statement: func(context.Context, string) error {
			looks.Add(1)
			return errUnavailable
		}})
		warnings := func() int {
			return out.Count("level=WARN", "cannot read", errUnavailable.Error(), "table="+s.Table)
		}
		servertest.Eventually(t, "it is logged that rows cannot be looked at", func() bool { return warnings() >= len(gens) })
		servertest.Eventually(t, "all look again", func() bool { return looks.Load() > 3*int64(len(gens)) })
		if n := warnings(); n != len(gens) {
			t.Errorf("logged %d times that a row cannot be looked at, want once for each of %d", n, len(gens))
		}
		for _, g := range gens {
			g.issue(t)
			if stats := g.Stats(); stats.Clock.LeaseError != nil || stats.Clock.WorkerChanges != 0 {
				t.Errorf("%+v", stats)
			}
		}
		pool.Heal()
		for _, g := range gens {
			s.Exec(t, g.tamper, s.Table, g.number)
		}
		for _, g := range gens {
			number := "number=" + strconv.FormatInt(g.number, 10)
			servertest.Eventually(t, "it is logged", func() bool { return out.Count("level=ERROR", number+" ", lease.ErrRewound.Error()) > 0 })
			switch g.then {
			case worker.ResponseLogOnly:
				g.issue(t)
			case worker.ResponseStopIssuing:
				g.refused(t)
			case worker.ResponseReregister:
				g.renumbered(t, s)
			}
		}
		// More than an interval later: the others have waited for one.
		for _, g := range gens {
			number := "number=" + strconv.FormatInt(g.number, 10)
			if n := out.Count("level=ERROR", number+" "); n != 1 {
				t.Errorf("number %d: logged %d times, want once", g.number, n)
			}
			switch g.then {
			case worker.ResponseLogOnly:
				g.issue(t)
				if stats := g.Stats(); stats.Clock.LeaseError != nil || stats.Clock.WorkerChanges != 0 || stats.Clock.Worker != g.number {
					t.Errorf("%+v", stats)
				}
			case worker.ResponseStopIssuing:
				g.refused(t)
			}
			if err := g.Close(); err != nil {
				t.Error(err)
			}
		}
		if n := out.Count("level=INFO", "registered anew"); n != len(gens)/3 {
			t.Errorf("logged %d registrations, want %d", n, len(gens)/3)
		}
	})
}

// issue takes some ids, which must ascend.
func (g *attestation) issue(t *testing.T) {
	t.Helper()
	last, err := g.ids.draw(t, g.Cached, 2)
	if err != nil || last <= g.last {
		t.Errorf("number %d: id %d after %d, %v", g.number, last, g.last, err)
	}
	g.last = last
}

// refused waits until no id is issued any more, and those in the ring are dropped.
func (g *attestation) refused(t *testing.T) {
	t.Helper()
	servertest.Eventually(t, "ids stop", func() bool {
		return errors.Is(g.Stats().Clock.LeaseError, lease.ErrRewound) && g.Stats().Remaining == 0
	})
	if id, err := g.Next(); !errors.Is(err, uid.ErrReservation) || !errors.Is(err, lease.ErrRewound) {
		t.Errorf("number %d: Next = %d, %v; want ErrRewound", g.number, id, err)
	}
}

// renumbered waits until ids go on under another number.
func (g *attestation) renumbered(t *testing.T, s *store) {
	t.Helper()
	servertest.Eventually(t, "another number is in use", func() bool { return g.Stats().Clock.WorkerChanges == 1 })
	g.issue(t)
	if stats := g.Stats(); stats.Clock.Worker == g.number || stats.Clock.LeaseError != nil {
		t.Errorf("%+v; want another number than %d", stats, g.number)
	}
	for _, number := range s.numbers(t) {
		if number == g.Worker() {
			return
		}
	}
	t.Errorf("number %d has no row", g.Worker())
}

// Registering anew fails as a start does, and is tried again but for the one fault
// that does not pass.
func TestAttestCannotRegister(t *testing.T) {
	t.Parallel()
	for name, full := range map[string]bool{"unavailable": false, "exhausted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSQLite(t)
			db, pool := s.Pooled(t)
			a := worker.Attest(s.registry(db, quiet), time.Second, worker.ResponseReregister)
			limit := int64(2)
			if full {
				limit = 1
			}
			h := holding.Take(t, a, limit)
			s.Exec(t, "DELETE FROM %s", s.Table)
			h.Await(t, "it is noticed", func(g lease.Grant) bool { return !g.Held && errors.Is(g.Err, lease.ErrRewound) })
			if full {
				exhausted := func(g lease.Grant) bool { return !g.Held && errors.Is(g.Err, lease.ErrExhausted) }
				h.Await(t, "there is no number left", exhausted)
				time.Sleep(1500 * time.Millisecond) // another attempt would come within a second
				if last, before := h.Last(), h.History()[len(h.History())-2]; !exhausted(last) || exhausted(before) {
					t.Errorf("%v after %v; want that to be told once", last, before)
				}
				return
			}
			pool.Cut(errUnavailable)
			h.Await(t, "the database is unavailable", func(g lease.Grant) bool { return !g.Held && errors.Is(g.Err, errUnavailable) })
			pool.Heal()
			h.Await(t, "there is another number", func(g lease.Grant) bool { return g.Held && g.Number == 2 && g.Err == nil })
		})
	}
}

// Registering anew is tried for as long as the database is unavailable.
func TestAttestLongUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSQLite(t)
		db, pool := s.Pooled(t)
		a := worker.Attest(s.registry(db, quiet), time.Second, worker.ResponseReregister)
		h := holding.Take(t, a, 2)
		s.Exec(t, "DELETE FROM %s", s.Table)
		time.Sleep(1500 * time.Millisecond)
		pool.Cut(errUnavailable)
		time.Sleep(24 * time.Hour)
		pool.Heal()
		time.Sleep(2 * time.Minute)
		if g := h.Last(); !g.Held || g.Number != 2 || g.Err != nil {
			t.Errorf("%v; want number 2", g)
		}
	})
}

// Looking ends with the number's release.
func TestAttestReleased(t *testing.T) {
	s := newSQLite(t)
	h := holding.Take(t, worker.Attest(s.registry(s.DB), time.Second, worker.ResponseLogOnly), max22)
	if g := h.Last(); g.Number != 1 || !g.From.IsZero() || !g.Until.IsZero() || g.Err != nil {
		t.Errorf("%v; want number 1 without a bound", g)
	}
	h.Use(time.Now(), time.Now().Add(time.Hour))
	if err := h.Release(context.Background(), time.Now()); err != nil {
		t.Error(err)
	}
	wantNumbers(t, s, 1)
}

// Release returns when its context ends, even while Granted blocks.
func TestAttestReleasedMeanwhile(t *testing.T) {
	s := newSQLite(t)
	entered, leave := make(chan struct{}), make(chan struct{})
	held, err := worker.Attest(s.registry(s.DB), time.Second, worker.ResponseStopIssuing).Lease(t.Context(), lease.Request{
		Limit: max22, Clock: time.Now, Granted: func(g lease.Grant) {
			if g.Err != nil {
				close(entered)
				<-leave
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.DB.Exec("DELETE FROM " + s.Table).Error; err != nil {
		t.Fatal(err)
	}
	<-entered
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if err := held.Release(ended, time.Now()); err != nil {
		t.Error(err)
	}
	close(leave)
	if err := held.Release(context.Background(), time.Now()); err != nil { // waits until it is over
		t.Error(err)
	}
}
