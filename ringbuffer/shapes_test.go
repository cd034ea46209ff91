package ringbuffer_test

import (
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/uidring/uidring/internal/cacheline"
	"github.com/uidring/uidring/ringbuffer"
)

// The other shapes that the hot path could have had. Each is built far enough to
// be measured against the ring, and is correct as far as that goes: one filler at
// a time, capacity fixed.

// slotsJava is the shape of the original: one id a slot, slots and their flags
// padded to cache lines of their own, both ends advanced by compare-and-swap.
type slotsJava struct {
	tail, cursor cacheline.Int64
	slots        []cacheline.Int64
	flags        []cacheline.Int64 // 1: the slot may be taken
	filling      sync.Mutex
	next         int64
}

func newSlotsJava(capacity int) *slotsJava {
	return &slotsJava{slots: make([]cacheline.Int64, capacity), flags: make([]cacheline.Int64, capacity)}
}

func (r *slotsJava) take() int64 {
	for {
		at := r.cursor.Load()
		if at == r.tail.Load() {
			r.fill()
			continue
		}
		i := at & int64(len(r.slots)-1)
		id := r.slots[i].Load()
		if r.flags[i].Load() == 1 && r.cursor.CompareAndSwap(at, at+1) {
			r.flags[i].Store(0)
			return id
		}
	}
}

func (r *slotsJava) fill() {
	r.filling.Lock()
	defer r.filling.Unlock()
	for at := r.tail.Load(); at-r.cursor.Load() < int64(len(r.slots)); at++ {
		i := at & int64(len(r.slots)-1)
		if r.flags[i].Load() == 1 {
			break // its taker has not cleared it yet
		}
		r.slots[i].Store(r.next)
		r.next++
		r.flags[i].Store(1)
		r.tail.Store(at + 1)
	}
}

// slotsCompact is one id a slot without padding or flags: read, then claim by
// compare-and-swap, which fails if the slot may have been used again.
type slotsCompact struct {
	tail, cursor cacheline.Int64
	slots        []atomic.Int64
	filling      sync.Mutex
	next         int64
}

func (r *slotsCompact) take() int64 {
	for {
		at := r.cursor.Load()
		if at == r.tail.Load() {
			r.fill()
			continue
		}
		id := r.slots[at&int64(len(r.slots)-1)].Load()
		if r.cursor.CompareAndSwap(at, at+1) {
			return id
		}
	}
}

func (r *slotsCompact) fill() {
	r.filling.Lock()
	defer r.filling.Unlock()
	at := r.tail.Load()
	for ; at-r.cursor.Load() < int64(len(r.slots)); at++ {
		r.slots[at&int64(len(r.slots)-1)].Store(r.next)
		r.next++
	}
	r.tail.Store(at)
}

// claimFirst is the ring's own shape with the two steps the other way round: the
// claim before the span is loaded. A claim is then void when the span has changed
// in between, so ids get lost.
type claimFirst struct {
	position cacheline.Int64
	current  atomic.Pointer[claimSpan]
	_        cacheline.Pad
	mu       sync.Mutex
	next     int64
	runLen   int64
}

type claimSpan struct{ pos, n, first int64 }

func newClaimFirst(runLen int64) *claimFirst {
	r := &claimFirst{runLen: runLen}
	r.current.Store(&claimSpan{})
	return r
}

func (r *claimFirst) take() int64 {
	at := r.position.Add(1) - 1
	s := r.current.Load()
	if i := at - s.pos; uint64(i) < uint64(s.n) {
		return s.first + i
	}
	return r.takeSlow()
}

func (r *claimFirst) takeSlow() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.current.Load()
	at := r.position.Add(1) - 1
	if i := at - s.pos; i < s.n {
		return s.first + i
	}
	s = &claimSpan{at, r.runLen, r.next}
	r.next += r.runLen
	r.current.Store(s)
	return s.first
}

// BenchmarkShape compares the shapes, each with room for 65,536 ids and with its
// takers filling it. The figures in the package documentation are from here:
//
//	go test ./ringbuffer -run '^$' -bench Shape -count 8
func BenchmarkShape(b *testing.B) {
	const capacity, runLen = 65536, 8192
	for _, shape := range []struct {
		name string
		make func() func(n int)
	}{
		{"atomic-add", func() func(int) {
			var n cacheline.Int64
			return func(k int) {
				for range k {
					n.Add(1)
				}
			}
		}},
		{"slots-java", func() func(int) {
			r := newSlotsJava(capacity)
			return func(k int) {
				for range k {
					r.take()
				}
			}
		}},
		{"slots-compact", func() func(int) {
			r := &slotsCompact{slots: make([]atomic.Int64, capacity)}
			return func(k int) {
				for range k {
					r.take()
				}
			}
		}},
		{"claim-first", func() func(int) {
			r := newClaimFirst(runLen)
			return func(k int) {
				for range k {
					r.take()
				}
			}
		}},
		{"ring", func() func(int) {
			r := ringOfRuns(b, capacity, runLen)
			return func(k int) {
				for range k {
					r.Take()
				}
			}
		}},
		{"ring-of-short-runs", func() func(int) {
			r := ringOfRuns(b, capacity, 64)
			return func(k int) {
				for range k {
					r.Take()
				}
			}
		}},
	} {
		for _, goroutines := range []int{1, runtime.GOMAXPROCS(0)} {
			b.Run(fmt.Sprintf("shape=%s/goroutines=%d", shape.name, goroutines), func(b *testing.B) {
				b.ReportAllocs()
				work := shape.make()
				b.ResetTimer()
				var wg sync.WaitGroup
				for range goroutines - 1 {
					wg.Go(func() { work(b.N / goroutines) })
				}
				work(b.N / goroutines)
				wg.Wait()
			})
		}
	}
}

func ringOfRuns(b *testing.B, capacity, runLen int64) *ringbuffer.Ring {
	var mu sync.Mutex
	var next int64
	var r *ringbuffer.Ring
	r = mustNew(b, ringbuffer.Config{Runs: capacity / runLen, RunLen: runLen, RejectedTake: func() (int64, error) {
		mu.Lock()
		defer mu.Unlock()
		for {
			for r.HasRoom() {
				if err := r.Put(ringbuffer.Run{First: next, N: runLen}); err != nil {
					return 0, err
				}
				next += runLen
			}
			if run := r.TakeRun(1); run.N > 0 {
				return run.First, nil
			}
		}
	}})
	return r
}
