package main

import (
	"context"
	"runtime"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/uid"
)

// footprint measures what a cached generator of the default layout and this BoostPower
// keeps on the heap. The stack of its goroutine is left out: the runtime passes stacks on
// from goroutine to goroutine.
type footprint int

// Units of footprints.
const (
	heapBytes      = "heap, bytes"
	heapBytesPerID = "heap, bytes an id"
)

// slots is how many ids the ring holds.
func slots(power int) int { return 8192 << power }

// generators are measured together, so that the runtime's own allocations hardly count.
const generators = 16

// Sample implements bench.Task. It uses a ring for two laps first: a ring may keep
// more once it was used.
func (f footprint) Sample(context.Context) (sample []bench.Figure, err error) {
	power := int(f)
	var ids [bench.Batch]uid.ID
	kept := make([]*uid.Cached, generators)
	before := live()
	for i := range kept {
		if kept[i], err = bench.NewCached(bits.Default(), power); err != nil {
			return nil, err
		}
		defer kept[i].Close()
		for range 2 * slots(power) / len(ids) {
			if _, err := kept[i].NextN(ids[:]); err != nil {
				return nil, err
			}
		}
	}
	heap := max(live()-before, 0) / generators
	return []bench.Figure{
		bench.Of(boostName(power), bench.Setting{}, heapBytes, heap),
		bench.Of(boostName(power), bench.Setting{}, heapBytesPerID, heap/float64(slots(power))),
	}, nil
}

// live returns the bytes of the heap in use. It collects twice: the second cycle frees what
// the first one finalizes or takes out of a pool.
func live() float64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}
