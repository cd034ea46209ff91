package uid_test

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// TestStress draws ids by one goroutine and by two for each core, in every way
// there is.
func TestStress(t *testing.T) {
	need.Time(t)
	// So small that the ring runs empty all the time.
	tiny := bits.Layout{TimeBits: 40, WorkerBits: 8, SequenceBits: 3, Epoch: bits.Registry().Epoch, Unit: time.Second}
	empty := uid.CachedConfig{Layout: tiny, BoostPower: 1}
	policy := func(p uid.TakePolicy) uid.CachedConfig {
		config := empty
		config.RejectedTake = p
		return config
	}
	brief := uid.CachedConfig{Layout: bits.Layout{TimeBits: 45, WorkerBits: 4, SequenceBits: 10, Epoch: bits.Registry().Epoch, Unit: 100 * time.Microsecond}}
	mixed := []string{"Next", "Wait", "WaitN", "NextN"}
	var asked atomic.Int64
	gone := errors.New("gone")

	for _, test := range []struct {
		name   string
		kind   string
		config uid.CachedConfig
		ways   []string
	}{
		{"next", "cached", uid.CachedConfig{}, []string{"Next"}},
		{"runs empty", "cached", empty, []string{"Next"}},
		{"batches of odd sizes", "cached", uid.CachedConfig{}, mixed},
		{"batches that run empty", "cached", empty, mixed},
		{"loops", "cached", uid.CachedConfig{}, []string{"All"}},
		{"loops that run empty", "cached", empty, []string{"All"}},
		{"handler returns", "cached", policy(func(uid.Refusal) error { return nil }), mixed},
		{"handler fails", "cached", policy(func(uid.Refusal) error {
			if asked.Add(1)%3 == 0 {
				return gone
			}
			return nil
		}), mixed},
		{"handler panics", "cached", policy(func(uid.Refusal) error {
			if asked.Add(1)%100 == 0 { // making a stack trace takes its time
				panic(gone)
			}
			return nil
		}), mixed},
		{"default", "default", brief, mixed},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, procs := range []int{1, 2, 8} {
				for _, goroutines := range []int{1, 2 * runtime.NumCPU()} {
					t.Run(fmt.Sprintf("procs=%d/goroutines=%d", procs, goroutines), func(t *testing.T) {
						defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
						n := many / 35
						if test.name == "next" && procs == 2 && goroutines > 1 {
							n = many
						}
						config := test.config
						config.MaxBorrow = uid.Unlimited
						config.Logger = quiet
						gen := under(t, test.kind, lease.NewStatic(1), config)
						drawAll(t, gen, n, goroutines, test.ways...)
						gen.Close()
						// A loop claims ids that are not drawn.
						if issued := gen.Stats().Issued; issued != n && !(test.ways[0] == "All" && n < issued && issued < 2*n) {
							t.Errorf("%d ids issued, want %d", issued, n)
						}
					})
				}
			}
		})
	}
}

// drawAll draws exactly n ids, in each of the ways by turns. All are positive and
// different. Those of each goroutine ascend, and an id is greater than those of all calls
// that ended before its own began; not so with Slots.
func drawAll(t *testing.T, gen generator, n int64, goroutines int, ways ...string) {
	t.Helper()
	_, unordered := gen.(*uid.Slots)
	var ended atomic.Int64 // greatest id of a call that has ended
	var left atomic.Int64
	left.Store(n)
	drawn := make([][]uid.ID, goroutines)
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			buffer := make([]uid.ID, 1031) // a prime, so batches never fit the ring
			last := uid.ID(0)
			for size := int64(1); !t.Failed(); size = (size*7 + 1) % 1031 {
				// Take from what is left as many as this call may draw.
				quota := min(size+1, left.Load())
				if quota <= 0 {
					return
				}
				if left.Add(-quota) < 0 {
					left.Add(quota)
					runtime.Gosched()
					continue
				}
				way := ways[quota%int64(len(ways))]
				ids := buffer[:quota]
				if way == "Next" || way == "Wait" {
					ids = ids[:1]
				}
				begun := ended.Load()
				got, _ := calls[way](t.Context(), gen, ids)
				left.Add(quota - int64(got))
				if got == 0 {
					continue
				}
				ids = ids[:got]
				if !unordered && (ids[0] <= last || int64(ids[0]) <= begun || !slices.IsSorted(ids)) {
					t.Errorf("ids %d after %d, and a call had ended with %d before this one began", ids, last, begun)
				}
				last = ids[got-1]
				drawn[g] = append(drawn[g], ids...)
				note(&ended, int64(last))
			}
		})
	}
	wg.Wait()
	all := slices.Concat(drawn...)
	slices.Sort(all)
	if different := int64(len(slices.Compact(all))); different != n || all[0] <= 0 {
		t.Errorf("%d different ids of %d, want %d; the least is %d", different, len(all), n, all[0])
	}
}
