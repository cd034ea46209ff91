package uid

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/cacheline"
)

// clocked is what [Default] and [Slots] have in common: both read the clock for each
// call.
type clocked struct {
	stamp
	clock  clock
	issuer issuer
	_      cacheline.Pad

	// Written by calls, read by Stats.
	earlier  atomic.Int64 // ids issued, less those that the issuer's state counts
	rejected atomic.Int64 // calls that failed
	most     atomic.Int64 // ids issued by the last Stats; written by Stats

	gate
	close    sync.Once
	finished error // of giving back the number; written by close
}

// issuer issues the ids of a clocked generator.
type issuer interface {
	// claim takes at most limit consecutive ids. A patient call waits until ctx ends
	// where another call fails.
	claim(ctx context.Context, limit int64, patient bool) (first ID, n int64, err error)

	// issued returns how many ids were issued, or fewer while calls are under way.
	issued() int64

	// stop ends issuing, and returns a tick. That tick and all later ticks were never
	// stamped.
	stop() int64
}

// open does the part of the start that needs no worker number.
func (c *clocked) open(of issuer, layout, succeeds bits.Layout, now func() time.Time, logger *slog.Logger) error {
	c.issuer, c.gate = of, newGate()
	err := c.prepare(layout, succeeds, now, logger)
	c.clock.bits, c.clock.now, c.clock.system = &c.bits, c.now, now == nil
	return err
}

// Wait is Next, but waits until ctx ends where Next would fail because no time is
// reserved or all slots are full. An id that is ready is returned even if ctx has
// ended.
func (c *clocked) Wait(ctx context.Context) (ID, error) {
	id, _, err := c.issuer.claim(ctx, 1, true)
	return id, err
}

// NextN fills ids and returns how many it filled. If it fills fewer than all, the
// error is that of Next, and the filled ids are valid. For an empty slice NextN
// returns 0, nil. It waits as Next does, for as many ticks as the ids need.
func (c *clocked) NextN(ids []ID) (int, error) {
	return fillFrom(ids, c.claims(context.Background(), false))
}

// WaitN is NextN, but waits as Wait does.
func (c *clocked) WaitN(ctx context.Context, ids []ID) (int, error) {
	return fillFrom(ids, c.claims(ctx, true))
}

// All returns ids without end, for a range loop, as [Dealer.All] does. For a loop
// that takes more than a millisecond per id, All stamps each id when it yields the id.
func (c *clocked) All(ctx context.Context) iter.Seq2[ID, error] {
	return all(ctx, c.claims(ctx, true))
}

func (c *clocked) claims(ctx context.Context, patient bool) claims {
	return func(limit int64) (ID, int64, error) { return c.issuer.claim(ctx, limit, patient) }
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
	s := c.standing(&c.gate)
	s.RejectedTakes = c.rejected.Load()
	s.Issued = c.issuer.issued()
	for shown := c.most.Load(); shown < s.Issued && !c.most.CompareAndSwap(shown, s.Issued); {
		shown = c.most.Load()
	}
	s.Issued = c.most.Load()
	return s
}
