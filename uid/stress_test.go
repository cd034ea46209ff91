package uid_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// TestStress draws ids by one goroutine and by two for each core, in every way
// there is. All are positive and different, none is lost, and each goroutine's
// ascend. An id is greater than those of all calls that ended before its own
// began.
func TestStress(t *testing.T) {
	quiet := slog.New(slog.DiscardHandler)
	// So small that the ring runs empty all the time.
	tiny := bits.Layout{TimeBits: 40, WorkerBits: 8, SequenceBits: 3, Epoch: bits.Default().Epoch, Unit: time.Second}
	empty := uid.CachedConfig{Layout: tiny, BoostPower: 1}
	policy := func(p func(uid.Refusal) error) uid.CachedConfig {
		config := empty
		config.RejectedTake = p
		return config
	}
	var calls atomic.Int64
	gone := errors.New("gone")

	for _, test := range []struct {
		name   string
		config uid.CachedConfig
		draw   func(gen *uid.Cached, ids []uid.ID) int
		gaps   bool // ids are claimed that are not drawn
	}{
		{name: "next", draw: drawOne},
		{name: "runs empty", config: empty, draw: drawOne},
		{name: "batches of odd sizes", draw: drawMixed},
		{name: "batches that run empty", config: empty, draw: drawMixed},
		{name: "loops", draw: drawLoop, gaps: true},
		{name: "loops that run empty", config: empty, draw: drawLoop, gaps: true},
		{name: "handler returns", config: policy(func(uid.Refusal) error { return nil }), draw: drawMixed},
		{name: "handler fails", config: policy(func(uid.Refusal) error {
			if calls.Add(1)%3 == 0 {
				return gone
			}
			return nil
		}), draw: drawMixed},
		{name: "handler panics", config: policy(func(uid.Refusal) error {
			if calls.Add(1)%100 == 0 { // making a stack trace takes its time
				panic(gone)
			}
			return nil
		}), draw: drawMixed},
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
						config.MaxBorrow = -1
						config.Logger = quiet
						gen := newCached(t, config)
						seen := newSeen(t, gen, 2*n)
						drawAll(t, gen, n, goroutines, seen, test.draw)
						gen.Close()
						issued := gen.Stats().Issued
						if issued != n && !(test.gaps && n < issued && issued < 2*n) || seen.count.Load() != n {
							t.Errorf("%d ids issued, %d seen, want %d of each", issued, seen.count.Load(), n)
						}
					})
				}
			}
		})
	}
}

// drawOne draws one id; drawMixed one or a batch, in a way and of a size that the
// slice says; drawLoop a loop's ids. They return how many they drew.
func drawOne(gen *uid.Cached, ids []uid.ID) int {
	id, err := gen.Next()
	if err != nil {
		return 0
	}
	ids[0] = id
	return 1
}

func drawMixed(gen *uid.Cached, ids []uid.ID) (n int) {
	switch len(ids) % 4 {
	case 0:
		return drawOne(gen, ids)
	case 1:
		ids[0], _ = gen.Wait(context.Background())
		return 1
	case 2:
		n, _ = gen.WaitN(context.Background(), ids)
	case 3:
		n, _ = gen.NextN(ids)
	}
	return n
}

func drawLoop(gen *uid.Cached, ids []uid.ID) (n int) {
	for id := range gen.All(context.Background()) {
		ids[n] = id
		if n++; n == len(ids) {
			break
		}
	}
	return n
}

// drawAll draws exactly n ids and notes each.
func drawAll(t *testing.T, gen *uid.Cached, n int64, goroutines int, seen *seen, draw func(*uid.Cached, []uid.ID) int) {
	var ended atomic.Int64 // greatest id of a call that has ended
	var left atomic.Int64
	ended.Store(-1)
	left.Store(n)
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			buffer := make([]uid.ID, 1031) // a prime, so batches never fit the ring
			last := int64(-1)
			for size := int64(1); ; size = (size*7 + 1) % 1031 {
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
				begun := ended.Load()
				drawn := draw(gen, buffer[:quota])
				left.Add(quota - int64(drawn))
				for i, id := range buffer[:drawn] {
					if int64(id) <= last {
						t.Errorf("id %d follows %d in one goroutine", id, last)
					}
					if i == 0 && int64(id) <= begun {
						t.Errorf("id %d, but a call had ended with %d before this one began", id, begun)
					}
					last = int64(id)
					if err := seen.add(id); err != nil {
						t.Error(err)
					}
				}
				for before := ended.Load(); before < last && !ended.CompareAndSwap(before, last); {
					before = ended.Load()
				}
				if t.Failed() {
					return
				}
			}
		})
	}
	wg.Wait()
}

// seen is the set of ids drawn, a bit for each: the ids of a generator are dense
// within its ticks.
type seen struct {
	gen   *uid.Cached
	first int64 // a tick before the generator's first
	ids   int64 // for each tick
	bits  []atomic.Uint32
	count atomic.Int64
}

func newSeen(t *testing.T, gen *uid.Cached, n int64) *seen {
	t.Helper()
	allocator, err := bits.NewAllocator(gen.Layout())
	if err != nil {
		t.Fatal(err)
	}
	// The first tick is about the present one. Time catches up with ticks that
	// are drawn slowly, so leave room for the seconds that the test may take.
	ids := allocator.MaxSequence() + 1
	return &seen{gen: gen, first: allocator.Tick(time.Now()) - 60, ids: ids, bits: make([]atomic.Uint32, (n+600*ids)/32)}
}

func (s *seen) add(id uid.ID) error {
	if id <= 0 {
		return fmt.Errorf("id %d is not positive", id)
	}
	parts, err := s.gen.Parse(id)
	if err != nil {
		return err
	}
	i := (parts.Tick-s.first)*s.ids + parts.Sequence
	if i < 0 || i/32 >= int64(len(s.bits)) {
		return fmt.Errorf("id %d, tick %d, is far from the first tick, %d", id, parts.Tick, s.first)
	}
	if bit := uint32(1) << (i % 32); s.bits[i/32].Or(bit)&bit != 0 {
		return fmt.Errorf("id %d is a repeat", id)
	}
	s.count.Add(1)
	return nil
}
