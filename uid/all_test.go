package uid_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
)

// A loop whose body takes no time claims 1, 2, 4, … up to 1,024 ids at once.
func TestAllClaimsMoreAndMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, gen := range []generator{newCached(t, uid.CachedConfig{Layout: virtual()}), newDefault(t, uid.DefaultConfig{Layout: virtual()})} {
			var claims []int64
			n, before := int64(0), int64(0)
			for _, err := range gen.All(t.Context()) {
				if err != nil {
					t.Fatal(err)
				}
				if issued := gen.Stats().Issued; issued != before {
					claims = append(claims, issued-before)
					before = issued
				}
				if n++; n == 4000 {
					break
				}
			}
			if want := []int64{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1024, 1024}; !slices.Equal(claims, want) {
				t.Errorf("%T: claimed %d at once, want %d", gen, claims, want)
			}
			if got := gen.Stats().Issued; got != before || got-n != 95 {
				t.Errorf("%T: %d issued for %d yielded, want the rest of the claim, 95, to be a gap", gen, got, n)
			}
			gen.Close()
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
			gen := newCached(t, uid.CachedConfig{Layout: virtual()})
			n, most, before := 0, int64(0), int64(0)
			for range gen.All(t.Context()) {
				issued := gen.Stats().Issued
				most, before = max(most, issued-before), issued
				if n++; n == 1000 {
					break
				}
				time.Sleep(test.each)
			}
			if most > test.atMost || most < test.atLeast {
				t.Errorf("%v for an id: %d claimed at once, want %d to %d", test.each, most, test.atLeast, test.atMost)
			}
			gen.Close()
		})
	}
	// A body that becomes slow is followed down to one at a time.
	synctest.Test(t, func(t *testing.T) {
		gen := newCached(t, uid.CachedConfig{Layout: virtual()})
		n, claims, before := 0, int64(0), int64(0)
		for range gen.All(t.Context()) {
			if n++; n > 100 {
				time.Sleep(2 * time.Millisecond)
			}
			if issued := gen.Stats().Issued; issued != before {
				claims, before = issued-before, issued
			}
			if n == 1000 {
				break
			}
		}
		if claims != 1 {
			t.Errorf("%d claimed at once in the end, want 1", claims)
		}
		gen.Close()
	})
}

// A slow loop over Default has each id stamped when it is yielded.
func TestAllStampsThePresent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gen := newDefault(t, uid.DefaultConfig{Layout: virtual()})
		n := 0
		for id, err := range gen.All(t.Context()) {
			if parts, parsed := gen.Parse(id); err != nil || parsed != nil || !parts.Time.Equal(time.Now().UTC()) {
				t.Fatalf("%+v (%v, %v) at %v", parts, err, parsed, time.Now())
			}
			if n++; n == 100 {
				break
			}
			time.Sleep(time.Second)
		}
		gen.Close()
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
		synctest.Test(t, func(t *testing.T) {
			for _, gen := range []generator{newCached(t, uid.CachedConfig{Layout: virtual()}), newDefault(t, uid.DefaultConfig{Layout: virtual()})} {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var ids []uid.ID
				var errs []error
				for id, err := range gen.All(ctx) {
					if err != nil {
						if errs = append(errs, err); id != 0 {
							t.Errorf("%T: id %d comes with %v", gen, id, err)
						}
						continue // a body that pays no heed
					}
					if ids = append(ids, id); len(ids) == 5 { // of the claim of 4, 4 to 7
						test.end(cancel, gen)
					}
				}
				if len(errs) != 1 || !errors.Is(errs[0], test.want) {
					t.Errorf("%T, %s: the loop ended with %v, want %v once", gen, name, errs, test.want)
				}
				if len(ids) != 7 || !slices.IsSorted(ids) || gen.Stats().Issued != 7 {
					t.Errorf("%T, %s: yielded %v, want the 7 that were claimed", gen, name, ids)
				}
				for id, err := range gen.All(ctx) { // nothing is claimed any more
					if id != 0 || !errors.Is(err, test.want) || gen.Stats().Issued != 7 {
						t.Errorf("%T, %s: %d, %v of a loop that begins afterwards", gen, name, id, err)
					}
				}
				gen.Close()
			}
		})
	}
}

// The end of the layout ends a loop; a limit that time lifts is waited for.
func TestAllWaits(t *testing.T) {
	layout := bubble
	layout.TimeBits, layout.WorkerBits = 4, 35
	_, logger := recorder()
	for _, open := range []func(*testing.T) generator{
		func(t *testing.T) generator {
			return newCached(t, uid.CachedConfig{Layout: layout, MaxBorrow: 1, Logger: logger, RejectedTake: uid.Reject})
		},
		func(t *testing.T) generator { return newDefault(t, uid.DefaultConfig{Layout: layout, Logger: logger}) },
	} {
		synctest.Test(t, func(t *testing.T) {
			gen, begun, n := open(t), time.Now(), 0
			var last error
			for id, err := range gen.All(t.Context()) {
				if last = err; err == nil && id > 0 {
					n++
				}
			}
			if took := time.Since(begun); !errors.Is(last, uid.ErrTimeExhausted) || took < 15*time.Second || took > 17*time.Second || n < 31 || n > 32 {
				t.Errorf("%T: %d ids in %v, then %v, want 16 ticks' in as many seconds", gen, n, took, last)
			}
			gen.Close()
		})
	}
}

// A loop allocates neither for each id nor for each claim: 10 ids are 4 claims, 20,000
// are 29 or more. What refills the ring meanwhile counts too, and may allocate.
func TestAllDoesNotAllocate(t *testing.T) {
	forBoth(t, uid.CachedConfig{Layout: roomy}, func(t *testing.T, gen generator) {
		loop := func(n int) float64 {
			return testing.AllocsPerRun(20, func() {
				left := n
				for range gen.All(t.Context()) {
					if left--; left == 0 {
						break
					}
				}
			})
		}
		if few, many := loop(10), loop(20_000); few > 12 || many > few+12 {
			t.Errorf("a loop allocates %v times for 10 ids and %v times for 20,000, want at most 12, and 12 more", few, many)
		}
	})
}

// WaitN returns what it filled when its context ends.
func TestWaitN(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, open := range []func() generator{
			func() generator {
				return newCached(t, uid.CachedConfig{Layout: bubble, MaxBorrow: 1, RejectedTake: uid.Reject})
			},
			func() generator { return newDefault(t, uid.DefaultConfig{Layout: bubble}) },
		} {
			gen := open()
			ids := make([]uid.ID, 9)
			ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
			defer cancel()
			n, err := gen.WaitN(ctx, ids)
			if n < 5 || n > 6 || !errors.Is(err, context.DeadlineExceeded) || !slices.IsSorted(ids[:n]) || ids[0] <= 0 || ids[n] != 0 {
				t.Errorf("%T: WaitN() = %d, %v with %v, want 3 ticks' ids", gen, n, err, ids)
			}
			if s := gen.Stats(); s.Issued != int64(n) || s.RejectedTakes != 1 || s.Waited < 2*time.Second {
				t.Errorf("%T: Stats() = %+v", gen, s)
			}
			if n, err := gen.WaitN(t.Context(), ids); n != 9 || err != nil || !slices.IsSorted(ids) {
				t.Errorf("%T: WaitN() = %d, %v", gen, n, err)
			}
			if n, err := gen.WaitN(ended(), nil); n != 0 || err != nil {
				t.Errorf("%T: WaitN(nil) = %d, %v", gen, n, err)
			}
			gen.Close()
		}
	})
}
