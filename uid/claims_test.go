package uid_test

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// loopOver draws n ids in a loop whose body takes as long as each says, and returns how
// many ids were claimed at once.
func loopOver(t *testing.T, gen generator, n int, each func(drawn int) time.Duration) (claims []int64) {
	t.Helper()
	drawn, before := 0, int64(0)
	for _, err := range gen.All(t.Context()) {
		need.Must(t, err)
		if issued := gen.Stats().Issued; issued != before {
			claims = append(claims, issued-before)
			before = issued
		}
		if drawn++; drawn == n {
			break
		}
		time.Sleep(each(drawn))
	}
	return claims
}

// A loop whose body takes no time claims 1, 2, 4, … up to 1,024 ids at once.
func TestAllClaimsMoreAndMore(t *testing.T) {
	forKinds(t, all, uid.CachedConfig{Layout: virtual}, func(t *testing.T, gen generator) {
		claims := loopOver(t, gen, 4000, func(int) time.Duration { return 0 })
		if want := []int64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024}; !slices.Equal(claims, want) {
			t.Errorf("claimed %d at once, want %d", claims, want)
		}
		if got := gen.Stats().Issued; got != 4095 {
			t.Errorf("%d issued for 4000 yielded, want the rest of the claim, 95, to be a gap", got)
		}
	})
}

// A loop claims no more at once than its body uses in about a millisecond.
func TestAllClaimsNoMoreThanAMillisecond(t *testing.T) {
	for _, test := range []struct {
		each    time.Duration
		atMost  int64 // at once
		atLeast int64 // ids claimed at once, at some time
	}{
		{2 * time.Millisecond, 1, 1},
		{time.Millisecond, 1, 1},
		{400 * time.Microsecond, 4, 2},
		{10 * time.Microsecond, 128, 64},
	} {
		synctest.Test(t, func(t *testing.T) {
			claims := loopOver(t, newCached(t, uid.CachedConfig{Layout: virtual}), 1000, func(int) time.Duration { return test.each })
			if most := slices.Max(claims); most > test.atMost || most < test.atLeast {
				t.Errorf("%v for an id: %d claimed at once, want %d to %d", test.each, most, test.atLeast, test.atMost)
			}
		})
	}
	// A body that becomes slow is followed down to one at a time.
	synctest.Test(t, func(t *testing.T) {
		claims := loopOver(t, newCached(t, uid.CachedConfig{Layout: virtual}), 1000, func(drawn int) time.Duration {
			if drawn < 100 {
				return 0
			}
			return 2 * time.Millisecond
		})
		if last := claims[len(claims)-1]; last != 1 || slices.Max(claims) < 32 {
			t.Errorf("%d claimed at once, want 1 in the end", claims)
		}
	})
}

// What ends a loop comes with id 0, behind all that was claimed, and is the last
// that the loop yields.
func TestAllEnds(t *testing.T) {
	for name, test := range map[string]struct {
		end  func(cancel func(), gen generator)
		want error
	}{
		"context": {func(cancel func(), _ generator) { cancel() }, context.Canceled},
		"Close":   {func(_ func(), gen generator) { gen.Close() }, uid.ErrClosed},
	} {
		forKinds(t, all, uid.CachedConfig{Layout: virtual}, func(t *testing.T, gen generator) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var ids []uid.ID
			var errs []error
			for id, err := range gen.All(ctx) {
				if err != nil {
					if errs = append(errs, err); id != 0 {
						t.Errorf("id %d comes with %v", id, err)
					}
					continue // a body that pays no heed
				}
				if ids = append(ids, id); len(ids) == 5 { // of the claim of 4, 4 to 7
					test.end(cancel, gen)
				}
			}
			if len(errs) != 1 || !errors.Is(errs[0], test.want) {
				t.Errorf("%s: the loop ended with %v, want %v once", name, errs, test.want)
			}
			if len(ids) != 7 || !slices.IsSorted(ids) || gen.Stats().Issued != 7 {
				t.Errorf("%s: yielded %v, want the 7 that were claimed", name, ids)
			}
			for id, err := range gen.All(ctx) { // nothing is claimed any more
				if id != 0 || !errors.Is(err, test.want) || gen.Stats().Issued != 7 {
					t.Errorf("%s: %d, %v of a loop that begins afterwards", name, id, err)
				}
			}
		})
	}
}

// The end of the layout ends a loop; a limit that time lifts is waited for.
func TestAllWaits(t *testing.T) {
	layout := bubble
	layout.TimeBits, layout.WorkerBits = 4, 35
	forKinds(t, ordered, uid.CachedConfig{Layout: layout, MaxBorrow: uid.None, Logger: quiet, RejectedTake: uid.PolicyReject}, func(t *testing.T, gen generator) {
		begun, n := time.Now(), 0
		var last error
		for id, err := range gen.All(t.Context()) {
			if last = err; err == nil && id > 0 {
				n++
			}
		}
		if took := time.Since(begun); !errors.Is(last, uid.ErrTimeExhausted) || took < 15*time.Second || took > 17*time.Second || n < 31 || n > 32 {
			t.Errorf("%d ids in %v, then %v, want 16 ticks' in as many seconds", n, took, last)
		}
	})
}

// A loop allocates neither for each id nor for each claim: 10 ids are 4 claims, 20,000
// are 29 or more. What refills the ring meanwhile counts too, and may allocate.
func TestAllDoesNotAllocate(t *testing.T) {
	for _, kind := range all {
		gen := under(t, kind, lease.NewStatic(1), uid.CachedConfig{Layout: roomy, Logger: quiet})
		loop := func(n int) float64 {
			ids := make([]uid.ID, n)
			return testing.AllocsPerRun(20, func() { _, _ = calls["All"](t.Context(), gen, ids) })
		}
		if few, many := loop(10), loop(20_000); few > 12 || many > few+12 {
			t.Errorf("%s: a loop allocates %v times for 10 ids and %v times for 20,000, want at most 12, and 12 more", kind, few, many)
		}
	}
}

// WaitN returns what it filled when its context ends.
func TestWaitN(t *testing.T) {
	forKinds(t, ordered, uid.CachedConfig{Layout: bubble, MaxBorrow: uid.None, RejectedTake: uid.PolicyReject}, func(t *testing.T, gen generator) {
		ids := make([]uid.ID, 9)
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		n, err := gen.WaitN(ctx, ids)
		if n < 5 || n > 6 || !errors.Is(err, context.DeadlineExceeded) || !slices.IsSorted(ids[:n]) || ids[0] <= 0 || ids[n] != 0 {
			t.Errorf("WaitN() = %d, %v with %v, want 3 ticks' ids", n, err, ids)
		}
		if s := gen.Stats(); s.Issued != int64(n) || s.RejectedTakes != 1 || s.Waited != 2500*time.Millisecond {
			t.Errorf("Stats() = %+v", s)
		}
		if n, err := gen.WaitN(t.Context(), ids); n != 9 || err != nil || !slices.IsSorted(ids) {
			t.Errorf("WaitN() = %d, %v", n, err)
		}
		if n, err := gen.WaitN(ended(), nil); n != 0 || err != nil {
			t.Errorf("WaitN(nil) = %d, %v", n, err)
		}
	})
}

// Claim returns consecutive ids, never more than limit, and in the order of the generator.
func TestClaim(t *testing.T) {
	forKinds(t, all, uid.CachedConfig{Layout: virtual}, func(t *testing.T, gen generator) {
		claimed, last := int64(0), uid.ID(0)
		for _, limit := range []int64{1, 2, 3, 1000, 1 << 40} {
			run, err := gen.Claim(t.Context(), limit)
			if err != nil || run.N < 1 || run.N > limit || run.First <= last {
				t.Fatalf("Claim(%d) after %d = %v, %v", limit, last, run, err)
			}
			claimed += run.N
			last = run.First + uid.ID(run.N) - 1
			first := parsed(t, gen, run.First)
			if end := parsed(t, gen, last); end.Worker != first.Worker || end.Sequence-first.Sequence > run.N {
				t.Errorf("the run %v ends with %+v", run, end)
			}
		}
		if issued := gen.Stats().Issued; issued != claimed {
			t.Errorf("%d issued, %d claimed", issued, claimed)
		}
		for _, limit := range []int64{0, -1} {
			if run, err := gen.Claim(t.Context(), limit); !errors.Is(err, uid.ErrConfig) || run.N != 0 {
				t.Errorf("Claim(%d) = %v, %v", limit, run, err)
			}
		}
		gen.Close()
		_, err := gen.Claim(t.Context(), 1)
		need.Error(t, err, uid.ErrClosed)
	})
}

// TryClaim returns what is ready at once. Finding nothing is not counted as a failed call; a
// wait that ends is.
func TestTryClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, gen := range []generator{
			newCached(t, uid.CachedConfig{Layout: virtual, MaxBorrow: time.Second}), newDefault(t, uid.DefaultConfig{Layout: virtual}),
			newSlots(t, lease.NewStatic(1), uid.SlotsConfig{Layout: virtual, Slots: 1}),
		} {
			began, total := time.Now(), int64(0)
			run, err := gen.TryClaim(1 << 40)
			for ; err == nil; run, err = gen.TryClaim(1 << 40) {
				total += run.N
			}
			if took := time.Since(began); total == 0 || took != 0 || !errors.Is(err, uid.ErrNotReady) {
				t.Errorf("%T: %d ids and %v after %v", gen, total, err, took)
			}
			if s := gen.Stats(); s.RejectedTakes != 0 || s.Starved != 0 || s.Issued != total {
				t.Errorf("%T: %d issued, %d failed and %d starved, want %d, none and none", gen, s.Issued, s.RejectedTakes, s.Starved, total)
			}
			if run, err = gen.Claim(t.Context(), 5); err != nil || run.N == 0 || time.Since(began) == 0 {
				t.Errorf("%T: the wait returns %v, %v after %v", gen, run, err, time.Since(began))
			}
			for err = nil; err == nil; _, err = gen.TryClaim(1 << 40) {
			}
			short, cancel := context.WithTimeout(t.Context(), time.Microsecond)
			if _, err = gen.Claim(short, 5); !errors.Is(err, context.DeadlineExceeded) || gen.Stats().RejectedTakes != 1 {
				t.Errorf("%T: the wait that ends returns %v, %d failed", gen, err, gen.Stats().RejectedTakes)
			}
			cancel()
			gen.Close()
			_, err = gen.TryClaim(1)
			need.Error(t, err, uid.ErrClosed)
			_, err = gen.TryClaim(0)
			need.Error(t, err, uid.ErrConfig)
		}
	})
}

// A wait for room lasts until the next tick, and reads the clock a few times.
func TestWaitsForTheNextTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var readings atomic.Int64
		now := func() time.Time { readings.Add(1); return time.Now() }
		for _, gen := range []generator{
			newCached(t, uid.CachedConfig{Layout: bubble, MaxBorrow: uid.None, Now: now}), newDefault(t, uid.DefaultConfig{Layout: bubble, Now: now}),
			newSlots(t, lease.NewStatic(1), uid.SlotsConfig{Layout: bubble, Slots: 1, Now: now}),
		} {
			time.Sleep(10 * time.Second)
			for err := error(nil); err == nil; {
				_, err = gen.TryClaim(1000)
			}
			time.Sleep(300 * time.Millisecond)
			readings.Store(0)
			begun := time.Now()
			if _, err := gen.Wait(t.Context()); err != nil || time.Since(begun) != 700*time.Millisecond || readings.Load() > 10 {
				t.Errorf("%T: Wait() = %v after %v and %d readings of the clock, want an id after 700ms", gen, err, time.Since(begun), readings.Load())
			}
		}
	})
}
