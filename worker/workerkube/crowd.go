package workerkube

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// crowd spreads the writes of the record by many processes. A write fails if another process
// wrote since this one read, and costs two requests even then. If a herd tried again at once,
// the API server would have time for nothing else. The zero crowd is ready for use.
type crowd struct {
	mu     sync.Mutex
	within time.Duration // the next try is at a random instant within this
	next   time.Time     // when; it holds beyond the call that collided
}

func (c *crowd) collide() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.within = min(max(8*c.within, 500*time.Millisecond), 8*time.Second)
	c.next = time.Now().Add(rand.N(c.within))
}

// leave ends the waits, after a write that was done or is not needed.
func (c *crowd) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.within, c.next = 0, time.Time{}
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
