package main

import (
	"context"
	"slices"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/internal/cacheline"
	"github.com/uidring/uidring/uid"
)

// find returns the subject of package bench with a name.
func find(name string) bench.Subject {
	subjects := append(bench.Floors(), bench.Ours(bits.Default(), uid.DefaultBoostPower)...)
	return subjects[slices.IndexFunc(subjects, func(s bench.Subject) bool { return s.Name == name })]
}

const (
	noTime     = "no time, no worker, starts again from 0 with the process"
	cachedCap  = "8,192 / s in the long run; a burst runs ahead of the clock, by `MaxBorrow` at most"
	cachedLess = "a stamp of the moment: it is of the second that the id was reserved for; needs a worker number"
	cachedAs   = "default layout 28/22/13, BoostPower 3, PaddingFactor 50, MaxBorrow unbounded"
	ownCap     = "8,192 / s with the default layout, where it waits; 2^31 / s with the one measured"
	ownLess    = "speed, for a stamp of the moment of the call; needs a worker number"
	ownAs      = "layout 31/1/31, so that its own cost is measured and not the wait for the next second"
)

var (
	add = impl{Subject: find(bench.Add), Package: "a padded `atomic.Int64`, `Add(1)`",
		Kind: floor, Cap: "none", GivesUp: noTime, Scales: true}
	called = impl{Subject: find(bench.Called), Package: "the same add behind a call that is not inlined",
		Kind: floor, Cap: "none", GivesUp: noTime}
	now = impl{Subject: find(bench.Now), Package: "`time.Now()` alone",
		Kind: floor, Cap: "none", GivesUp: "not an id: what reading the clock costs on this machine", ReadsClock: true}

	cachedNext = impl{Subject: find(bench.CachedNext), Package: "uidring `uid.Cached`, `Next`",
		Kind: ours, Cap: cachedCap, GivesUp: cachedLess, Setup: cachedAs, Bars: nextBars, Scales: true}
	cachedNextN = impl{Subject: find(bench.CachedNextN), Package: "uidring `uid.Cached`, `NextN` of 256",
		Kind: ours, Cap: cachedCap, GivesUp: cachedLess, Setup: cachedAs, Bars: nextNBars}
	cachedWaitN = impl{Subject: find(bench.CachedWaitN), Package: "uidring `uid.Cached`, `WaitN` of 256",
		Kind: ours, Cap: cachedCap, GivesUp: cachedLess, Setup: cachedAs, Bars: nextNBars}
	cachedAll = impl{Subject: find(bench.CachedAll), Package: "uidring `uid.Cached`, a loop over `All`",
		Kind: ours, Cap: cachedCap, GivesUp: "order between loops; " + cachedLess, Setup: cachedAs, Bars: allBars, Flat: true, Scales: true}
	defaultNext = impl{Subject: find(bench.DefaultNext), Package: "uidring `uid.Default`, `Next`",
		Kind: ours, Cap: ownCap, GivesUp: ownLess, Setup: ownAs, Bars: clockBars, Scales: true, ReadsClock: true}
	defaultNextN = impl{Subject: find(bench.DefaultNextN), Package: "uidring `uid.Default`, `NextN` of 256",
		Kind: ours, Cap: ownCap, GivesUp: ownLess, Setup: ownAs}
	defaultAll = impl{Subject: find(bench.DefaultAll), Package: "uidring `uid.Default`, a loop over `All`",
		Kind: ours, Cap: ownCap, GivesUp: "order between loops; " + ownLess, Setup: ownAs}
	slotsNext = impl{Subject: find(bench.SlotsNext), Package: "uidring `uid.Slots`, `Next`",
		Kind: ours, Cap: ownCap, GivesUp: "order, for a clock that may step back; " + ownLess, Setup: ownAs + ", 256 slots", Bars: slotsBars, ReadsClock: true}
)

// few is how many ids a small batch has.
const few = 16

// The floor of batches, and the calls of Cached that the command's bench leaves out.
var (
	fill = impl{Subject: bench.Subject{Name: "atomic add and a fill of 256", Open: func() (*bench.Instance, error) {
		counter := new(cacheline.Int64)
		return &bench.Instance{PerCall: bench.Batch, Loop: func(n int) (uint64, error) {
			var ids [bench.Batch]uid.ID
			return bench.Repeat(n, func() (uint64, error) { return fillByEight(counter, ids[:]), nil })
		}}, nil
	}}, Package: "one add for 256 ids, and a loop that writes them, eight at a time", Kind: floor, Cap: "none", GivesUp: noTime}

	cachedWait = impl{Subject: bench.Generator("Cached.Wait", 1, openCached, func(gen *uid.Cached, n int) (uint64, error) {
		ctx := context.Background()
		return bench.Repeat(n, func() (uint64, error) { id, err := gen.Wait(ctx); return uint64(id), err })
	}), Package: "uidring `uid.Cached`, `Wait`", Kind: ours, Cap: cachedCap, GivesUp: cachedLess, Setup: cachedAs,
		Bars: []limit{{false, 1.5, bench.CachedNext}, {true, 1.5, bench.CachedNext}}}

	cachedFew = impl{Subject: bench.Generator("Cached.NextN(16)", few, openCached, func(gen *uid.Cached, n int) (uint64, error) {
		var ids [few]uid.ID
		return bench.Repeat(n, func() (uint64, error) { _, err := gen.NextN(ids[:]); return uint64(ids[few-1]), err })
	}), Package: "uidring `uid.Cached`, `NextN` of 16", Kind: ours, Cap: cachedCap, GivesUp: cachedLess, Setup: cachedAs,
		Bars: []limit{{false, 0.35, bench.Add}, {true, 0.35, bench.Add}}}
)

// fillByEight writes consecutive ids, eight at a time: the least work of a batch.
//
//go:noinline
func fillByEight(counter *cacheline.Int64, ids []uid.ID) uint64 {
	last := uid.ID(counter.Add(int64(len(ids))))
	for first := last - uid.ID(len(ids)) + 1; len(ids) >= 8; first, ids = first+8, ids[8:] {
		eight := (*[8]uid.ID)(ids)
		eight[0], eight[1], eight[2], eight[3] = first, first+1, first+2, first+3
		eight[4], eight[5], eight[6], eight[7] = first+4, first+5, first+6, first+7
	}
	return uint64(last)
}

func openCached() (*uid.Cached, error) { return bench.NewCached(bits.Default(), uid.DefaultBoostPower) }
