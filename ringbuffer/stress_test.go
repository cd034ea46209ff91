package ringbuffer_test

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/ringbuffer"
)

// TestStress has takers of all kinds at work while runs are put, some of them
// behind a gap, and some dropped. It checks what the model checks: no id twice,
// each greater than those of calls that ended before its own began, none lost,
// and none dealt once the ring is closed.
func TestStress(t *testing.T) {
	need.Time(t)
	for _, shape := range []struct {
		name         string
		runs, runLen int64
	}{
		{"one id a run", 2, 1},
		{"tiny", 2, 8},
		{"usual", 8, 512},
	} {
		t.Run(shape.name, func(t *testing.T) {
			for _, procs := range []int{1, 2, 8} {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
				stress(t, shape.runs, shape.runLen)
			}
		})
	}
}

func stress(t *testing.T, runs, runLen int64) {
	const takers, total = 6, 200_000
	r := mustNew(t, ringbuffer.Config{Runs: runs, RunLen: runLen, Threshold: runs * runLen / 2})

	var (
		ended  atomic.Int64 // greatest id of a call that has ended
		closed atomic.Bool  // Close has returned
		done   atomic.Bool
		wg     sync.WaitGroup
		taken  [takers][]int64
	)
	ended.Store(-1)
	for i := range takers {
		wg.Go(func() {
			for n := int64(i); !done.Load(); n++ {
				begun, late := ended.Load(), closed.Load()
				var run ringbuffer.Run
				if i%2 == 0 {
					take := r.Take
					if i == 0 {
						take = r.TryTake
					}
					if id, err := take(); err == nil {
						run = ringbuffer.Run{First: id, N: 1}
					}
				} else {
					run = r.TakeRun(n%(2*runLen) + 1)
				}
				if run.N == 0 {
					runtime.Gosched()
					continue
				}
				if late {
					t.Errorf("id %d, after Close had returned", run.First)
				}
				if run.First <= begun {
					t.Errorf("id %d, but a call had ended with %d before this one began", run.First, begun)
				}
				for id := run.First; id <= run.Last(); id++ {
					taken[i] = append(taken[i], id)
				}
				for before := ended.Load(); before < run.Last() && !ended.CompareAndSwap(before, run.Last()); {
					before = ended.Load()
				}
			}
		})
	}
	// The padder: runs that continue each other, every seventh behind a gap.
	// Now and then it drops what is about to be dealt.
	next, dropped := int64(0), int64(0)
	for n := 0; r.Counts().Taken < total; n++ {
		if n%7 == 0 {
			next += 3
		}
		if r.Put(ringbuffer.Run{First: next, N: runLen}) == nil {
			next += runLen
		}
		if n%101 == 0 {
			dropped += ringbuffer.Total(r.Drop(next - runLen - runLen/2))
		}
		// And a little of what is being dealt, right under the takers' hands.
		if oldest, ok := r.Oldest(); ok && n%5 == 0 {
			dropped += ringbuffer.Total(r.Drop(oldest + runLen/8))
		}
		runtime.Gosched()
	}
	// Closed under the takers' hands, it tells where they got to.
	rest := ringbuffer.Least(r.Close())
	closed.Store(true)
	for range 100 {
		runtime.Gosched()
	}
	done.Store(true)
	wg.Wait()

	for i, ids := range taken {
		if !slices.IsSorted(ids) {
			t.Errorf("the ids of taker %d do not ascend", i)
		}
	}
	all := slices.Concat(taken[:]...)
	slices.Sort(all)
	if unique := len(slices.Compact(slices.Clone(all))); unique != len(all) {
		t.Errorf("%d ids of %d are repeats", len(all)-unique, len(all))
	}
	if greatest := all[len(all)-1]; rest >= 0 && greatest >= rest {
		t.Errorf("id %d was dealt, but Close had told that none is from %d on", greatest, rest)
	}
	counts := r.Counts()
	if (counts.Dropped > dropped) != (rest >= 0) {
		t.Errorf("Close told %d as the least id dropped and dropped %d", rest, counts.Dropped-dropped)
	}
	if counts.Taken != int64(len(all)) || counts.Remaining != 0 || counts.Put != counts.Taken+counts.Dropped {
		t.Errorf("counts are %+v after %d ids taken and %d dropped: ids were lost", counts, len(all), dropped)
	}
}
