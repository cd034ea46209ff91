package uid_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// tally counts how often each sequence was issued. Batches are noted by their
// ends, so that a day of them is quick.
type tally struct {
	changes []int64 // of the count, from each sequence on
	total   int64
}

func newTally(sequences int64) *tally { return &tally{changes: make([]int64, sequences+1)} }

func (c *tally) add(first, n int64) {
	c.changes[first]++
	c.changes[first+n]--
	c.total += n
}

// even fails unless each residue modulo the powers of two up to an eighth of the
// sequences has between 0.75 and 1.3 times its share.
func (c *tally) even(t *testing.T) {
	t.Helper()
	counts := make([]int64, len(c.changes)-1)
	for i, count := int64(0), int64(0); i < int64(len(counts)); i++ {
		count += c.changes[i]
		counts[i] = count
	}
	for modulus := 2; modulus <= len(counts)/8; modulus *= 2 {
		residues := make([]int64, modulus)
		for i, count := range counts {
			residues[i%modulus] += count
		}
		share := float64(c.total) / float64(modulus)
		if low, high := float64(slices.Min(residues))/share, float64(slices.Max(residues))/share; low < 0.75 || high > 1.3 {
			t.Errorf("modulo %d the residues have %.3f to %.3f times their share of %d ids", modulus, low, high, c.total)
			return
		}
	}
}

// Ids at low rates are spread evenly modulo powers of two.
func TestDefaultIsEven(t *testing.T) {
	for _, rate := range []int{1, 10, 1000} {
		clock := clockAt(start)
		gen := newDefault(t, uid.DefaultConfig{Now: clock.now})
		sequences := newTally(1 << 13)
		ids := make([]uid.ID, rate)
		for range 24 * 60 * 60 {
			if n, err := gen.NextN(ids); n != rate || err != nil {
				t.Fatalf("NextN() = %d, %v at %d ids a second", n, err, rate)
			}
			parts, _ := gen.Parse(ids[0])
			sequences.add(parts.Sequence, int64(rate))
			clock.step(time.Second)
		}
		t.Logf("%d ids a second", rate)
		sequences.even(t)
	}
}

// Processes that issue an id or two are even too: they begin at a random place
// below half.
func TestBeginsAtRandom(t *testing.T) {
	clock := clockAt(start)
	layout := bits.Default()
	layout.SequenceBits = 6
	for name, open := range map[string]func() generator{
		"Default": func() generator { return newDefault(t, uid.DefaultConfig{Layout: layout, Now: clock.now}) },
		"Slots": func() generator {
			return newSlots(t, uid.StaticWorker(1), uid.SlotsConfig{Layout: layout, Slots: 1, Now: clock.now})
		},
	} {
		t.Run(name, func(t *testing.T) {
			sequences := newTally(1 << 6)
			for range 20_000 {
				gen := open()
				parts, err := gen.Parse(mustNext(t, gen))
				if err != nil || parts.Sequence >= 1<<5 {
					t.Fatalf("the first id is %+v (%v), want a sequence below half", parts, err)
				}
				sequences.add(parts.Sequence, 1)
				gen.Close()
			}
			sequences.even(t)
		})
	}
}

// A tick that follows a full one offers all its sequences, and any other at least
// half of them.
func TestDefaultOffersHalf(t *testing.T) {
	clock := clockAt(start)
	layout := bits.Default()
	layout.SequenceBits = 4
	gen := newDefault(t, uid.DefaultConfig{Layout: layout, Now: clock.now})
	used := int64(0)
	for n := range 200 {
		ids := make([]uid.ID, n%17+1)
		got, _ := gen.WaitN(ended(), ids)
		parts, err := gen.Parse(ids[0])
		if err != nil || got < min(len(ids), 8) {
			t.Fatalf("%d ids, want %d, or 8 or more (%v)", got, len(ids), err)
		}
		if used == 16 && (got < min(len(ids), 16) || parts.Sequence != 0) {
			t.Fatalf("%d ids from sequence %d on in a tick that follows a full one", got, parts.Sequence)
		}
		used = parts.Sequence + int64(got)
		clock.step(time.Second)
	}
}

// Cached goes on where a tick's ids were dropped for their age.
func TestCachedIsEven(t *testing.T) {
	for _, test := range []struct{ rate, seconds int }{{1, 24 * 60 * 60}, {10, 24 * 60 * 60}, {1000, 60 * 60}} {
		synctest.Test(t, func(t *testing.T) {
			layout := bits.Default()
			layout.Epoch = bubble.Epoch
			gen := newCached(t, uid.CachedConfig{Layout: layout})
			sequences := newTally(1 << 13)
			ids := make([]uid.ID, test.rate)
			for range test.seconds {
				if n, err := gen.NextN(ids); n != test.rate || err != nil {
					t.Fatalf("NextN() = %d, %v at %d ids a second", n, err, test.rate)
				}
				for _, id := range ids {
					sequences.add(int64(id)&(1<<13-1), 1)
				}
				time.Sleep(time.Second)
			}
			t.Logf("%d ids a second", test.rate)
			sequences.even(t)
			gen.Close()
		})
	}
}
