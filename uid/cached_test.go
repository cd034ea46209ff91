package uid_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// Every sequence of every tick is issued, from the present tick on. The original
// begins a second late and issues 17 to 93 per cent of what it has reserved.
func TestCachedIssuesEverySequence(t *testing.T) {
	clock := clockAt(start)
	gen := newCached(t, uid.CachedConfig{Layout: small, Now: clock.now, MaxBorrow: -1})
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

// After a night of idling, the original hands out yesterday without end.
func TestCachedCatchesUp(t *testing.T) {
	clock := clockAt(start)
	gen := newCached(t, uid.CachedConfig{Layout: small, BoostPower: 1, Now: clock.now})
	if got := tick(t, gen); got != 5 {
		t.Fatalf("first tick is %d, want 5", got)
	}
	clock.step(8 * time.Hour)
	for gen.Stats().Ring.Helps == 0 && gen.Stats().Ring.Refills < 2 { // deal what is left of the night
		mustNext(t, gen)
	}
	for range gen.Stats().Ring.Capacity {
		mustNext(t, gen)
	}
	if got, want := tick(t, gen), int64(8*3600+5); got < want || got > want+4 {
		t.Errorf("after 8 hours the tick is %d, want about %d", got, want)
	}
}

func TestCachedIsNotDisturbedByTheClock(t *testing.T) {
	clock := clockAt(start)
	gen := newCached(t, uid.CachedConfig{Layout: small, BoostPower: 1, Now: clock.now, MaxBorrow: time.Hour})
	last := mustNext(t, gen)
	for _, step := range []time.Duration{-time.Minute, -3 * time.Hour, time.Second, -1000 * time.Hour, 500 * time.Hour} {
		clock.step(step)
		for range 100 {
			id := mustNext(t, gen)
			if id <= last {
				t.Fatalf("after a step of %v: id %d follows %d", step, id, last)
			}
			last = id
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

func TestMaxBorrowBelowATick(t *testing.T) {
	gen := newCached(t, uid.CachedConfig{Layout: small, Now: clockAt(start).now, MaxBorrow: 1})
	mustNext(t, gen)
	mustNext(t, gen)
	if id, err := gen.Next(); !errors.Is(err, uid.ErrBorrowLimit) {
		t.Errorf("Next() = %d, %v beyond the present tick, want ErrBorrowLimit", id, err)
	}
}

func TestWaitFollowsTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		gen := newCached(t, uid.CachedConfig{Layout: bubble, MaxBorrow: 10 * time.Second})
		for range 2 * 100 {
			if _, err := gen.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		// Ticks 0 to 10 at once, then one a second to tick 99.
		if got := time.Since(begun).Round(time.Second); got != 89*time.Second {
			t.Errorf("100 ticks took %v, want 1m29s", got)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		if _, err := gen.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait() = %v, want that of the context", err)
		}
		gen.Close()
	})
}

// An idle service's ids tell the time, to MaxAge, which is a minute by default.
func TestMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gen := newCached(t, uid.CachedConfig{Layout: bubble})
		last := mustNext(t, gen)
		for range 20 {
			time.Sleep(5 * time.Minute)
			synctest.Wait()
			id := mustNext(t, gen)
			parts, err := gen.Parse(id)
			if err != nil {
				t.Fatal(err)
			}
			if age := time.Since(parts.Time); age > time.Minute+bubble.Unit || id <= last {
				t.Errorf("after idling, id %d follows %d and its tick began %v ago, want at most 61s", id, last, age)
			}
			last = id
		}
		if s := gen.Stats(); s.Dropped == 0 || s.Issued != 21 {
			t.Errorf("Stats() = %+v, want 21 issued and some dropped", s)
		}
		gen.Close()
	})
	t.Run("negative keeps", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			gen := newCached(t, uid.CachedConfig{Layout: bubble, MaxAge: -1, Schedule: "@every 10s"})
			time.Sleep(time.Hour)
			synctest.Wait()
			if got := tick(t, gen); got != 0 {
				t.Errorf("tick is %d, want 0", got)
			}
			gen.Close()
		})
	})
}

// The threads of the original keep the process alive, and takes after destroy()
// fail with the executor's own exception.
func TestClose(t *testing.T) {
	forBoth(t, uid.CachedConfig{}, func(t *testing.T, gen generator) {
		mustNext(t, gen)
		issued := gen.Stats().Issued
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for {
					if _, err := gen.Next(); err != nil {
						if err != uid.ErrClosed {
							t.Errorf("Next() while closing: %v, want ErrClosed", err)
						}
						return
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
		if _, err := gen.Next(); err != uid.ErrClosed {
			t.Errorf("Next() = %v, want ErrClosed", err)
		}
		if _, err := gen.Wait(context.Background()); err != uid.ErrClosed {
			t.Errorf("Wait() = %v, want ErrClosed", err)
		}
		if n, err := gen.NextN(make([]uid.ID, 3)); n != 0 || err != uid.ErrClosed {
			t.Errorf("NextN() = %d, %v, want 0, ErrClosed", n, err)
		}
		if n, err := gen.NextN(nil); n != 0 || err != nil {
			t.Errorf("NextN(nil) = %d, %v, want 0, nil", n, err)
		}
		if got := gen.Stats(); got.Issued < issued || got.Remaining != 0 || got.RejectedTakes < 3 {
			t.Errorf("Stats() = %+v after Close", got)
		}
	})
}

func TestParseRefusesForeignIDs(t *testing.T) {
	forBoth(t, uid.CachedConfig{Layout: bits.JSSafe()}, func(t *testing.T, gen generator) {
		for _, id := range []uid.ID{-1, 1 << 53} {
			if parts, err := gen.Parse(id); !errors.Is(err, bits.ErrForeign) {
				t.Errorf("Parse(%d) = %+v, %v, want ErrForeign", id, parts, err)
			}
		}
	})
}

func TestNoAllocations(t *testing.T) {
	ids := make([]uid.ID, 256)
	forBoth(t, uid.CachedConfig{Layout: roomy}, func(t *testing.T, gen generator) {
		if n := testing.AllocsPerRun(10_000, func() { gen.Next(); gen.NextN(ids) }); n != 0 {
			t.Errorf("Next and NextN allocate %v times, want 0", n)
		}
	})
}

// A clock that panics is an error of the take, and no ids are lost or repeated.
func TestClockThatPanics(t *testing.T) {
	clock := clockAt(start)
	broken := false
	var mu sync.Mutex
	now := func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		if broken {
			panic("clock")
		}
		return clock.now()
	}
	_, logger := recorder()
	gen := newCached(t, uid.CachedConfig{Layout: small, BoostPower: 1, Now: now, Logger: logger})
	set := func(b bool) { mu.Lock(); broken = b; mu.Unlock() }
	set(true)
	var err error
	var last uid.ID
	for err == nil {
		var id uid.ID
		if id, err = gen.Next(); err == nil {
			last = id
		}
	}
	var panicked *uid.PanicError
	if !errors.As(err, &panicked) {
		t.Errorf("Next() = %v, want a PanicError", err)
	}
	set(false)
	if id := mustNext(t, gen); id <= last {
		t.Errorf("id %d follows %d", id, last)
	}
}
