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

// clocked is what [Default] and [Slots] have in common: both read the clock when an
// id is asked for.
type clocked struct {
	stamp
	clock  clock
	issuer issuer
	_      cacheline.Pad

	// Written by calls, read by Stats.
	earlier  atomic.Int64 // ids issued, less those that the issuer's state tells
	rejected atomic.Int64 // calls that failed
	most     atomic.Int64 // ids issued, as the last Stats told; written by Stats

	gate
	close    sync.Once
	finished error // what giving back the number returned; written by close
}

// issuer issues the ids of a clocked generator.
type issuer interface {
	// claim takes at most limit consecutive ids. A patient call waits, as long as
	// ctx allows, where another fails.
	claim(ctx context.Context, limit int64, patient bool) (first ID, n int64, err error)

	// issued returns how many ids were issued, or fewer while they are.
	issued() int64

	// stop ends issuing, and returns the tick from which on nothing was stamped.
	stop() int64
}

// open prepares what needs no worker number.
func (c *clocked) open(of issuer, layout bits.Layout, now func() time.Time, logger *slog.Logger) error {
	c.issuer, c.gate = of, newGate()
	err := c.prepare(layout, now, logger)
	c.clock.bits, c.clock.now, c.clock.system = &c.bits, c.now, now == nil
	return err
}

// Wait is Next that waits, as long as ctx allows, where Next would fail for want of
// reserved time or of room. An id that is ready is returned even if ctx has ended.
func (c *clocked) Wait(ctx context.Context) (ID, error) {
	id, _, err := c.issuer.claim(ctx, 1, true)
	return id, err
}

// NextN fills ids and returns how many it filled: all of them, or fewer with the
// error that Next would have returned for the next. The filled ids are valid even
// then. For an empty slice it returns 0, nil. It waits as Next does, for as many
// ticks as it takes.
func (c *clocked) NextN(ids []ID) (int, error) { return c.fill(context.Background(), ids, false) }

// WaitN is NextN that waits as Wait does.
func (c *clocked) WaitN(ctx context.Context, ids []ID) (int, error) { return c.fill(ctx, ids, true) }

// All returns ids without end, for a range loop, as [Dealer.All] does. A loop that
// takes more than a millisecond per id gets each id stamped when it is yielded.
func (c *clocked) All(ctx context.Context) iter.Seq2[ID, error] {
	return all(ctx, func(limit int64) (ID, int64, error) { return c.issuer.claim(ctx, limit, true) })
}

func (c *clocked) fill(ctx context.Context, ids []ID, patient bool) (int, error) {
	return fillFrom(ids, func(limit int64) (ID, int64, error) { return c.issuer.claim(ctx, limit, patient) })
}

// use tells the lease that the time of tick is used or wanted.
func (c *clocked) use(tick int64) {
	end := c.bits.Time(min(max(tick, 0), c.bits.MaxTick()) + 1)
	c.lease.Use(end, end)
}

// Close is Shutdown within [CloseTimeout].
func (c *clocked) Close() error { return closeWith(c.Shutdown) }

// Shutdown ends every wait and gives a leased number back. Afterwards Next
// returns [ErrClosed]. It may be called more than once and from several
// goroutines. ctx bounds it. The error says that the number could not be given
// back: it is free when its lease expires.
func (c *clocked) Shutdown(ctx context.Context) error {
	c.shut()
	c.close.Do(func() { c.finished = c.giveBack(ctx, c.issuer.stop()) })
	return c.finished
}

// Stats returns what the generator has done so far and where it stands.
func (c *clocked) Stats() Stats {
	s := c.standing(&c.gate)
	s.RejectedTakes = c.rejected.Load()
	s.Issued = c.issuer.issued()
	for told := c.most.Load(); told < s.Issued && !c.most.CompareAndSwap(told, s.Issued); {
		told = c.most.Load()
	}
	s.Issued = c.most.Load()
	return s
}
