package bench

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Setting is how many goroutines share a subject, and on which cores their threads run.
// The zero Setting is of subjects without goroutines.
type Setting struct {
	Goroutines int `json:"goroutines,omitzero"`

	// Anywhere leaves the threads where the operating system puts them. Otherwise each
	// starts on a core of its own, as far as there are cores. A kernel may leave two
	// threads on one core for the length of a sample while another core is idle;
	// contention then does not happen.
	Anywhere bool `json:"anywhere,omitzero"`
}

// One is a single goroutine.
var One = Setting{Goroutines: 1}

// Many reports whether several goroutines compete.
func (s Setting) Many() bool { return s.Goroutines > 1 }

// String returns words for a table.
func (s Setting) String() string {
	switch {
	case !s.Many():
		return "1 goroutine"
	case s.Anywhere:
		return fmt.Sprintf("%d goroutines, placed by the system", s.Goroutines)
	default:
		return fmt.Sprintf("%d goroutines, a core each", s.Goroutines)
	}
}

// lookAfter is how long a goroutine works between two readings of the clock: so
// long that the reading costs nothing, and far shorter than a sample.
const lookAfter = 100 * time.Microsecond

// maxChunk bounds the calls between two readings, for calls that cost nothing.
const maxChunk = 1 << 24

// fan calls loop from goroutines for about d. It returns how many calls they made, one each
// at least, and the time from their start to the end of the last one. More goroutines than
// cores yield at each reading of the clock, so that all of them have turns.
func fan(ctx context.Context, loop func(int) (uint64, error), at Setting, d time.Duration) (calls int64, took time.Duration, err error) {
	var (
		total  atomic.Int64 // each goroutine adds to it once, in the end
		failed atomic.Pointer[error]
	)
	yields := at.Goroutines > runtime.GOMAXPROCS(0)
	took = release(at, func(begin time.Time) {
		made, now := int64(0), time.Since(begin)
		for chunk := 1; (made == 0 || now < d) && ctx.Err() == nil; {
			last, err := loop(chunk)
			runtime.KeepAlive(last)
			if err != nil {
				failed.CompareAndSwap(nil, &err)
				break
			}
			made += int64(chunk)
			then := time.Since(begin)
			if then-now < lookAfter && chunk < maxChunk {
				chunk *= 2
			}
			if now = then; yields {
				runtime.Gosched()
				now = time.Since(begin)
			}
		}
		total.Add(made)
	})
	if err := failed.Load(); err != nil {
		return 0, took, *err
	}
	return total.Load(), took, context.Cause(ctx)
}

// release runs work in goroutines that start at the same time, and returns how long they
// took. It calls work with the time of the start.
func release(at Setting, work func(begin time.Time)) time.Duration {
	var (
		leaders = 0 // goroutines that begin on threads of their own
		waiting sync.WaitGroup
		done    sync.WaitGroup
		gate    = make(chan struct{})
		start   time.Time
		open    = func() {
			start = time.Now()
			close(gate)
		}
	)
	if !at.Anywhere {
		leaders = min(at.Goroutines, runtime.GOMAXPROCS(0))
	}
	for range at.Goroutines - leaders {
		waiting.Add(1)
		done.Go(func() {
			waiting.Done()
			<-gate
			work(start)
		})
	}
	waiting.Wait()
	if leaders == 0 {
		open()
	}
	there, placed := newBarrier(leaders, func() {}), newBarrier(leaders, open)
	for i := range leaders {
		done.Go(func() {
			runtime.LockOSThread() // until placed: each has a thread of its own
			there.pass()
			place(i)
			placed.pass()
			runtime.UnlockOSThread()
			work(start)
		})
	}
	done.Wait()
	return time.Since(start)
}

// barrier lets goroutines pass once all have arrived, after a call of last. They spin,
// because a parked goroutine may wake up on another core. Now and then they yield to the
// goroutines that are missing.
type barrier struct {
	missing atomic.Int64
	open    atomic.Bool
	last    func()
}

func newBarrier(goroutines int, last func()) *barrier {
	b := &barrier{last: last}
	b.missing.Store(int64(goroutines))
	return b
}

func (b *barrier) pass() {
	if b.missing.Add(-1) == 0 {
		b.last()
		b.open.Store(true)
	}
	for i := 1; !b.open.Load(); i++ {
		if i%(1<<16) == 0 {
			runtime.Gosched()
		}
	}
}
