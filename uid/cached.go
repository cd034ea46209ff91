package uid

import (
	"context"
	"errors"
	"time"

	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
)

// Cached deals ids that it made ahead of demand, at little more than the cost of an atomic add.
// It is the right choice for most services. Make one with [NewCached] and share it: all methods
// are safe for concurrent use. The zero value is not usable.
//
// Order: within one generator, a later call always returns larger ids.
type Cached struct {
	ring   *ringbuffer.Ring // of engine
	engine *deal.Dealer     // deals the ids of ticks
	claimer
	holder // of the worker number
	ticks  *ticks
}

// CloseTimeout is the longest that any generator's Close waits, for example to release a worker
// number or return unused ids: 5 seconds. Shutdown takes a context instead.
const CloseTimeout = deal.CloseTimeout

// NewCached takes a worker number from source, fills the ring and returns the generator. ctx
// bounds only this call. Stop the generator with Close or Shutdown.
//
// Errors match [ErrConfig], [ErrTimeExhausted], [ErrBorrowLimit] or [ErrReservation], or come from
// source. ErrBorrowLimit means that an earlier holder of the number reserved time beyond
// CachedConfig.MaxBorrow, and ErrReservation means that no time can be reserved.
func NewCached(ctx context.Context, source WorkerSource, config CachedConfig) (*Cached, error) {
	return settle(ctx, source, config, &config.Layout, func(from origin) (*Cached, error) {
		return startCached(ctx, source, config, from)
	})
}

func startCached(ctx context.Context, source WorkerSource, config CachedConfig, from origin) (*Cached, error) {
	schedule, faults := config.prepare()
	g := new(Cached)
	g.holder.regranted = g.regranted
	g.holder.from = from
	if err := g.holder.prepare(faults, source, config.Layout, config.Now, config.Logger); err != nil {
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

// Next returns the next id from memory. When the ring is empty, RejectedTake decides:
// [PolicyReject] fails immediately, [PolicyHelp] makes ids itself and waits only for a reservation
// in flight, and [PolicyWait] blocks until an id is ready. After Close, the error is [ErrClosed].
func (g *Cached) Next() (id ID, err error) {
	taken, err := g.ring.Take()
	return ID(taken), err
}

// Close is Shutdown with a timeout of [CloseTimeout].
func (g *Cached) Close() error { return g.engine.Close() }

// Shutdown unblocks every waiting call, drops the remaining ids and, if the worker number is
// leased, releases it. Later calls for ids return [ErrClosed]. Later and concurrent calls to
// Shutdown wait for the first, which is bounded by its own ctx. The error says what could not be
// stopped or released.
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

// Range returns the least and the greatest id that calls between from (inclusive) and to
// (exclusive) may have returned. The range includes both ids:
//
//	WHERE id BETWEEN first AND last
//
// The range is a superset: it also covers calls up to MaxAge plus MaxBorrow earlier or later. It can
// miss ids of the first MaxAge/8 after the clock jumped ahead or a paused process continued.
// [Default.Range] is exact to the tick. With an [Unlimited] MaxAge, the range begins at the
// layout's first id, and with an Unlimited MaxBorrow it ends at the last. The range is clipped to
// the layout's lifetime. If nothing is left, or from is not before to, the error matches
// [bits.ErrRange].
//
// The range holds for every Default with this layout, whatever its worker number, and for every other
// Cached with this layout, unless its MaxAge or MaxBorrow is larger. If the machines' clocks
// differ, widen the period at both ends by the difference. A loop over All that holds claimed ids for
// longer than MaxAge can yield ids from before the range.
func (g *Cached) Range(from, to time.Time) (first, last ID, err error) {
	return g.holder.idRange(from, to, g.ticks.maxAge, g.ticks.borrow)
}

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
