package uid_test

import (
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

// TestStress draws many ids by one goroutine and by two for each core, in every
// way there is. All are positive and different, none is lost, each goroutine's
// ascend, and an id is greater than all those of calls that ended before its own
// began.
func TestStress(t *testing.T) {
	goroutines := []int{1, 2 * runtime.NumCPU()}
	quiet := slog.New(slog.DiscardHandler)
	// So small that the ring runs empty all the time.
	tiny := bits.Layout{TimeBits: 40, WorkerBits: 8, SequenceBits: 3, Epoch: bits.Default.Epoch, Unit: time.Second}
	var calls atomic.Int64
	gone := errors.New("gone")

	for _, test := range []struct {
		name   string
		config uid.Config
		draw   func(gen *uid.Cached, ids []uid.ID) int
	}{
		{"next", uid.Config{}, drawOne},
		{"runs empty", uid.Config{Layout: tiny, BoostPower: 1}, drawOne},
		{"batches of odd sizes", uid.Config{}, drawMixed},
		{"batches that run empty", uid.Config{Layout: tiny, BoostPower: 1}, drawMixed},
		{"handler returns", uid.Config{Layout: tiny, BoostPower: 1, RejectedTake: func(uid.Refusal) error { return nil }}, drawMixed},
		{"handler fails", uid.Config{Layout: tiny, BoostPower: 1, RejectedTake: func(uid.Refusal) error {
			if calls.Add(1)%3 == 0 {
				return gone
			}
			return nil
		}}, drawMixed},
		{"handler panics", uid.Config{Layout: tiny, BoostPower: 1, RejectedTake: func(uid.Refusal) error {
			if calls.Add(1)%100 == 0 { // making a stack trace takes its time
				panic(gone)
			}
			return nil
		}}, drawMixed},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, procs := range []int{1, 2, 8} {
				for _, n := range goroutines {
					t.Run(fmt.Sprintf("procs=%d/goroutines=%d", procs, n), func(t *testing.T) {
						defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
						config := test.config
						config.MaxBorrow = -1
						config.Logger = quiet
						gen := newCached(t, config)
						seen := newSeen(t, gen, many)
						drawAll(t, gen, n, seen, test.draw)
						gen.Close()
						if s := gen.Stats(); s.Issued != many || seen.count.Load() != many {
							t.Errorf("%d ids issued, %d seen, want %d of each", s.Issued, seen.count.Load(), many)
						}
					})
				}
			}
		})
	}
}

// drawOne draws one id; drawMixed one or a batch, of a size that the slice says.
// They return how many they drew.
func drawOne(gen *uid.Cached, ids []uid.ID) int {
	id, err := gen.Next()
	if err != nil {
		return 0
	}
	ids[0] = id
	return 1
}

func drawMixed(gen *uid.Cached, ids []uid.ID) int {
	if len(ids)%3 == 0 {
		return drawOne(gen, ids)
	}
	n, _ := gen.NextN(ids)
	return n
}

// drawAll draws exactly many ids and notes each.
func drawAll(t *testing.T, gen *uid.Cached, goroutines int, seen *seen, draw func(*uid.Cached, []uid.ID) int) {
	var ended atomic.Int64 // greatest id of a call that has ended
	var left atomic.Int64
	ended.Store(-1)
	left.Store(many)
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
				n := draw(gen, buffer[:quota])
				left.Add(quota - int64(n))
				for i, id := range buffer[:n] {
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
