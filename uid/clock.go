package uid

import (
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/bits"
)

// clock tells the current tick, for generators that ask for each id.
type clock struct {
	bits   *bits.Allocator
	now    func() time.Time
	system bool                   // now is time.Now
	anchor atomic.Pointer[anchor] // of the system clock; nil before the first reading
}

// anchor is a tick that ends at at+left. It does not change. at is read after the tick, so
// that a pause in between shows a tick late and not early.
type anchor struct {
	at   time.Time
	tick int64
	left time.Duration // until the tick ends
}

const anchorFor = 100 * time.Millisecond

// tick returns the number of the tick that the clock shows. It compares the system's
// monotonic clock, whose reading costs about half of [time.Now], with an anchor. It renews
// the anchor ten times a second, so that ids follow a wall clock that steps.
func (c *clock) tick() int64 {
	a := c.anchor.Load()
	if a == nil {
		return c.read()
	}
	elapsed := time.Since(a.at)
	switch {
	case elapsed >= anchorFor:
		return c.read()
	case elapsed < a.left:
		return a.tick
	}
	return a.tick + 1 + int64((elapsed-a.left)/c.bits.Layout().Unit)
}

func (c *clock) read() int64 {
	now := c.now()
	tick := c.bits.Tick(now)
	if c.system && tick >= 0 && tick <= c.bits.MaxTick() {
		c.anchor.Store(&anchor{time.Now(), tick, c.bits.Time(tick + 1).Sub(now)})
	}
	return tick
}
