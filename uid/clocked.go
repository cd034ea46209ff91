package uid

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/cacheline"
	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/ringbuffer"
)

// clocked is what [Default] and [Slots] have in common: both read the clock for each
// call.
type clocked struct {
	claims
	stamp
	system bool                   // now is time.Now
	anchor atomic.Pointer[anchor] // of the system's clock; nil before the first reading
	issuer issuer
	_      cacheline.Pad

	// Written by calls, read by Stats.
	earlier atomic.Int64 // ids issued, less latest
	most    atomic.Int64 // ids issued by the last Stats; written by Stats

	calls deal.Calls
}

// issuer issues the ids of a clocked generator.
type issuer interface {
	follower

	// claim is the source of [claims].
	claim(ctx context.Context, limit int64, how deal.How) (ringbuffer.Run, error)

	// latest returns how many ids its present state counts as issued. The issuer moves
	// that state before it raises earlier, and after it lowers earlier.
	latest() int64

	// barred returns why calls fail now, nil if they do not. After stop, it returns anything.
	barred() error

	// stop ends issuing, and returns a tick. That tick and all later ticks were never
	// stamped.
	stop() int64
}

// open does the part of the start that needs no worker number.
func (c *clocked) open(of issuer, faults *invalid.List, leaser Leaser, layout, succeeds bits.Layout, now func() time.Time, logger *slog.Logger) error {
	c.claims, c.issuer, c.calls, c.system = claims{deal.NewClaims[ID, Run](of.claim)}, of, deal.NewCalls(), now == nil
	return c.prepare(of, faults, leaser, layout, succeeds, now, logger)
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
func (c *clocked) tick() int64 {
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

// read is tick by the wall clock.
func (c *clocked) read() int64 {
	now := c.now()
	tick := c.bits.Tick(now)
	if c.system && tick >= 0 && tick <= c.bits.MaxTick() {
		c.anchor.Store(&anchor{time.Now(), tick, c.bits.Time(tick + 1).Sub(now)})
	}
	return tick
}

// use reports to the lease that the time of tick is used or wanted.
func (c *clocked) use(tick int64) {
	end := c.bits.Time(min(max(tick, 0), c.bits.MaxTick()) + 1)
	c.lease.Use(end, end)
}

// Close is Shutdown with a deadline of [CloseTimeout].
func (c *clocked) Close() error { return deal.Close(c.Shutdown) }

// Shutdown ends every wait and gives a leased number back, within ctx. Afterwards
// calls return [ErrClosed]. Shutdown may be called more than once and from several
// goroutines. An error means that the number was not given back: it is free when
// its lease expires.
func (c *clocked) Shutdown(ctx context.Context) error {
	c.calls.Shut()
	return c.calls.Finish(func() error { return c.giveBack(ctx, c.issuer.stop()) })
}

// issued returns how many ids were issued, or fewer while calls are under way: the sum of
// a latest and an earlier that did not change meanwhile is never too great.
func (c *clocked) issued() int64 {
	for {
		earlier, latest := c.earlier.Load(), c.issuer.latest()
		if c.earlier.Load() == earlier {
			return earlier + latest
		}
	}
}

// Stats returns the generator's counts and state.
func (c *clocked) Stats() Stats {
	issued := c.issued()
	for shown := c.most.Load(); shown < issued && !c.most.CompareAndSwap(shown, issued); {
		shown = c.most.Load()
	}
	s := Stats{
		Issued:        c.most.Load(),
		RejectedTakes: c.calls.Rejected(),
		Waited:        c.calls.Waited(),
		LastError:     c.issuer.barred(),
		Clock:         c.clockStats(),
	}
	if s.Closed = c.calls.Closed(); s.Closed { // read last: stop comes after it is set
		s.LastError = nil
	}
	return s
}
