package uid

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/cacheline"
	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/internal/invalid"
)

// clocked is what [Default] and [Slots] have in common: both read the clock for each
// call, and their state counts the last ids, so that an id costs no count of its own.
type clocked struct {
	claims
	numbered
	system bool                   // now is time.Now
	anchor atomic.Pointer[anchor] // of the system's clock; nil before the first reading
	_      cacheline.Pad

	// Written by calls, read by Stats.
	earlier atomic.Int64 // ids issued, less those that the state counts
	most    atomic.Int64 // ids issued by the last Stats; written by Stats

	calls deal.Calls
}

func (c *clocked) open(of follower, claim deal.Claim, faults *invalid.List, leaser Leaser, layout, succeeds bits.Layout, now func() time.Time, logger *slog.Logger) error {
	c.claims, c.calls, c.system = claims{deal.NewClaims[ID, Run](claim)}, deal.NewCalls(), now == nil
	return c.prepare(of, faults, leaser, layout, succeeds, now, logger)
}

// await waits until ready accepts the grant, so that a start does not succeed while calls would
// fail: an earlier holder of the number may have reserved time ahead of the clock, or the number
// may be lost again. Its error says when ids begin.
func (c *clocked) await(ctx context.Context, ready func(*grant) bool) error {
	for logged := false; ; logged = true {
		w := c.grant.Load()
		held := w.covers(w.first) || !w.until.IsZero()
		switch {
		case errors.Is(w.err, ErrTimeExhausted):
			return w.err
		case held && ready(w):
			return nil
		case held:
			c.use(w.first) // so that the lease reserves beyond what the earlier holder had
		}
		begins := c.bits.Time(w.first)
		if !logged {
			c.log.Warn("uid: an earlier holder of the number reserved time ahead of the clock; the start waits until ids can be made",
				"worker", w.worker, "begins", instant(begins))
		}
		timer := time.NewTimer(min(max(begins.Sub(c.now()), time.Millisecond), time.Second)) // the clock may step
		select {
		case <-timer.C:
		case <-w.replaced:
		case <-ctx.Done():
		}
		timer.Stop()
		switch err := ctx.Err(); {
		case err != nil && held:
			return fmt.Errorf("uid: ids of number %d begin at %s, since an earlier holder reserved the time before: %w", w.worker, instant(begins), err)
		case err != nil:
			return errors.Join(err, c.reservationError(w))
		}
	}
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

func (c *clocked) read() int64 {
	now := c.now()
	tick := c.bits.Tick(now)
	if c.system && tick >= 0 && tick <= c.bits.MaxTick() {
		c.anchor.Store(&anchor{time.Now(), tick, c.bits.Time(tick + 1).Sub(now)})
	}
	return tick
}

func (c *clocked) use(tick int64) {
	end := c.bits.Time(min(max(tick, 0), c.bits.MaxTick()) + 1)
	c.lease.Use(end, end)
}

// shutdown ends every wait and gives the number back. stop ends issuing, and returns a
// tick: that tick and all later ticks were never stamped.
func (c *clocked) shutdown(ctx context.Context, stop func() int64) error {
	c.calls.Shut()
	return c.calls.Finish(func() error { return c.giveBack(ctx, stop()) })
}

// issued returns how many ids were issued, or fewer while calls are under way. latest is
// what the state counts. The generator moves its state before it raises earlier, and after
// it lowers earlier. So the sum of the two, if earlier did not change meanwhile, is never
// too great.
func (c *clocked) issued(latest func() int64) int64 {
	for {
		earlier, counted := c.earlier.Load(), latest()
		if c.earlier.Load() == earlier {
			return earlier + counted
		}
	}
}

// stats returns the counts and the state. failure returns why calls fail now; after
// stop, it may return anything.
func (c *clocked) stats(latest func() int64, failure func() error) Stats {
	issued := c.issued(latest)
	for shown := c.most.Load(); shown < issued && !c.most.CompareAndSwap(shown, issued); {
		shown = c.most.Load()
	}
	s := Stats{
		Issued:        c.most.Load(),
		RejectedTakes: c.calls.Rejected(),
		Waited:        c.calls.Waited(),
		LastError:     failure(),
		Clock:         c.clockStats(),
	}
	if s.Closed = c.calls.Closed(); s.Closed { // read last: stop comes after it is set
		s.LastError = nil
	}
	return s
}
