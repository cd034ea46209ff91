package uid_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

func TestDefaultStampsNow(t *testing.T) {
	clock := clockAt(start)
	gen := newDefault(t, uid.DefaultConfig{Now: clock.now})
	for _, step := range []time.Duration{0, time.Second, time.Hour, 1999 * time.Millisecond} {
		clock.step(step)
		want := clock.now().Truncate(time.Second).UTC()
		for range 3 {
			parts, err := gen.Parse(mustNext(t, gen))
			if err != nil || !parts.Time.Equal(want) || parts.Worker != 1 {
				t.Fatalf("after %v: %+v, %v, want an id of %v", step, parts, err, want)
			}
		}
	}
}

func TestDefaultWaitsForTheNextTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gen := newDefault(t, uid.DefaultConfig{Layout: bubble})
		begun := time.Now()
		ids := make([]uid.ID, 7)
		if n, err := gen.NextN(ids); n != 7 || err != nil {
			t.Fatalf("NextN() = %d, %v", n, err)
		}
		for range 3 {
			mustNext(t, gen)
		}
		if got := time.Since(begun).Round(time.Millisecond); got != 4*time.Second {
			t.Errorf("5 ticks of 2 ids took %v, want 4s", got)
		}
		for i := range ids[1:] {
			if ids[i] >= ids[i+1] {
				t.Errorf("ids %v do not ascend", ids)
			}
		}
		// No lock is held meanwhile: many wait at once, and a context ends one.
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := gen.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait() = %v, want that of the context", err)
		}
		failed := make(chan error)
		for range 4 {
			go func() { _, err := gen.NextN(make([]uid.ID, 100)); failed <- err }()
		}
		synctest.Wait()
		begun = time.Now()
		gen.Close()
		for range 4 {
			if err := <-failed; err != uid.ErrClosed || time.Since(begun) != 0 {
				t.Errorf("NextN() that waits at Close: %v after %v, want ErrClosed at once", err, time.Since(begun))
			}
		}
		if s := gen.Stats(); s.Issued < 10 || s.RejectedTakes != 5 {
			t.Errorf("Stats() = %+v", s)
		}
	})
}

func TestDefaultRefusesAClockThatStepsBack(t *testing.T) {
	clock := clockAt(start)
	gen := newDefault(t, uid.DefaultConfig{Layout: small, Now: clock.now})
	last := mustNext(t, gen)
	clock.step(-3 * time.Second)
	for range 3 { // a refusal changes nothing, so the next is the same
		_, err := gen.Next()
		var backward *uid.ClockBackwardError
		if !errors.Is(err, uid.ErrClockBackward) || !errors.As(err, &backward) ||
			backward.Amount != 3*time.Second || backward.Max != uid.DefaultMaxBackward {
			t.Fatalf("Next() = %v, want ErrClockBackward by 3s", err)
		}
	}
	clock.step(3 * time.Second)
	if id := mustNext(t, gen); id != last+1 {
		t.Errorf("id %d follows %d, want the next number", id, last)
	}
	clock.step(-1000 * time.Hour) // before the epoch
	if _, err := gen.Next(); !errors.Is(err, uid.ErrClockBackward) {
		t.Errorf("Next() before the epoch: %v, want ErrClockBackward", err)
	}
}

func TestDefaultBeforeTheEpoch(t *testing.T) {
	clock := clockAt(start)
	gen := newDefault(t, uid.DefaultConfig{Now: clock.now})
	clock.step(-time.Hour)
	var backward *uid.ClockBackwardError
	if _, err := gen.Next(); !errors.As(err, &backward) || backward.Amount != time.Hour-5*time.Second {
		t.Errorf("Next() = %v, want ErrClockBackward by 59m55s, to the epoch", err)
	}
}

// Just before the epoch is before the epoch, also where a tick is long.
func TestDefaultJustBeforeTheEpoch(t *testing.T) {
	clock := clockAt(start)
	layout := bits.Layout{TimeBits: 20, WorkerBits: 8, SequenceBits: 8, Epoch: start, Unit: 24 * time.Hour}
	gen := newDefault(t, uid.DefaultConfig{Layout: layout, Now: clock.now})
	clock.step(-10 * time.Hour)
	var backward *uid.ClockBackwardError
	if _, err := gen.Next(); !errors.As(err, &backward) || backward.Amount != 10*time.Hour {
		t.Errorf("Next() = %v, want ErrClockBackward by 10h", err)
	}
}

// As many as uid-generator's own test draws, and then some: by one goroutine and
// by two for each core, all are different, and each goroutine's ascend.
func TestDefaultStress(t *testing.T) {
	layout := bits.Layout{TimeBits: 45, WorkerBits: 4, SequenceBits: 10, Epoch: bits.Default().Epoch, Unit: 100 * time.Microsecond}
	for _, goroutines := range []int{1, 2 * runtime.NumCPU()} {
		gen := newDefault(t, uid.DefaultConfig{Layout: layout})
		drawn := make([][]uid.ID, goroutines)
		each := 200_000 / goroutines
		n := each * goroutines
		var wg sync.WaitGroup
		for i := range drawn {
			wg.Go(func() {
				ids := make([]uid.ID, each)
				for at := 0; at < len(ids); {
					size := min(at%7+1, len(ids)-at)
					got, err := gen.NextN(ids[at : at+size])
					if err != nil {
						t.Error(err)
						return
					}
					at += got
				}
				if !slices.IsSorted(ids) {
					t.Error("the ids of a goroutine do not ascend")
				}
				drawn[i] = ids
			})
		}
		wg.Wait()
		all := slices.Concat(drawn...)
		slices.Sort(all)
		if got := len(slices.Compact(all)); got != n || all[0] <= 0 {
			t.Errorf("%d goroutines: %d different ids of %d, the least %d", goroutines, got, n, all[0])
		}
		if got := gen.Stats().Issued; got != int64(n) {
			t.Errorf("%d issued, want %d", got, n)
		}
	}
}

// Counts in Stats never go down.
func TestDefaultIssuedOnlyGrows(t *testing.T) {
	layout := bits.Layout{TimeBits: 50, WorkerBits: 1, SequenceBits: 12, Epoch: bits.Default().Epoch, Unit: 100 * time.Microsecond}
	gen := newDefault(t, uid.DefaultConfig{Layout: layout})
	var wg sync.WaitGroup
	var done atomic.Bool
	wg.Go(func() {
		defer done.Store(true)
		for range 200_000 {
			mustNext(t, gen)
		}
	})
	for before := int64(0); !done.Load(); {
		now := gen.Stats().Issued
		if now < before {
			t.Errorf("%d issued, after %d", now, before)
		}
		before = now
	}
	wg.Wait()
	if got := gen.Stats().Issued; got != 200_000 {
		t.Errorf("%d issued in the end, want 200000", got)
	}
}

func TestDefaultWaitsOutASmallStepBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var behind time.Duration
		gen := newDefault(t, uid.DefaultConfig{
			Layout:      bits.Layout{TimeBits: 41, WorkerBits: 8, SequenceBits: 8, Epoch: bubble.Epoch, Unit: time.Millisecond},
			MaxBackward: 10 * time.Millisecond,
			Now:         func() time.Time { return time.Now().Add(-behind) },
		})
		time.Sleep(time.Second)
		last := mustNext(t, gen)
		behind = 8 * time.Millisecond
		begun := time.Now()
		if id := mustNext(t, gen); id <= last {
			t.Errorf("id %d follows %d", id, last)
		}
		if got := time.Since(begun); got != 8*time.Millisecond {
			t.Errorf("waited %v, want 8ms", got)
		}
	})
}

func TestDefaultWaitsOutNothing(t *testing.T) {
	clock := clockAt(start)
	gen := newDefault(t, uid.DefaultConfig{Layout: small, Now: clock.now, MaxBackward: -1})
	mustNext(t, gen)
	clock.step(-time.Nanosecond)
	var backward *uid.ClockBackwardError
	if _, err := gen.Next(); !errors.As(err, &backward) || backward.Amount != 1 || backward.Max != 0 {
		t.Errorf("Next() = %v, want ErrClockBackward by 1ns", err)
	}
}

func TestDefaultNeverPassesTheEnd(t *testing.T) {
	clock := clockAt(small.End().Add(-time.Second))
	_, logger := recorder()
	gen := newDefault(t, uid.DefaultConfig{Layout: small, Now: clock.now, Logger: logger})
	if id := mustNext(t, gen); id < 0 {
		t.Errorf("id %d is negative", id)
	}
	clock.step(time.Second)
	for range 3 {
		if id, err := gen.Next(); !errors.Is(err, uid.ErrTimeExhausted) {
			t.Errorf("Next() = %d, %v past the end, want ErrTimeExhausted", id, err)
		}
		clock.step(1000 * time.Hour)
	}
}
