package uid

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/cacheline"
	"github.com/uidring/uidring/internal/invalid"
)

// clocked is what [Default] and [Slots] have in common: both read the clock for each
// call.
type clocked struct {
	claims
	stamp
	clock  clock
	issuer issuer
	_      cacheline.Pad

	// Written by calls, read by Stats.
	earlier atomic.Int64 // ids issued, less those that the issuer's state counts
	most    atomic.Int64 // ids issued by the last Stats; written by Stats

	gate
	close    sync.Once
	finished error // of giving back the number; written by close
}

// issuer issues the ids of a clocked generator.
type issuer interface {
	// claim is the source of [claims].
	claim(ctx context.Context, limit int64, wait bool) (Run, error)

	// issued returns how many ids were issued, or fewer while calls are under way.
	issued() int64

	// barred returns why calls fail now, nil if they do not. After stop, it returns anything.
	barred() error

	// stop ends issuing, and returns a tick. That tick and all later ticks were never
	// stamped.
	stop() int64
}

// open does the part of the start that needs no worker number.
func (c *clocked) open(of issuer, faults *invalid.List, leaser Leaser, layout, succeeds bits.Layout, now func() time.Time, logger *slog.Logger) error {
	c.claims, c.issuer, c.gate = of.claim, of, newGate()
	err := c.prepare(faults, leaser, layout, succeeds, now, logger)
	c.clock.bits, c.clock.now, c.clock.system = &c.bits, c.now, now == nil
	return err
}

// use reports to the lease that the time of tick is used or wanted.
func (c *clocked) use(tick int64) {
	end := c.bits.Time(min(max(tick, 0), c.bits.MaxTick()) + 1)
	c.lease.Use(end, end)
}

// Close is Shutdown with a deadline of [CloseTimeout].
func (c *clocked) Close() error { return closeWith(c.Shutdown) }

// Shutdown ends every wait and gives a leased number back, within ctx. Afterwards
// calls return [ErrClosed]. Shutdown may be called more than once and from several
// goroutines. An error means that the number was not given back: it is free when
// its lease expires.
func (c *clocked) Shutdown(ctx context.Context) error {
	c.shut()
	c.close.Do(func() { c.finished = c.giveBack(ctx, c.issuer.stop()) })
	return c.finished
}

// Stats returns the generator's counts and state.
func (c *clocked) Stats() Stats {
	issued := c.issuer.issued()
	for shown := c.most.Load(); shown < issued && !c.most.CompareAndSwap(shown, issued); {
		shown = c.most.Load()
	}
	s := Stats{
		Issued:        c.most.Load(),
		RejectedTakes: c.rejected.Load(),
		Waited:        time.Duration(c.waited.Load()),
		LastError:     c.issuer.barred(),
		Clock:         c.clockStats(),
	}
	if s.Closed = c.closed.Load(); s.Closed { // read last: stop comes after it is set
		s.LastError = nil
	}
	return s
}
