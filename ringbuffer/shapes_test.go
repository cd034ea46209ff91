package ringbuffer_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"

	"github.com/uidring/uidring/internal/cacheline"
	"github.com/uidring/uidring/ringbuffer"
)

// BenchmarkShape compares the ring with its floor, an atomic add, and with shorter runs.
// Each ring has room for 65,536 ids, and its takers fill it.
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
