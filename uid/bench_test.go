package uid_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/cacheline"
	"github.com/uidring/uidring/uid"
)

// roomy has so many ids for each tick that Default never waits for the next, so
// that its own cost is measured.
var roomy = bits.Layout{TimeBits: 31, WorkerBits: 1, SequenceBits: 31, Epoch: bits.Default().Epoch, Unit: time.Second}

// fan runs n/goroutines calls of work in each goroutine, and reports the time of
// the whole over the number of calls, as b.RunParallel does.
func fan(b *testing.B, goroutines int, work func(n int)) {
	b.ReportAllocs()
	if goroutines == 1 {
		work(b.N)
		return
	}
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() { work(b.N / goroutines) })
	}
	wg.Wait()
}

func overGoroutines(b *testing.B, bench func(b *testing.B, goroutines int)) {
	for _, g := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("goroutines=%d", g), func(b *testing.B) { bench(b, g) })
	}
}

// BenchmarkNext is the cost of one id beside its floors: an atomic add for
// Cached, a reading of the clock for Default.
func BenchmarkNext(b *testing.B) {
	b.Run("impl=add", func(b *testing.B) {
		overGoroutines(b, func(b *testing.B, g int) {
			var n cacheline.Int64
			fan(b, g, func(k int) {
				for range k {
					n.Add(1)
				}
			})
		})
	})
	b.Run("impl=cached", func(b *testing.B) {
		overGoroutines(b, func(b *testing.B, g int) {
			gen := newCached(b, uid.CachedConfig{MaxBorrow: -1})
			fan(b, g, func(k int) {
				for range k {
					if _, err := gen.Next(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	})
	b.Run("impl=clock", func(b *testing.B) {
		overGoroutines(b, func(b *testing.B, g int) {
			fan(b, g, func(k int) {
				for range k {
					_ = time.Now()
				}
			})
		})
	})
	b.Run("impl=default", func(b *testing.B) {
		overGoroutines(b, func(b *testing.B, g int) {
			gen := newDefault(b, uid.DefaultConfig{Layout: roomy})
			fan(b, g, func(k int) {
				for range k {
					if _, err := gen.Next(); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	})
}

// BenchmarkNextN is the cost of one id among a batch; the operation is the id.
func BenchmarkNextN(b *testing.B) {
	for _, size := range []int{16, 256, 4096} {
		b.Run(fmt.Sprintf("impl=cached/batch=%d", size), func(b *testing.B) {
			overGoroutines(b, func(b *testing.B, g int) {
				gen := newCached(b, uid.CachedConfig{MaxBorrow: -1})
				fan(b, g, func(k int) {
					ids := make([]uid.ID, size)
					for ; k > 0; k -= size {
						if _, err := gen.NextN(ids); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		})
	}
}
