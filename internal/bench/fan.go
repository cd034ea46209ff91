package bench

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Fan makes calls calls of batch's loop from the given number of goroutines and
// returns the time from their release to the end of the last one.
//
// The goroutines claim chunks of the calls until none are left, so that none
// sits idle while another has a long way to go, even where a mutex is unfair.
// With one goroutine there is nothing to share out: the caller runs the loop.
func Fan(batch func(int) (uint64, error), goroutines, calls int) (time.Duration, error) {
	return fan(batch, goroutines, calls, func() {})
}

// fan calls begin once, when all is set up and right before the calls begin.
func fan(batch func(int) (uint64, error), goroutines, calls int, begin func()) (time.Duration, error) {
	if goroutines == 1 {
		begin()
		start := time.Now()
		last, err := batch(calls)
		took := time.Since(start)
		runtime.KeepAlive(last)
		return took, err
	}

	var (
		chunk = min(max(calls/(goroutines*8), 1), 10_000)
		// The counter is touched once in a chunk, but a neighbour on its line
		// would be touched by everyone: hence on the heap, and padded.
		next  = new(paddedCounter)
		first atomic.Pointer[error]
	)
	took := release(goroutines, begin, func() {
		for {
			end := int(next.n.Add(int64(chunk)))
			from := end - chunk
			if from >= calls {
				return
			}
			last, err := batch(min(end, calls) - from)
			runtime.KeepAlive(last)
			if err != nil {
				// A copy, lest each chunk allocate an err that might escape.
				failed := err
				first.CompareAndSwap(nil, &failed)
				return
			}
		}
	})
	if err := first.Load(); err != nil {
		return took, *err
	}
	return took, nil
}

// release calls begin, runs work in the given number of goroutines, all let go at
// once, and returns how long they took.
//
// As many as can run at a time start on threads that have been put on cores of
// their own. Left to itself, a kernel may wake both threads of a pair on one
// core and leave them there for the length of a sample while another core is
// idle; contention, which is what is to be measured, then does not happen.
func release(goroutines int, begin, work func()) time.Duration {
	var (
		leaders = min(goroutines, runtime.GOMAXPROCS(0))
		waiting sync.WaitGroup
		done    sync.WaitGroup
		gate    = make(chan struct{})
		there   = newBarrier(leaders)
		placed  = newBarrier(leaders)
		open    = newBarrier(1)
		first   atomic.Bool
		start   time.Time
	)
	waiting.Add(goroutines - leaders)
	for range goroutines - leaders {
		done.Go(func() {
			waiting.Done()
			<-gate
			work()
		})
	}
	waiting.Wait()
	for i := range leaders {
		done.Go(func() {
			// Locked until all are there, each has a thread of its own.
			runtime.LockOSThread()
			there.pass()
			place(i)
			placed.pass()
			if first.CompareAndSwap(false, true) {
				begin()
				start = time.Now()
				open.come()
				close(gate)
			}
			open.wait()
			runtime.UnlockOSThread()
			work()
		})
	}
	done.Wait()
	return time.Since(start)
}

// barrier lets goroutines pass once all have come. They spin, for one that is
// parked may wake up on another core; but now and then they let others run, which
// may be the ones that are missing.
type barrier struct{ missing atomic.Int64 }

func newBarrier(goroutines int) *barrier {
	b := new(barrier)
	b.missing.Store(int64(goroutines))
	return b
}

func (b *barrier) pass() {
	b.come()
	b.wait()
}

func (b *barrier) come() { b.missing.Add(-1) }

func (b *barrier) wait() {
	for i := 1; b.missing.Load() > 0; i++ {
		if i%(1<<16) == 0 {
			runtime.Gosched()
		}
	}
}
