package main

import (
	"fmt"
	"runtime"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/bench"
	"github.com/uidring/uidring/uid"
)

// footprint is what a cached generator keeps on the heap, in bytes. The stack of
// its goroutine is left out: the runtime hands stacks on from goroutine to
// goroutine, so there is no telling whose is whose.
type footprint struct {
	Layout string
	Boost  int
	Slots  int    // ids in the ring
	Heap   series // the greater of just started and after two laps
}

func (f *footprint) bytesPerID() float64 { return f.Heap.median() / float64(f.Slots) }

// generators are measured together, so that what the runtime itself allocates
// meanwhile hardly counts.
const generators = 64

// sample measures generators that are idle, the ring full, and again after two
// laps, as a ring may well keep more once it has been used.
func (f *footprint) sample(layout bits.Layout) (err error) {
	f.Slots = 1 << layout.SequenceBits << f.Boost
	kept := make([]*uid.Cached, generators)
	before := live()
	for i := range kept {
		if kept[i], err = bench.OpenCached(layout, f.Boost); err != nil {
			return fmt.Errorf("memory: %w", err)
		}
	}
	started := live()
	for _, gen := range kept {
		if _, err := bench.CachedInstance(gen).Batch(2 * f.Slots); err != nil {
			return fmt.Errorf("memory: %w", err)
		}
	}
	used := live()
	heap := float64(max(started.HeapAlloc, used.HeapAlloc)) - float64(before.HeapAlloc)
	f.Heap = append(f.Heap, max(heap, 0)/generators)
	for _, gen := range kept {
		if err := gen.Close(); err != nil {
			return fmt.Errorf("memory: %w", err)
		}
	}
	return nil
}

// live collects twice: what a first cycle finalizes or takes out of a pool, a
// second one frees.
func live() (stats runtime.MemStats) {
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats
}
