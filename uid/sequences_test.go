package uid_test

import (
	"slices"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// even fails unless each residue modulo the powers of two up to an eighth of the
// sequences has between 0.75 and 1.3 times its share. counts says how often each sequence
// was issued.
func even(t *testing.T, counts []int64) {
	t.Helper()
	for modulus := 2; modulus <= len(counts)/8; modulus *= 2 {
		residues, total := make([]int64, modulus), int64(0)
		for i, count := range counts {
			residues[i%modulus] += count
			total += count
		}
		share := float64(total) / float64(modulus)
		if low, high := float64(slices.Min(residues))/share, float64(slices.Max(residues))/share; low < 0.75 || high > 1.3 {
			t.Errorf("modulo %d the residues have %.3f to %.3f times their share of %d ids", modulus, low, high, total)
			return
		}
	}
}

// Ids at low rates are spread evenly modulo powers of two: Default goes on with the
// sequences of the tick before, and Cached where a tick's ids were dropped for their age.
func TestIdsAreEven(t *testing.T) {
	for rate, seconds := range map[int]int{1: 24 * 60 * 60, 10: 24 * 60 * 60, 1000: 60 * 60} {
		forKinds(t, ordered, uid.CachedConfig{Layout: virtual}, func(t *testing.T, gen generator) {
			counts := make([]int64, 1<<13)
			ids := make([]uid.ID, rate)
			for range seconds {
				if n, err := gen.NextN(ids); n != rate || err != nil {
					t.Fatalf("NextN() = %d, %v at %d ids a second", n, err, rate)
				}
				for _, id := range ids {
					counts[id&(1<<13-1)]++
				}
				time.Sleep(time.Second)
			}
			t.Logf("%d ids a second", rate)
			even(t, counts)
		})
	}
}

// Processes that issue an id or two are even too: they begin at random, below half.
func TestBeginsAtRandom(t *testing.T) {
	clock := clockAt(start)
	layout := bits.Registry()
	layout.SequenceBits = 6
	for _, kind := range []string{"default", "slots"} {
		t.Run(kind, func(t *testing.T) {
			counts := make([]int64, 1<<6)
			for range 20_000 {
				gen := under(t, kind, lease.NewStatic(1), uid.CachedConfig{Layout: layout, Now: clock.now, Logger: quiet})
				sequence := parsed(t, gen, mustNext(t, gen)).Sequence
				if sequence >= 1<<5 {
					t.Fatalf("the first sequence is %d, want one below half", sequence)
				}
				counts[sequence]++
				gen.Close()
			}
			even(t, counts)
		})
	}
}
