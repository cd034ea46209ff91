package worker_test

import (
	"errors"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
)

// The counter goes back below numbers that Leasers have. Starts discard the keys of leases, refuse to go on
// after three of them, name the command, and go on after it, with a number above the one that it names. Nothing
// is lowered by it.
func TestCounterWentBack(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		for want := int64(1); want <= 5; want++ {
			if got := assign(t, s.leaser(s.DB, quiet)); got != want {
				t.Fatalf("number %d, want %d", got, want)
			}
		}
		node := s.as(registry)
		node.Exec(t, "DELETE FROM %s WHERE id > 0", node.Table)
		node.setNext(t, 4)
		if got := assign(t, s.kind(aRegistry, s.DB)); got != 6 {
			t.Errorf("a Registry got number %d, want 6 after two keys of leases", got)
		}
		for _, kind := range []string{aLeaser, aRegistry} {
			node.Exec(t, "DELETE FROM %s WHERE id > 0", node.Table)
			node.setNext(t, 1)
			_, err := try(t, s.kind(kind, s.DB), max22)
			need.Error(t, err, worker.ErrKey, "were drawn before", "uidring workers raise", "5 or more", node.Table)
		}
		leases := s.leaser(s.DB, quiet)
		for _, number := range []int64{20, 10, 20} {
			need.Must(t, leases.Raise(t.Context(), number))
		}
		last := int64(20)
		for _, kind := range []string{aRegistry, aLeaser, aForeign} {
			got := assign(t, s.kind(kind, s.DB))
			if got <= last || got > last+3 { // PostgreSQL's counter goes on with each call
				t.Errorf("number %d, want one above %d", got, last)
			}
			last = got
			need.Must(t, leases.Raise(t.Context(), 22))
		}
		need.Error(t, leases.Raise(t.Context(), 0), nil, "number is 0, want")
	})
}

// After the number of a range is raised, new numbers of the range are above it, and other ranges are as before. A
// Backfill's number is new.
func TestRaiseRange(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		north, south := lease.Config{Numbers: &lease.Range{From: 1, To: 99}}, lease.Config{Numbers: &lease.Range{From: 100, To: 199}}
		assign(t, s.leaser(s.DB, north))
		assign(t, s.leaser(s.DB, south))
		for _, number := range []int64{150, 140, 150, 100} {
			need.Must(t, s.leaser(s.DB).Raise(t.Context(), number))
		}
		b, err := uid.NewBackfill(t.Context(), s.leaser(s.DB, south), uid.BackfillConfig{})
		need.Must(t, errors.Join(err, b.Close()))
		if n := b.Worker(); n != 151 {
			t.Errorf("number %d, want 151", n)
		}
		if got := assign(t, s.leaser(s.DB, north)); got != 2 {
			t.Errorf("number %d, want 2", got)
		}
	})
}

// A free number whose key another program drew, after the counter went back, is not taken.
func TestFreeNumberDrawnElsewhere(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		h := holdertest.Take(t, s.leaser(s.DB, quiet), max22)
		release(t, h, time.Now().Add(-time.Hour))
		node := s.as(registry)
		node.Exec(t, "DELETE FROM %s WHERE id > 0", node.Table)
		node.setNext(t, 1)
		if got := s.draw(t); got != h.Last().Number {
			t.Fatalf("another program drew %d, want %d", got, h.Last().Number)
		}
		if got := assign(t, s.leaser(s.DB, quiet)); got != 2 {
			t.Errorf("number %d, want 2", got)
		}
		// Nor if it is drawn after the look that found the number free.
		h = holdertest.Take(t, s.leaser(s.DB, quiet), max22)
		release(t, h, time.Now().Add(-time.Hour))
		node.Exec(t, "DELETE FROM %s WHERE id = %d", node.Table, h.Last().Number)
		db := s.before(t, func() { node.setNext(t, h.Last().Number); s.draw(t) }, "UPDATE", "SET token")
		if got := assign(t, s.leaser(db, quiet)); got != h.Last().Number+1 {
			t.Errorf("number %d, want %d", got, h.Last().Number+1)
		}
	})
}
