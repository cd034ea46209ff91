package main

import (
	"context"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/internal/cacheline"
	"github.com/uidring/uidring/uid"
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
