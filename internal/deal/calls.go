package deal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/internal/contention"
)

// Package uid explains these, and exports them under the same names.
var (
	ErrClosed   = errors.New("uid: generator is closed")
	ErrNotReady = errors.New("uid: no id is ready")
)

// Calls ends the waits of a generator that is closed, and counts waits and failed calls.
// Make one with NewCalls.
type Calls struct {
	rejected contention.Int64 // calls that failed; written by them, read by Stats
	closed   atomic.Bool      // written by Shut; read by calls that find no id ready
	done     chan struct{}    // closed by Shut
	waited   atomic.Int64     // nanoseconds that calls have waited; written by them, read by Stats
	once     sync.Once
	finished error // of Finish; written by once
}

// NewCalls returns the Calls of a generator that is open.
func NewCalls() Calls { return Calls{done: make(chan struct{})} }

// Closed reports whether Shut was called.
func (c *Calls) Closed() bool { return c.closed.Load() }

// Rejected returns how many calls failed.
func (c *Calls) Rejected() int64 { return c.rejected.Load() }

// Waited returns the sum of the waits of all calls.
func (c *Calls) Waited() time.Duration { return time.Duration(c.waited.Load()) }

// Shut ends all waits, and makes later ones fail.
func (c *Calls) Shut() {
	if c.closed.CompareAndSwap(false, true) {
		close(c.done)
	}
}

// Finish calls f, the first time only, and returns its error each time.
func (c *Calls) Finish(f func() error) error {
	c.once.Do(func() { c.finished = f() })
	return c.finished
}

// LongestSleep bounds a wait for the clock, so that a step of the clock is noticed.
const LongestSleep = time.Second

// Sleep waits for d or until changed is closed, at most LongestSleep. It returns an error
// when ctx ends or Shut is called.
func (c *Calls) Sleep(ctx context.Context, changed <-chan struct{}, d time.Duration) error {
	defer c.count(time.Now())
	timer := time.NewTimer(min(max(d, time.Microsecond), LongestSleep))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-changed:
		return nil
	case <-c.done:
		return ErrClosed
	case <-ctx.Done():
		return WaitError(ctx)
	}
}

func (c *Calls) count(began time.Time) { c.waited.Add(int64(time.Since(began))) }

// Failed counts a call that returns err, and returns err. A Try that finds no id ready is
// not counted.
func (c *Calls) Failed(err error, how How) error {
	if how != Try || !errors.Is(err, ErrNotReady) {
		c.rejected.Add(1)
	}
	return err
}

// WaitError is the error of a call whose ctx has ended.
func WaitError(ctx context.Context) error { return fmt.Errorf("uid: wait for an id: %w", ctx.Err()) }

// CloseTimeout is how long Close of a generator waits at most.
const CloseTimeout = 5 * time.Second

// Close calls shutdown with a deadline of CloseTimeout.
func Close(shutdown func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), CloseTimeout)
	defer cancel()
	return shutdown(ctx)
}
