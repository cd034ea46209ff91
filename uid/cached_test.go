package uid_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// Every sequence of every tick is issued, from the present tick on. The original
// begins a second late and issues 17 to 93 per cent of what it has reserved.
func TestCachedIssuesEverySequence(t *testing.T) {
	clock := clockAt(start.Add(time.Second - time.Nanosecond))
	gen := newCached(t, uid.CachedConfig{Layout: small, Now: clock.now, MaxBorrow: uid.Unlimited})
	for want := range int64(10_000) {
		parts, err := gen.Parse(mustNext(t, gen))
		if wanted := (bits.Parts{
			Time: start.Add(time.Duration(want/2) * time.Second), Tick: 5 + want/2, Worker: 1, Sequence: want % 2,
		}); parts != wanted || err != nil {
			t.Fatalf("id %d is %+v, %v, want %+v", want, parts, err, wanted)
		}
	}
	gen.Close()
	if s := gen.Stats(); s.Issued != 10_000 || s.Clock.Worker != 1 {
		t.Errorf("Stats() = %+v, want 10000 issued by worker 1", s)
	}
}

// Ids ascend whatever the clock does, and follow it ahead. After a night of idling, the
// original hands out yesterday without end.
func TestCachedIsNotDisturbedByTheClock(t *testing.T) {
	clock := clockAt(start)
	gen := newCached(t, uid.CachedConfig{Layout: small, BoostPower: 1, Now: clock.now, MaxBorrow: time.Hour})
	last := mustNext(t, gen)
	for _, step := range []time.Duration{-time.Minute, -3 * time.Hour, time.Second, 8 * time.Hour, -1000 * time.Hour, 500 * time.Hour} {
		clock.step(step)
		for range 100 {
			id := mustNext(t, gen)
			if id <= last {
				t.Fatalf("after a step of %v: id %d follows %d", step, id, last)
			}
			last = id
		}
		if at := parsed(t, gen, last).Time; at.Before(clock.now().Add(-time.Second)) {
			t.Errorf("after a step of %v: an id of %v at %v", step, at, clock.now())
		}
	}
}

// The original borrows without bound: 138,000 s in 5 s of load.
func TestMaxBorrow(t *testing.T) {
	clock := clockAt(start)
	gen := newCached(t, uid.CachedConfig{Layout: small, Now: clock.now, MaxBorrow: time.Minute})
	for range 2 * 61 { // the present second and the 60 after it
		mustNext(t, gen)
	}
	if got := gen.Stats().Ring.Borrowed; got != time.Minute {
		t.Errorf("borrowed %v, want 1m0s", got)
	}
	_, err := gen.Next()
	var limit *uid.BorrowLimitError
	if !errors.Is(err, uid.ErrBorrowLimit) || !errors.As(err, &limit) || limit.Limit != time.Minute || limit.Retry != time.Second {
		t.Fatalf("Next() at the bound: %v, want a retry in 1s", err)
	}
	clock.step(300 * time.Millisecond)
	if _, err := gen.Next(); !errors.As(err, &limit) || limit.Retry != 700*time.Millisecond {
		t.Errorf("Next() at the bound: %v, want a retry in 700ms", err)
	}
	clock.step(700 * time.Millisecond)
	mustNext(t, gen)
	ids := make([]uid.ID, 5)
	if n, err := gen.NextN(ids); n != 1 || !errors.Is(err, uid.ErrBorrowLimit) {
		t.Errorf("NextN() = %d, %v, want the 1 id there is and the error", n, err)
	}
	if got := gen.Stats().RejectedTakes; got != 3 {
		t.Errorf("%d takes rejected, want 3", got)
	}
}

// The threads of the original keep the process alive, and takes after destroy()
// fail with the executor's own exception.
func TestClose(t *testing.T) {
	forKinds(t, all, uid.CachedConfig{Layout: virtual}, func(t *testing.T, gen generator) {
		mustNext(t, gen)
		issued := gen.Stats().Issued
		var wg sync.WaitGroup
		for i := range 8 {
			wg.Go(func() {
				for err := error(nil); err != uid.ErrClosed; {
					if _, err = gen.Next(); i%2 == 0 {
						_, err = gen.Wait(context.Background())
					}
					if err != nil && err != uid.ErrClosed && err != uid.ErrNotReady {
						t.Errorf("%v while closing, want ErrClosed", err)
					}
				}
			})
			wg.Go(func() {
				if err := gen.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for call, draw := range calls {
			if n, err := draw(context.Background(), gen, make([]uid.ID, 3)); n != 0 || err != uid.ErrClosed {
				t.Errorf("%s() = %d, %v, want 0, ErrClosed", call, n, err)
			}
		}
		if n, err := gen.NextN(nil); n != 0 || err != nil {
			t.Errorf("NextN(nil) = %d, %v, want 0, nil", n, err)
		}
		if got := gen.Stats(); got.Issued < issued || got.Remaining != 0 || got.RejectedTakes < 5 {
			t.Errorf("Stats() = %+v after Close", got)
		}
	})
}

// Many calls wait at once, and Close ends all of them at once.
func TestCloseEndsWaits(t *testing.T) {
	forKinds(t, all, uid.CachedConfig{Layout: bubble, MaxBorrow: uid.None, RejectedTake: uid.PolicyWait}, func(t *testing.T, gen generator) {
		waits := []string{"Wait", "WaitN", "All"}
		if _, slots := gen.(*uid.Slots); !slots {
			waits = append(waits, "Next", "NextN")
		}
		failed := make(chan error)
		for _, call := range waits {
			go func() {
				_, err := calls[call](context.Background(), gen, make([]uid.ID, 10_000))
				failed <- err
			}()
		}
		time.Sleep(1200 * time.Millisecond)
		begun := time.Now()
		gen.Close()
		for range waits {
			if err := <-failed; err != uid.ErrClosed || time.Since(begun) != 0 {
				t.Errorf("a call that waits at Close: %v after %v, want ErrClosed at once", err, time.Since(begun))
			}
		}
		if got := gen.Stats().RejectedTakes; got != int64(len(waits)) {
			t.Errorf("%d failed, want %d", got, len(waits))
		}
	})
}

func TestNoAllocations(t *testing.T) {
	ids := make([]uid.ID, 256)
	for _, kind := range all {
		gen := under(t, kind, lease.NewStatic(1), uid.CachedConfig{Layout: roomy, Logger: quiet})
		if n := testing.AllocsPerRun(10_000, func() { gen.Next(); gen.NextN(ids) }); n != 0 {
			t.Errorf("%s: Next and NextN allocate %v times, want 0", kind, n)
		}
	}
}
