package uid_test

import (
	"slices"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// tally counts how often each sequence was issued.
type tally struct {
	counts []int64
	total  int64
}

func newTally(sequences int64) *tally { return &tally{counts: make([]int64, sequences)} }

func (c *tally) add(sequence int64) {
	c.counts[sequence]++
	c.total++
}

// even fails unless each residue modulo the powers of two up to an eighth of the
// sequences has between 0.75 and 1.3 times its share.
func (c *tally) even(t *testing.T) {
	t.Helper()
	for modulus := 2; modulus <= len(c.counts)/8; modulus *= 2 {
		residues := make([]int64, modulus)
		for i, count := range c.counts {
			residues[i%modulus] += count
		}
		share := float64(c.total) / float64(modulus)
		if low, high := float64(slices.Min(residues))/share, float64(slices.Max(residues))/share; low < 0.75 || high > 1.3 {
			t.Errorf("modulo %d the residues have %.3f to %.3f times their share of %d ids", modulus, low, high, c.total)
			return
		}
	}
}

// Ids at low rates are spread evenly modulo powers of two: Default goes on with the
// sequences of the tick before, and Cached where a tick's ids were dropped for their age.
func TestIdsAreEven(t *testing.T) {
	for rate, seconds := range map[int]int{1: 24 * 60 * 60, 10: 24 * 60 * 60, 1000: 60 * 60} {
		forKinds(t, ordered, uid.CachedConfig{Layout: virtual}, func(t *testing.T, gen generator) {
			sequences := newTally(1 << 13)
			ids := make([]uid.ID, rate)
			for range seconds {
				if n, err := gen.NextN(ids); n != rate || err != nil {
					t.Fatalf("NextN() = %d, %v at %d ids a second", n, err, rate)
				}
				for _, id := range ids {
					sequences.add(int64(id) & (1<<13 - 1))
				}
				time.Sleep(time.Second)
			}
			t.Logf("%d ids a second", rate)
			sequences.even(t)
		})
	}
}

// Processes that issue an id or two are even too: they begin at a random place
// below half.
func TestBeginsAtRandom(t *testing.T) {
	clock := clockAt(start)
	layout := bits.Default()
	layout.SequenceBits = 6
	for _, kind := range []string{"default", "slots"} {
		t.Run(kind, func(t *testing.T) {
			sequences := newTally(1 << 6)
			for range 20_000 {
				gen := under(t, kind, uid.StaticWorker(1), uid.CachedConfig{Layout: layout, Now: clock.now, Logger: quiet})
				sequence := parsed(t, gen, mustNext(t, gen)).Sequence
				if sequence >= 1<<5 {
					t.Fatalf("the first sequence is %d, want one below half", sequence)
				}
				sequences.add(sequence)
				gen.Close()
			}
			sequences.even(t)
		})
	}
}
