package uid

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/internal/cacheline"
)

// gate ends the waits of a generator that is closed, and counts the calls that failed.
// Make one with newGate.
type gate struct {
	rejected cacheline.Int64 // calls that failed; written by them, read by Stats
	closed   atomic.Bool     // written by shut; read by calls that find no id ready
	done     chan struct{}   // closed by shut
	waited   atomic.Int64    // nanoseconds that calls have waited; written by them, read by Stats
	once     sync.Once
	finished error // of finish; written by once
}

func newGate() gate { return gate{done: make(chan struct{})} }

// shut ends all waits, and makes later calls fail.
func (g *gate) shut() {
	if g.closed.CompareAndSwap(false, true) {
		close(g.done)
	}
}

// finish calls f, the first time only, and returns its error each time.
func (g *gate) finish(f func() error) error {
	g.once.Do(func() { g.finished = f() })
	return g.finished
}

// longestSleep bounds a wait for the clock, so that a step of the clock is noticed.
const longestSleep = time.Second

// sleep waits for d or until changed is closed, at most longestSleep. It returns
// an error when ctx ends or the generator is closed.
func (g *gate) sleep(ctx context.Context, changed <-chan struct{}, d time.Duration) error {
	defer g.count(time.Now())
	timer := time.NewTimer(min(max(d, time.Microsecond), longestSleep))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-changed:
		return nil
	case <-g.done:
		return ErrClosed
	case <-ctx.Done():
		return waitError(ctx)
	}
}

// count adds the time since began to the waits of all calls.
func (g *gate) count(began time.Time) { g.waited.Add(int64(time.Since(began))) }

func waitError(ctx context.Context) error { return fmt.Errorf("uid: wait for an id: %w", ctx.Err()) }

// failed counts a call that returns err, unless the context of the call had ended before:
// such a call asks what is ready.
func (g *gate) failed(err error, ended bool) error {
	if !ended {
		g.rejected.Add(1)
	}
	return err
}
