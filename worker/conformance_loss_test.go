package worker_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
)

// The tests of this file take a number from its holder, who is alive.

// quickly has a Leaser look at its row often.
var quickly = lease.Config{Expiry: 100 * time.Millisecond}

// A generator whose number was freed goes on under another, each id above the
// last, and says so.
func TestFreedUnderGenerator(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		var out logged.Text
		a := s.leaser(s.DB, quickly, logTo(out.Logger()))
		gen := cached(t, a)
		var all ids
		var last uid.ID
		for round := range int64(3) {
			number := gen.Worker()
			if err := a.Free(context.Background(), number, true); err != nil {
				t.Fatal(err)
			}
			servertest.Eventually(t, "the loss is noticed", func() bool {
				id, err := all.draw(t, gen, 1)
				if err != nil && !errors.Is(err, lease.ErrLost) {
					t.Fatal(err)
				}
				if err == nil && id <= last {
					t.Fatalf("id %d after %d", id, last)
				}
				last = max(id, last)
				return gen.Stats().Clock.WorkerChanges == round+1
			})
			id, err := all.draw(t, gen, 100)
			if err != nil || id <= last {
				t.Fatalf("id %d after %d, %v", id, last, err)
			}
			last = id
			parts, _ := gen.Parse(id)
			if stats := gen.Stats(); stats.Clock.Worker == number || parts.Worker != stats.Clock.Worker || stats.Clock.LeaseError != nil {
				t.Errorf("number %d was freed: %+v, id of worker %d", number, stats, parts.Worker)
			}
			if r, _ := s.row(t, number); r.Heartbeat != 0 {
				t.Errorf("number %d was freed, but its row is %+v", number, r)
			}
		}
		servertest.Eventually(t, "the last taking is logged", func() bool { return out.Count("level=INFO", "another number is taken") == 3 })
		if lost := out.Count("level=WARN", "lost", lease.ErrLost.Error(), "store="+s.Table); lost != 3 {
			t.Errorf("logged %d losses, want 3: %s", lost, &out)
		}
		if err := gen.Close(); err != nil {
			t.Error(err)
		}
		wantNumbers(t, s, 0, 1, 2, 3)
	})
}

// Where there is but one number, its holder takes it again, from where it had
// reserved to.
func TestFreedAndTakenAgain(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		a := s.leaser(s.DB, quickly, logTo(new(logged.Text).Logger()))
		h := holding.Take(t, a, 0)
		if err := a.Free(context.Background(), 0, true); err != nil {
			t.Fatal(err)
		}
		lost := h.Await(t, "the loss is noticed", func(g lease.Grant) bool { return !g.Held })
		if !errors.Is(lost.Err, lease.ErrLost) || errors.Is(lost.Err, lease.ErrRewound) {
			t.Errorf("%v; want ErrLost and no more", lost)
		}
		again := h.Await(t, "it is taken again", func(g lease.Grant) bool { return g.Held && g.Number == 0 && !g.From.Before(h.History()[0].Until) })
		for _, g := range h.History() {
			if g.Held && g.Number == 0 && g.From.Before(again.From) && g.Until.After(again.From) {
				t.Errorf("%v is granted, and %v", g, again)
			}
		}
	})
}

// A row with another's token is another's.
func TestOtherOwner(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		h := holding.Take(t, s.leaser(s.DB, quickly, logTo(new(logged.Text).Logger())), max22)
		r := s.usurp(t, 0)
		lost := h.Await(t, "the loss is noticed", func(g lease.Grant) bool { return !g.Held })
		if !errors.Is(lost.Err, lease.ErrLost) || errors.Is(lost.Err, lease.ErrRewound) {
			t.Errorf("%v; want ErrLost and no more", lost)
		}
		h.Await(t, "there is another number", func(g lease.Grant) bool { return g.Held && g.Number == 1 && g.Err == nil })
		release(t, h, time.Now())
		if after, _ := s.row(t, 0); after != r {
			t.Errorf("the other's row is %+v, want it left alone as %+v", after, r)
		}
	})
}

// usurp puts another owner in a row, as one who took the number over, and returns
// the row.
func (s *store) usurp(t *testing.T, number int64) record {
	t.Helper()
	s.Exec(t, "UPDATE %s SET token = 'another', heartbeat_at = heartbeat_at + 3600000, reserved_until = reserved_until + 3600000 WHERE worker_id = %d",
		s.Table, number)
	r, _ := s.row(t, number)
	return r
}

// One who has lost its number and ends before it knows leaves the row alone.
func TestReleaseOfLost(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		h := holding.Take(t, s.leaser(s.DB), max22)
		r := s.usurp(t, 0)
		release(t, h, time.Now())
		if after, _ := s.row(t, 0); after != r {
			t.Errorf("the other's row is %+v, want it left alone as %+v", after, r)
		}
		wantNumbers(t, s, 0)
	})
}

// A number whose row is gone is given to nobody, neither before its holder has
// noticed nor afterwards.
func TestRowDeleted(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		var out logged.Text
		h := holding.Take(t, s.leaser(s.DB, quickly, logTo(out.Logger())), max22)
		s.Exec(t, "DELETE FROM %s WHERE worker_id = 0", s.Table)
		others := []int64{assign(t, s.leaser(s.DB)), assign(t, s.leaser(s.DB))}
		lost := h.Await(t, "the loss is noticed", func(g lease.Grant) bool { return !g.Held })
		if !errors.Is(lost.Err, lease.ErrLost) || !errors.Is(lost.Err, lease.ErrRewound) {
			t.Errorf("%v; want ErrRewound", lost)
		}
		next := h.Await(t, "there is another number", func(g lease.Grant) bool { return g.Held && g.Number > 0 && g.Err == nil })
		others = append(others, next.Number, assign(t, s.leaser(s.DB)))
		slices.Sort(others)
		wantNumbers(t, s, others...)
		if want := []int64{1, 2, 3, 4}; !slices.Equal(others, want) {
			t.Errorf("numbers %v, want %v", others, want)
		}
		servertest.Eventually(t, "it is logged", func() bool { return out.Count("level=INFO", "another number is taken") == 1 })
		if out.Count("level=WARN", "lost", lease.ErrRewound.Error()) != 1 {
			t.Errorf("logged %s", &out)
		}
	})
}

// The same where only that one number will do: it is claimed anew, and the ids of
// this generator go on upwards.
func TestExactRowDeleted(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		gen := cached(t, s.leaser(s.DB, quickly, lease.Config{Assigner: uid.StaticWorker(3)}, logTo(new(logged.Text).Logger())))
		var all ids
		before, err := all.draw(t, gen, 100)
		if err != nil {
			t.Fatal(err)
		}
		s.Exec(t, "DELETE FROM %s WHERE worker_id = 3", s.Table)
		servertest.Eventually(t, "the number is claimed anew", func() bool { return len(s.numbers(t)) == 1 && gen.Stats().Clock.LeaseError == nil })
		servertest.Eventually(t, "ids go on", func() bool {
			id, err := all.draw(t, gen, 1)
			if err == nil && id <= before {
				t.Errorf("id %d after %d", id, before)
			}
			return err == nil
		})
		if stats := gen.Stats(); stats.Clock.Worker != 3 {
			t.Errorf("%+v", stats)
		}
	})
}

// A row that says less than its holder has committed was restored from a copy.
func TestRowRestored(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		var all ids
		gen := cached(t, s.leaser(s.DB, quickly, logTo(new(logged.Text).Logger())))
		last, err := all.draw(t, gen, 100)
		if err != nil {
			t.Fatal(err)
		}
		old, _ := s.row(t, 0)
		began := gen.Stats().Clock.ReservedUntil
		servertest.Eventually(t, "more is reserved", func() bool { return gen.Stats().Clock.ReservedUntil.After(began) })
		s.Exec(t, "UPDATE %s SET token = '%s', reserved_until = %d, heartbeat_at = %d WHERE worker_id = 0",
			s.Table, old.Token, old.Reserved, old.Heartbeat)
		servertest.Eventually(t, "the number is given up", func() bool { return gen.Stats().Clock.WorkerChanges == 1 })
		id, err := all.draw(t, gen, 100)
		if err != nil || id <= last || gen.Worker() != 1 {
			t.Errorf("id %d of worker %d after %d, %v; want worker 1", id, gen.Worker(), last, err)
		}
		if after, _ := s.row(t, 0); after != old {
			t.Errorf("the row is %+v, want it left alone as %+v", after, old)
		}
	})
}

// The error says that the table has gone back.
func TestRestoredError(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		h := holding.Take(t, s.leaser(s.DB, quickly, logTo(new(logged.Text).Logger())), max22)
		s.Exec(t, "UPDATE %s SET token = 'old', reserved_until = 1 WHERE worker_id = 0", s.Table)
		lost := h.Await(t, "the loss is noticed", func(g lease.Grant) bool { return !g.Held })
		if !errors.Is(lost.Err, lease.ErrLost) || !errors.Is(lost.Err, lease.ErrRewound) {
			t.Errorf("%v; want ErrRewound", lost)
		}
	})
}

// A row whose reservation was lowered by hand, and whose token was not, is this
// holder's still: it is raised again to what was granted.
func TestReservationLowered(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		h := holding.Take(t, s.leaser(s.DB, quickly, logTo(new(logged.Text).Logger())), max22)
		s.Exec(t, "UPDATE %s SET reserved_until = 1 WHERE worker_id = 0", s.Table)
		servertest.Eventually(t, "what is granted is reserved", func() bool {
			g := h.Last()
			r, _ := s.row(t, 0)
			return g.Held && g.Number == 0 && r.Reserved > 1 && r.Reserved >= g.Until.UnixMilli()
		})
	})
}
