package worker_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
)

// errUnavailable is what a database says that is not there.
var errUnavailable = errors.New("the database is unavailable")

// A number is given back once, whoever asks how often, and from wherever.
func TestReleaseOnce(t *testing.T) {
	each(t, []assigner{attested, leaser}, func(t *testing.T, s *store) {
		h := holding.Take(t, s.on(s.DB), max22)
		next := time.Now().Add(time.Minute)
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() { release(t, h, next) })
		}
		wg.Wait()
		granted := len(h.History())
		release(t, h, next.Add(-time.Hour))
		h.Use(next.Add(24*time.Hour), next.Add(48*time.Hour))
		if got := len(h.History()); got != granted {
			t.Errorf("granted %v after it was given back", h.History()[granted:])
		}
		wantNumbers(t, s, s.first)
		if s.name == "leaser" {
			if r, _ := s.row(t, 0); r.Heartbeat != 0 || r.Reserved != millis(next) {
				t.Errorf("row %+v; want it free and reserved until %d", r, millis(next))
			}
		}
	})
}

// What an earlier holder may have stamped stays reserved, even if the one who
// gives the number back has stamped nothing and says so; and nothing is reserved
// by giving back.
func TestReleaseKeepsTheFloor(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		a := s.leaser(s.DB)
		now := time.Now()
		floor := now.Add(5 * time.Minute)
		release(t, holding.Take(t, a, 0), floor)
		for _, tt := range []struct{ next, want time.Time }{
			{now, floor}, {time.Time{}, floor}, {floor.Add(time.Minute), floor.Add(time.Minute)},
		} {
			h := holding.Take(t, a, 0)
			release(t, h, tt.next)
			if r, _ := s.row(t, 0); r.Reserved != millis(tt.want) {
				t.Errorf("given back at %v: reserved until %d, want %d", tt.next, r.Reserved, millis(tt.want))
			}
		}
		h := holding.Take(t, a, 0)
		until := h.Last().Until
		release(t, h, until.Add(time.Hour))
		if r, _ := s.row(t, 0); r.Reserved != until.UnixMilli() {
			t.Errorf("reserved until %d, want %d, which was granted", r.Reserved, until.UnixMilli())
		}
	})
}

// A generator may be closed by several goroutines. It gives back what it has not
// issued.
func TestGeneratorCloses(t *testing.T) {
	each(t, all, func(t *testing.T, s *store) {
		gen := cached(t, s.on(s.DB))
		var all ids
		last, err := all.draw(t, gen, 4*100)
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for range 4 {
			wg.Go(func() {
				if err := gen.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if id, err := gen.Next(); !errors.Is(err, uid.ErrClosed) {
			t.Errorf("Next = %d, %v; want ErrClosed", id, err)
		}
		if s.name == "leaser" {
			want := tick(t, gen, last).Add(time.Second)
			if r, _ := s.row(t, gen.Worker()); r.Heartbeat != 0 || r.Reserved != want.UnixMilli() {
				t.Errorf("row %+v; want it free and reserved until %v, the end of the last tick issued", r, want)
			}
		}
	})
}

// Rows outlive the process: the number comes back, and starts at what was given
// back.
func TestRestart(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		past := time.Now().Add(-time.Minute)
		for start := range 3 {
			db, err := dbtest.Open(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			h := holding.Take(t, s.leaser(db), max22)
			if g := h.Last(); g.Number != 0 || start > 0 && g.From.UnixMilli() != millis(past) || g.Err != nil {
				t.Errorf("%v; want number 0 from %v", g, past)
			}
			past = past.Add(time.Second)
			release(t, h, past)
			if err := dbtest.Close(db); err != nil {
				t.Error(err)
			}
			if r, _ := s.row(t, 0); r.Reserved != millis(past) {
				t.Errorf("reserved until %d, want %d", r.Reserved, millis(past))
			}
		}
		wantNumbers(t, s, 0)
	})
}

// However soon a service restarts under its number, and however far it had run
// ahead of the clock, its ids go on where they ended.
func TestGeneratorRestarts(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		var all ids
		var end time.Time
		a := s.leaser(s.DB, lease.Config{Assigner: uid.StaticWorker(5)})
		for start := range 4 {
			gen := cached(t, a)
			first, err := all.draw(t, gen, 1)
			if err != nil {
				t.Fatal(err)
			}
			if begun := tick(t, gen, first); gen.Worker() != 5 || start > 0 && !begun.Equal(end) {
				t.Errorf("start %d: worker %d at %v, want worker 5 at %v", start, gen.Worker(), begun, end)
			}
			last, err := all.draw(t, gen, 4*60)
			if err != nil {
				t.Fatal(err)
			}
			end = tick(t, gen, last).Add(time.Second)
			if err := gen.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// A holder that is cut off, and not dead, goes on to the end of what it has
// reserved. Whoever takes its number starts there.
func TestTakeover(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		db, pool := s.Pooled(t)
		opts := []option{lease.Config{Expiry: 100 * time.Millisecond, Window: time.Hour, Assigner: uid.StaticWorker(3)}, logTo(new(logged.Text).Logger())}
		var all ids
		// The old one is not to take a late renewal of the heir's for its death.
		old := cached(t, s.leaser(db, append(opts, lease.Config{Expiry: 10 * time.Second})...))
		if _, err := all.draw(t, old, 1000); err != nil {
			t.Fatal(err)
		}
		pool.Cut(errUnavailable)
		var heir *uid.Cached
		servertest.Eventually(t, "the dead holder's number is taken", func() bool {
			gen, err := uid.NewCached(context.Background(), s.leaser(s.DB, opts...), uid.CachedConfig{Layout: small})
			if heir = gen; err != nil && !errors.Is(err, lease.ErrHeld) {
				t.Fatal(err)
			}
			return err == nil
		})
		defer heir.Close()
		first, err := all.draw(t, heir, 1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := all.draw(t, heir, 1000); err != nil {
			t.Error(err)
		}
		end := runDry(t, old, &all, errUnavailable)
		if heir.Worker() != 3 || old.Worker() != 3 {
			t.Errorf("workers %d and %d, want 3", old.Worker(), heir.Worker())
		}
		if begun := tick(t, heir, first); begun.Before(end) {
			t.Errorf("the heir begins at %v, want it no earlier than %v", begun, end)
		}

		// Back again, the old one finds the number taken and leaves it alone.
		pool.Heal()
		servertest.Eventually(t, "the old holder hears of it", func() bool { return errors.Is(old.Stats().Clock.LeaseError, lease.ErrHeld) })
		if id, err := old.Next(); !errors.Is(err, uid.ErrReservation) || !errors.Is(err, lease.ErrHeld) {
			t.Errorf("Next = %d, %v", id, err)
		}
		if err := old.Close(); err != nil {
			t.Error(err)
		}
		if r, _ := s.row(t, 3); r.Heartbeat == 0 {
			t.Error("the old holder has given back what is another's")
		}
		if _, err := all.draw(t, heir, 1000); err != nil {
			t.Error(err)
		}
	})
}

// runDry draws all ids that are reserved for gen, until Next fails because of
// cause. It returns the end of what is reserved.
func runDry(t *testing.T, gen *uid.Cached, all *ids, cause error) time.Time {
	t.Helper()
	servertest.Eventually(t, "Next fails for want of reserved time", func() bool {
		_, err := all.draw(t, gen, 1<<20)
		if !errors.Is(err, uid.ErrReservation) {
			t.Fatalf("Next: %v; want ErrReservation", err)
		}
		return errors.Is(err, cause)
	})
	return gen.Stats().Clock.ReservedUntil
}

// A start whose commit had no answer, and whose database then went away, has no
// number; and it keeps nobody from the number for longer than the expiry.
func TestCrashBetweenCommitAndAnswer(t *testing.T) {
	each(t, leasers, func(t *testing.T, s *store) {
		db, pool := s.Pooled(t)
		opts := []option{lease.Config{Expiry: 100 * time.Millisecond}, logTo(new(logged.Text).Logger())}
		pool.Set(dbtest.Faults{Commit: func(tx *dbtest.Tx) error {
			err := tx.Tx.Commit()
			if tx.Wrote("INSERT") {
				pool.Cut(errUnavailable)
				return errors.Join(err, errUnavailable)
			}
			return err
		}})
		h, err := try(t, s.leaser(db, opts...), 0)
		if !errors.Is(err, errUnavailable) || len(h.History()) != 0 {
			t.Fatalf("granted %v, %v; want nothing, for %v", h.History(), err, errUnavailable)
		}
		dead, ok := s.row(t, 0)
		if !ok || dead.Heartbeat == 0 {
			t.Fatalf("row %+v, %t; want that the commit was done", dead, ok)
		}
		servertest.Eventually(t, "the number is taken", func() bool {
			h, err = try(t, s.leaser(s.DB, opts...), 0)
			return err == nil
		})
		if g := h.Last(); g.Number != 0 || g.From.UnixMilli() != dead.Reserved {
			t.Errorf("%v; want it from %d, where the dead had reserved to", g, dead.Reserved)
		}
	})
}
