package main

import (
	"context"
	"runtime"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/measure"
	"github.com/uidring/uidring/uid"
)

// footprint is what a cached generator of the default layout keeps on the heap, in
// bytes. The stack of its goroutine is left out: the runtime passes stacks on from
// goroutine to goroutine.
type footprint struct {
	Boost int
	Heap  measure.Series
}

// slots is how many ids the ring holds.
func (f *footprint) slots() int { return 8192 << f.Boost }

// generators is how many are measured together, so that the runtime's own allocations
// hardly count.
const generators = 16

// Sample implements measure.Task. It uses a ring for two laps first: a ring may keep
// more once it was used.
func (f *footprint) Sample(context.Context) (keep func(), err error) {
	var ids [measure.Batch]uid.ID
	kept := make([]*uid.Cached, generators)
	before := live()
	for i := range kept {
		if kept[i], err = measure.NewCached(bits.Default(), f.Boost); err != nil {
			return nil, err
		}
		defer kept[i].Close()
		for range 2 * f.slots() / len(ids) {
			if _, err := kept[i].NextN(ids[:]); err != nil {
				return nil, err
			}
		}
	}
	heap := live() - before
	return func() { f.Heap = append(f.Heap, max(heap, 0)/generators) }, nil
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
