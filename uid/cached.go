package uid

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
)

// Cached deals ids that were made ahead of demand, at little more than the cost
// of an atomic add. It is the generator for most services. Make one with
// [NewCached] and share it: all methods may be called from any number of
// goroutines. The zero value is not usable.
//
// Order: a call that ends before another call begins returns smaller ids.
type Cached struct {
	ring   *ringbuffer.Ring // of engine
	engine *deal.Dealer     // deals the ids of ticks
	claims deal.Claims[ID, Run]
	holder holder // of the worker number
	ticks  *ticks
}

// CloseTimeout is how long Close waits at most, for a source that blocks and
// for the release of a worker number: 5 seconds. Shutdown takes a context instead.
const CloseTimeout = deal.CloseTimeout

// NewCached takes a worker number from source, fills the ring and returns the
// generator. ctx bounds the start only. End the generator with Close or Shutdown.
//
// Errors match [ErrConfig] or [ErrTimeExhausted], or come from source. [ErrBorrowLimit] means
// that an earlier holder of the number reserved time beyond CachedConfig.MaxBorrow,
// [ErrReservation] that no time can be reserved.
func NewCached(ctx context.Context, source WorkerSource, config CachedConfig) (*Cached, error) {
	schedule, faults := config.prepare()
	g := new(Cached)
	g.holder.regranted = g.regranted
	if err := g.holder.prepare(faults, source, config.Layout, config.PreviousLayout, config.Now, config.Logger); err != nil {
		return nil, err
	}
	borrow := g.holder.bits.MaxTick()
	if config.MaxBorrow >= 0 {
		borrow = int64(config.MaxBorrow / config.Layout.Unit)
	}
	g.ticks = &ticks{holder: &g.holder, maxBorrow: config.MaxBorrow, maxAge: config.MaxAge, borrow: borrow}
	g.ticks.last.Store(-1)
	engine, err := deal.New(g.ticks.next, g.dealerConfig(config, schedule))
	if err != nil {
		return nil, err
	}
	g.claims, g.engine, g.ring = deal.ClaimsOf[ID, Run](engine), engine, engine.Ring()
	if err := g.holder.take(ctx, source); err != nil {
		return nil, err
	}
	if err := g.engine.Start(ctx, func(err error) bool { return PolicyHelp(Refusal{Err: err}) == nil }); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.holder.logStart("Cached")
	return g, nil
}

func (g *Cached) dealerConfig(config CachedConfig, schedule padding.Schedule) deal.Config {
	options := padding.Config{
		Schedule: schedule,
		Logger:   config.Logger,
		RejectedPut: func(run ringbuffer.Run, why error) {
			switch {
			case errors.Is(why, ErrStale):
				g.ticks.resume(run)
			case errors.Is(why, ringbuffer.ErrClosed):
				g.ticks.untake(run)
				why = ErrClosed
			}
			if config.RejectedPut != nil {
				config.RejectedPut(Run{ID(run.First), run.N}, why)
			}
		},
	}
	if config.MaxAge > 0 {
		options.Stale, options.StaleEvery = g.ticks.stale, config.MaxAge/8
	}
	return deal.Config{
		Runs:          int64(1) << config.BoostPower,
		RunLen:        g.holder.bits.MaxSequence() + 1,
		PaddingFactor: config.PaddingFactor,
		Padding:       options,
		Policy:        deal.PolicyOf("uid", config.RejectedTake, PolicyHelp),
		Ended:         g.ticks.ended,
		Release:       g.releaseFrom,
	}
}

func (g *Cached) regranted(lost bool) {
	if lost {
		g.engine.Drop(ErrWorkerLost)
	}
	g.engine.Wake()
}

// Next returns the next id, from memory. When the ring is empty, the policy
// RejectedTake decides. [PolicyReject] fails at once. [PolicyHelp] waits only for a reservation that
// is under way. [PolicyWait] blocks until there is an id. After Close the error is [ErrClosed].
func (g *Cached) Next() (id ID, err error) {
	taken, err := g.ring.Take()
	return ID(taken), err
}

// Wait is Next, but blocks until ctx ends where Next would fail because no id is ready.
// An id that is ready is returned even if ctx has ended.
func (g *Cached) Wait(ctx context.Context) (ID, error) { return g.claims.Wait(ctx) }

// NextN is Next for many ids, as [Generator] says.
func (g *Cached) NextN(ids []ID) (int, error) { return g.claims.NextN(ids) }

// WaitN is NextN, but waits as Wait does.
func (g *Cached) WaitN(ctx context.Context, ids []ID) (int, error) { return g.claims.WaitN(ctx, ids) }

// Claim returns 1 to limit consecutive ids, as [Generator] says.
func (g *Cached) Claim(ctx context.Context, limit int64) (Run, error) {
	return g.claims.Claim(ctx, limit)
}

// TryClaim returns 1 to limit consecutive ids that are ready, as [Generator] says.
func (g *Cached) TryClaim(limit int64) (Run, error) { return g.claims.TryClaim(limit) }

// All returns ids without end, for a range loop, as [Generator] says.
func (g *Cached) All(ctx context.Context) iter.Seq2[ID, error] { return g.claims.All(ctx) }

// Close is Shutdown with a deadline of [CloseTimeout].
func (g *Cached) Close() error { return g.engine.Close() }

// Shutdown ends every wait, drops the ids that were not dealt and gives back a leased worker
// number. Afterwards calls return [ErrClosed]. Later and concurrent calls wait for the
// first, whose ctx bounds it. The error says what could not be stopped or given back.
func (g *Cached) Shutdown(ctx context.Context) error { return g.engine.Shutdown(ctx) }

// releaseFrom gives the number back, together with the time of the ids that are left
// in the ring, or that the closed ring refused.
func (g *Cached) releaseFrom(ctx context.Context, rest []ringbuffer.Run) error {
	next := g.ticks.last.Load() + 1
	if len(rest) > 0 {
		parts, _ := g.holder.bits.Parse(rest[0].First)
		next = parts.Tick
		if parts.Sequence > 0 { // the tick may have been begun
			next++
		}
	}
	return g.holder.giveBack(ctx, next)
}

// Range returns the least and the greatest id that calls at from or later and before to
// can have returned. Both ids belong to the range:
//
//	WHERE id BETWEEN first AND last
//
// The range is a superset: it also has ids of calls up to MaxBorrow before from, and of
// calls up to MaxAge after to; [Default.Range] is exact. An [Unlimited] MaxAge begins the
// range at the layout's first id, and an Unlimited MaxBorrow ends it at the last. What lies outside
// the layout's time is left out. If nothing is left, or to is not after from, the error
// matches [bits.ErrRange].
//
// The range holds for all generators of the layout, of any worker, whose MaxAge and
// MaxBorrow are not greater, except Slots. Widen the span of time by the difference
// between the machines' clocks. A loop over All that holds ids back for longer than
// MaxAge yields ids from before the range.
func (g *Cached) Range(from, to time.Time) (first, last ID, err error) {
	return g.holder.idRange(from, to, g.ticks.maxAge, g.ticks.borrow)
}

// Worker returns the number under which ids are stamped. It changes only after a leased number
// was lost.
func (g *Cached) Worker() int64 { return g.holder.grant.Load().worker }

// Layout returns the layout of the ids.
func (g *Cached) Layout() bits.Layout { return g.holder.bits.Layout() }

// Parse takes an id apart. For a number that is no id of the layout, the error matches
// [bits.ErrForeign] and quotes the number.
func (g *Cached) Parse(id ID) (bits.Parts, error) { return g.holder.bits.Parse(int64(id)) }

// Stats returns the generator's counts and state.
func (g *Cached) Stats() Stats {
	d := g.engine.Stats()
	s := Stats{
		Issued:        d.Taken,
		Starved:       d.Starved,
		RejectedTakes: d.Rejected,
		Waited:        d.Waited,
		Remaining:     d.Remaining,
		Dropped:       d.Dropped,
		Closed:        d.Closed,
		LastError:     d.LastError,
		Clock:         g.holder.clockStats(),
		Ring: &RingStats{
			Capacity:     g.ring.Capacity(),
			Threshold:    g.ring.Threshold(),
			MaxAge:       g.ticks.maxAge,
			Borrowed:     g.ticks.borrowed(),
			MaxBorrow:    g.ticks.maxBorrow,
			Refills:      d.Refills,
			Helps:        d.Helps,
			RejectedPuts: d.RejectedPuts,
		},
	}
	if id, ok := g.ring.Oldest(); ok {
		parts, _ := g.holder.bits.Parse(id)
		s.Ring.OldestAge = g.holder.now().Sub(parts.Time)
	}
	return s
}
