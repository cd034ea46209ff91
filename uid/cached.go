package uid

import (
	"context"
	"errors"

	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
)

// Cached deals ids that were made ahead of demand, at little more than the cost
// of an atomic add. It is the generator for most services. Make one with
// [NewCached] and share it: all methods may be called from any number of
// goroutines. The zero value is not usable.
//
// An id's time lies at most Config.MaxAge behind the clock, and at most the ring's
// ticks ahead of the clock; under load, at most Config.MaxBorrow ahead.
//
// Order: a call that ends before another call begins returns smaller ids.
//
// Cached is the counterpart of CachedUidGenerator of uid-generator.
type Cached struct {
	dealer
	stamp
	ticks *ticks
}

// NewCached takes a worker number from leaser, fills the ring and returns the
// generator. ctx bounds the start only. End the generator with Close or Shutdown.
//
// Errors match [ErrConfig], [ErrTimeExhausted] or [ErrWorkerRange], or come from
// the leaser. [ErrBorrowLimit] means that an earlier holder of the number reserved
// time beyond Config.MaxBorrow, [ErrReservation] that no time can be reserved.
func NewCached(ctx context.Context, leaser Leaser, config Config) (*Cached, error) {
	schedule, err := config.prepare()
	if err != nil {
		return nil, err
	}
	g := new(Cached)
	if err := g.prepare(config.Layout, config.Now, config.Logger); err != nil {
		return nil, err
	}
	g.ticks = newTicks(&g.stamp, config.MaxBorrow, config.MaxAge)
	if err := g.open(g.ticks.next, g.dealerConfig(config, schedule)); err != nil {
		return nil, err
	}
	g.lost = func() { g.executor.Drop(ErrWorkerLost) }
	g.extended = g.executor.Wake
	if err := g.take(ctx, leaser); err != nil {
		return nil, err
	}
	if err := g.start(ctx); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return g, nil
}

func (g *Cached) dealerConfig(config Config, schedule padding.Schedule) DealerConfig {
	options := padding.Config{
		Schedule: schedule,
		Logger:   config.Logger,
		RejectedPut: func(run ringbuffer.Run, why error) {
			if errors.Is(why, padding.ErrStale) {
				g.ticks.resume(run)
			}
			if config.RejectedPut != nil {
				config.RejectedPut(ID(run.First), run.N, why)
			}
		},
	}
	if config.MaxAge > 0 {
		options.Stale, options.StaleEvery = g.ticks.stale, config.MaxAge/8
	}
	return DealerConfig{
		Runs:          int64(1) << config.BoostPower,
		RunLen:        g.bits.MaxSequence() + 1,
		PaddingFactor: config.PaddingFactor,
		Padding:       options,
		RejectedTake:  config.RejectedTake,
		Ended:         g.ticks.ended,
		Release:       g.releaseFrom,
	}
}

// releaseFrom gives the number back, together with the time of the ids that are left
// in the ring.
func (g *Cached) releaseFrom(ctx context.Context, rest []ringbuffer.Run) error {
	next := g.ticks.last.Load() + 1
	if len(rest) > 0 {
		parts, _ := g.bits.Parse(rest[0].First)
		next = parts.Tick
		if parts.Sequence > 0 { // the tick may have been begun
			next++
		}
	}
	return g.giveBack(ctx, next)
}
