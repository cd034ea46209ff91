package workerkube

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// crowd spreads the writes of the record by many processes. A write fails if another process
// wrote since this one read, and costs two requests even then. If a herd tried at once, the API
// server would have time for nothing else. The zero crowd is ready for use.
type crowd struct {
	mu    sync.Mutex
	delay time.Duration // the next try is after a random part of it
	next  time.Time     // when; it holds beyond the call that collided
}

// How long the API server takes to answer tells how large a herd is.
const perAnswer, slow = 8, 50 * time.Millisecond

// answered is called when a start's first read took so long.
func (c *crowd) answered(took time.Duration) {
	if took > slow {
		c.spread(took, 0)
	}
}

// collided is called when a write that failed took so long.
func (c *crowd) collided(took time.Duration) { c.spread(max(took, slow), 2) }

func (c *crowd) spread(took time.Duration, growth int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.delay = min(max(perAnswer*took, time.Duration(growth)*c.delay), 8*time.Second)
	c.next = time.Now().Add(rand.N(c.delay))
}

// leave ends the waits, after a write that was done or is not needed.
func (c *crowd) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.delay, c.next = 0, time.Time{}
}

func (c *crowd) wait(ctx context.Context) error {
	c.mu.Lock()
	next := c.next
	c.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Until(next)):
		return ctx.Err()
	}
}
