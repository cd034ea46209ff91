package uid_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
)

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
		if _, err := gen.Claim(t.Context(), 1); !errors.Is(err, uid.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// With a context that has ended, Claim returns what is ready at once. Finding nothing is no
// failed call then; a wait that ends is one.
func TestClaimReady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, gen := range []generator{
			newCached(t, uid.CachedConfig{Layout: virtual, MaxBorrow: time.Second}), newDefault(t, uid.DefaultConfig{Layout: virtual}),
			newSlots(t, uid.StaticWorker(1), uid.SlotsConfig{Layout: virtual, Slots: 1}),
		} {
			began, total := time.Now(), int64(0)
			run, err := gen.Claim(ended(), 1<<40)
			for ; err == nil; run, err = gen.Claim(ended(), 1<<40) {
				total += run.N
			}
			if took := time.Since(began); total == 0 || took != 0 || !errors.Is(err, context.Canceled) {
				t.Errorf("%T: %d ids and %v after %v", gen, total, err, took)
			}
			if s := gen.Stats(); s.RejectedTakes != 0 || s.Issued != total {
				t.Errorf("%T: %d issued and %d failed, want %d and none", gen, s.Issued, s.RejectedTakes, total)
			}
			if run, err = gen.Claim(t.Context(), 5); err != nil || run.N == 0 || time.Since(began) == 0 {
				t.Errorf("%T: the wait returns %v, %v after %v", gen, run, err, time.Since(began))
			}
			for err = nil; err == nil; _, err = gen.Claim(ended(), 1<<40) {
			}
			short, cancel := context.WithTimeout(t.Context(), time.Microsecond)
			if _, err = gen.Claim(short, 5); !errors.Is(err, context.DeadlineExceeded) || gen.Stats().RejectedTakes != 1 {
				t.Errorf("%T: the wait that ends returns %v, %d failed", gen, err, gen.Stats().RejectedTakes)
			}
			cancel()
		}
	})
}
