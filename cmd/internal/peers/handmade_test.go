package main

import "testing"

// At overload, with a unit that passes every few readings of the clock, the lock as
// published issues the first id of a unit twice. Mended, and by compare-and-swap, it
// does not.
func TestVestaLockRepeats(t *testing.T) {
	clock := func() func() int64 {
		readings := int64(0)
		return func() int64 { readings++; return readings / 20 }
	}
	for _, test := range []struct {
		name    string
		next    func() uint64
		repeats bool
	}{
		{"lock, as published", (&vestaLock{now: clock(), bits: 3}).next, true},
		{"lock, mended", (&vestaLock{now: clock(), bits: 3, stores: true}).next, false},
		{"compare-and-swap", (&vestaCAS{now: clock(), bits: 3}).next, false},
	} {
		seen, repeats := map[uint64]bool{}, 0
		for range 10_000 {
			id := test.next()
			if seen[id] {
				repeats++
			}
			seen[id] = true
		}
		if (repeats > 0) != test.repeats {
			t.Errorf("%s: %d of 10,000 ids repeat, want repeats: %v", test.name, repeats, test.repeats)
		}
	}
}
