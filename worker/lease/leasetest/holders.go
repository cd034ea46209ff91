package leasetest

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
)

func (s Suite) leaser(store lease.Store, opts ...lease.Config) *lease.Leaser {
	return lease.New(store, holding.Merge(append([]lease.Config{{Expiry: s.Expiry, Window: time.Hour, Node: node, Logger: slog.New(slog.DiscardHandler)}}, opts...)...))
}

// holder holds a number of a store that can be cut off.
type holder struct {
	*holding.Holder
	store *cutOff
}

// kill ends the holder without a request to the store.
func (h holder) kill() {
	h.store.cut.Store(true)
	h.Kill()
}

// try leases a number. At the end of the test its holder is killed.
func (s Suite) try(t *testing.T, store lease.Store, limit int64, opts ...lease.Config) (holder, error) {
	cut := &cutOff{Store: store}
	held, err := holding.Try(context.Background(), t, s.leaser(cut, opts...), limit, time.Now)
	h := holder{held, cut}
	if err == nil {
		t.Cleanup(h.kill)
	}
	return h, err
}

// take is try for a lease that must succeed.
func (s Suite) take(t *testing.T, store lease.Store, limit int64, opts ...lease.Config) holder {
	t.Helper()
	h, err := s.try(t, store, limit, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// number is a lease.Assigner.
type number int64

func (n number) Assign(context.Context, int64) (int64, error) { return int64(n), nil }

// comesBack: a number that was given back is given again, from the instant of its release.
func (s Suite) comesBack(t *testing.T, open Opener) {
	h := s.take(t, open(t), 9)
	first := h.Last()
	if !first.Held || first.Number != 0 || first.Until.Before(time.Now()) || first.Err != nil {
		t.Fatalf("granted %+v", first)
	}
	next := time.UnixMilli(time.Now().UnixMilli())
	if err := h.Release(context.Background(), next); err != nil {
		t.Fatal(err)
	}
	if again := s.take(t, open(t), 9).Last(); again.Number != 0 || !again.From.Equal(next) {
		t.Errorf("granted %+v; want number 0 from %v", again, next)
	}
}

// crash: after a holder dies, the next holder of its number starts at the end of the
// reserved time.
func (s Suite) crash(t *testing.T, open Opener) {
	store := open(t)
	h := s.take(t, store, 0)
	h.kill()
	s.Kill(t, store)
	successor := open(t)
	var taken holder
	holding.Eventually(t, "the number expires", func() (ok bool) {
		var err error
		if taken, err = s.try(t, successor, 0); err != nil && !errors.Is(err, lease.ErrExhausted) {
			t.Fatal(err)
		}
		return err == nil
	})
	if got, was := taken.Last(), h.Last(); got.Number != 0 || !got.From.Equal(was.Until) {
		t.Errorf("granted %+v; want number 0 from %v", got, was.Until)
	}
}

// held: a number that is held is nobody else's.
func (s Suite) held(t *testing.T, open Opener) {
	store, alive := open(t), lease.Config{Expiry: time.Minute}
	s.take(t, store, 1, alive, lease.Config{Assigner: number(1)})
	if h, err := s.try(t, open(t), 1, alive, lease.Config{Assigner: number(1)}); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("%v, %v; want ErrHeld", h.History(), err)
	}
	if g := s.take(t, open(t), 1, alive, lease.Config{Assigner: number(0)}).Last(); g.Number != 0 {
		t.Errorf("granted %+v; want number 0", g)
	}
	var exhausted *lease.ExhaustedError
	if h, err := s.try(t, open(t), 1, alive); !errors.As(err, &exhausted) || exhausted.Held != 2 || exhausted.Store != store.String() {
		t.Errorf("%v, %v; want ErrExhausted", h.History(), err)
	}
	if err := s.leaser(open(t), alive).Free(context.Background(), 0, false); !errors.Is(err, lease.ErrHeld) {
		t.Errorf("%v; want ErrHeld", err)
	}
	if err := s.leaser(open(t), alive).Free(context.Background(), 2, true); !errors.Is(err, lease.ErrNoLease) {
		t.Errorf("%v; want ErrNoLease", err)
	}
}

// loss: a holder takes another number when its own is freed, and no other
// holder stamps ticks of either grant.
func (s Suite) loss(t *testing.T, open Opener) {
	h := s.take(t, open(t), 9)
	before := h.Last()
	if err := s.leaser(open(t)).Free(context.Background(), 0, true); err != nil {
		t.Fatal(err)
	}
	successor := s.take(t, open(t), 9, lease.Config{Assigner: number(0)}).Last()
	if successor.Number != 0 || successor.From.Before(before.Until) {
		t.Errorf("granted %+v, and %+v to the one before", successor, before)
	}
	holding.Eventually(t, "the holder finds its number lost, and takes another", func() bool {
		g := h.Last()
		return g.Held && g.Number != 0
	})
	if !h.Lost(lease.ErrLost) {
		t.Error("no grant reports the loss")
	}
}

// starters: holders that start at the same time get different numbers.
func (s Suite) starters(t *testing.T, open Opener) {
	const starters = 8
	var (
		mu       sync.Mutex
		numbers  = map[int64]bool{}
		starting sync.WaitGroup
	)
	for range starters {
		store := open(t)
		starting.Go(func() {
			h, err := s.try(t, store, starters-1, lease.Config{Expiry: time.Minute})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			if n := h.Last().Number; numbers[n] {
				t.Errorf("number %d is given twice", n)
			} else {
				numbers[n] = true
			}
		})
	}
	starting.Wait()
}

// renews: a holder's time is extended, in the grant and in the row.
func (s Suite) renews(t *testing.T, open Opener) {
	store := open(t)
	h := s.take(t, store, 9)
	first := h.Last()
	h.Use(first.Until, first.Until)
	holding.Eventually(t, "more is reserved", func() bool { return h.Last().Until.After(first.Until) })
	h.Use(first.Until.Add(24*time.Hour), first.Until.Add(24*time.Hour))
	holding.Eventually(t, "much more is reserved", func() bool { return h.Last().Until.After(first.Until.Add(24 * time.Hour)) })
	g := h.Last()
	row, _, err := open(t).Read(context.Background(), 0, s.Expiry)
	if err != nil || row == nil || row.Until < g.Until.UnixMilli() {
		t.Errorf("row %+v, %v; want it reserved until %v", row, err, g.Until)
	}
	for range 3 { // renewals
		seen := row.Token
		holding.Eventually(t, "there is another sign of life", func() bool {
			row, _, err = store.Read(context.Background(), 0, s.Expiry)
			return err == nil && row != nil && row.Token != seen
		})
	}
	if g := h.Last(); !g.Held || g.Number != 0 {
		t.Errorf("granted %+v", g)
	}
}

// inRange: numbers of a range stay within it.
func (s Suite) inRange(t *testing.T, open Opener) {
	for want := range int64(2) {
		if g := s.take(t, open(t), 99, lease.Config{Numbers: &lease.Bounds{From: 50, To: 51}, Expiry: time.Minute}).Last(); g.Number != 50+want {
			t.Errorf("granted %+v; want number %d", g, 50+want)
		}
	}
	if h, err := s.try(t, open(t), 99, lease.Config{Numbers: &lease.Bounds{From: 50, To: 51}, Expiry: time.Minute}); !errors.Is(err, lease.ErrExhausted) {
		t.Errorf("%v, %v; want ErrExhausted", h.History(), err)
	}
	if g := s.take(t, open(t), 99, lease.Config{Numbers: &lease.Bounds{From: 0, To: 49}}).Last(); g.Number != 0 {
		t.Errorf("granted %+v; want number 0", g)
	}
}
