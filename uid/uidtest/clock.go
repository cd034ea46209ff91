package uidtest

import (
	"sync"
	"time"
)

// Clock is a clock that stands still until the test moves it. [Clock.Now] can also be used as Now
// in the configs of the real generators. Make one with [NewClock].
type Clock struct {
	mu    sync.Mutex
	now   time.Time
	moved chan struct{} // closed, and made anew, at each move
}

// NewClock returns a clock that is set to now.
func NewClock(now time.Time) *Clock { return &Clock{now: now, moved: make(chan struct{})} }

// Now returns the clock's time.
func (c *Clock) Now() time.Time {
	now, _ := c.look()
	return now
}

func (c *Clock) look() (now time.Time, moved <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now, c.moved
}

// Advance moves the clock by d, backward if d is negative.
func (c *Clock) Advance(d time.Duration) { c.move(func() { c.now = c.now.Add(d) }) }

// Set sets the clock to now.
func (c *Clock) Set(now time.Time) { c.move(func() { c.now = now }) }

func (c *Clock) move(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	f()
	close(c.moved)
	c.moved = make(chan struct{})
}
