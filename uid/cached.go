package uid

import (
	"context"
	"errors"

	"github.com/uidring/uidring/internal/cacheline"
	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
)

// Cached deals ids that were made ahead of demand, at little more than the cost
// of an atomic add. Make one with [NewCached] and share it: all methods may be
// called from any number of goroutines. The zero value is of no use.
//
// It is the generator for most services. Under load it borrows: ids may be
// stamped up to Config.MaxBorrow ahead of the clock. When idle, the ids that
// wait in its ring keep the time at which they were made; Config.MaxAge bounds
// how old they get. [Default] stamps every id with the present, at the price of
// a clock reading for each and of waiting when a tick's ids are used up.
//
// Order: if one call ends before another begins, its ids are smaller.
//
// It answers to CachedUidGenerator of uid-generator.
type Cached struct {
	base
	ring     *ringbuffer.Ring
	executor *padding.Executor
	ticks    *ticks
	policy   func(Refusal) error
	rejected cacheline.Int64 // takes that failed; written by takers, read by Stats
}

// NewCached returns a generator whose ring is as full as borrowed time allows,
// under the number that assigner gives it. ctx bounds the start only. The
// errors match [ErrConfig], [ErrTimeExhausted], [ErrWorkerRange] or, where a
// number's earlier holder has reserved more time than may be borrowed,
// [ErrBorrowLimit], or no more can be reserved, [ErrReservation], or come from the
// assigner. End a generator with [Cached.Close].
func NewCached(ctx context.Context, assigner Assigner, config Config) (*Cached, error) {
	config, err := config.prepare(kindCached)
	if err != nil {
		return nil, err
	}
	g := &Cached{policy: config.RejectedTake}
	if err := g.open(config); err != nil {
		return nil, err
	}
	g.ticks = newTicks(&g.base, config.MaxBorrow)
	if err := g.makeRing(config); err != nil {
		return nil, err
	}
	g.renumbered = func() {} // a tick is of one number
	g.lost = g.executor.Drop
	if err := g.take(ctx, assigner); err != nil {
		return nil, err
	}
	if err := g.begin(ctx); err != nil {
		return nil, errors.Join(err, g.release(0))
	}
	g.executor.Start()
	return g, nil
}

// begin fills the ring for the first time. One that is not full for want of
// borrowed or reserved time, or of time at all, is no fault as long as there are
// ids. A reservation that is under way is waited for: the first tick may lie far
// ahead, where a number's earlier holder had borrowed.
func (g *Cached) begin(ctx context.Context) error {
	for {
		w := g.window.Load()
		err := g.executor.Fill()
		if err == nil || g.ring.Remaining() > 0 {
			return nil
		}
		if !errors.Is(err, ErrReservation) || w.err != nil {
			return err
		}
		if ended := g.sleep(ctx, w, longestSleep); ended != nil {
			return errors.Join(ended, err)
		}
	}
}

// makeRing makes the ring and what keeps it full.
func (g *Cached) makeRing(config Config) (err error) {
	runs, runLen := int64(1)<<config.BoostPower, g.bits.MaxSequence()+1
	g.ring, err = ringbuffer.New(ringbuffer.Config{
		Runs:      runs,
		RunLen:    runLen,
		Threshold: threshold(runs*runLen, int64(config.PaddingFactor)),
		RejectedTake: func(attempt int) error {
			return g.refused(context.Background(), g.policy, attempt)
		},
	})
	if err != nil {
		return err
	}
	options := padding.Config{Schedule: config.Schedule, Logger: config.Logger}
	if config.MaxAge > 0 {
		options.Stale = func() int64 { return g.ticks.stale(config.MaxAge) }
	}
	if handler := config.RejectedPut; handler != nil {
		options.RejectedPut = func(run ringbuffer.Run, err error) { handler(ID(run.First), run.N, err) }
	}
	g.executor, err = padding.New(g.ring, g.ticks.next, options)
	return err
}

// threshold returns factor per cent of capacity, but no less than 1, without
// multiplying the two, which would wrap for a great capacity.
func threshold(capacity, factor int64) int64 {
	return max(1, capacity/100*factor+capacity%100*factor/100)
}

// Next returns the next id, at once. It fails only as Config.RejectedTake has it
// fail when no id may be issued ([ErrBorrowLimit], [ErrReservation]), with
// [ErrTimeExhausted] at the end of the layout, and with [ErrClosed].
func (g *Cached) Next() (ID, error) {
	id, err := g.ring.Take()
	return ID(id), err
}

// Wait returns the next id, and waits where none may be issued for now: until
// the clock has come far enough, ctx ends or the generator is closed. An id that
// is ready is returned even if ctx has ended.
func (g *Cached) Wait(ctx context.Context) (ID, error) {
	run := g.ring.TakeRun(1)
	for attempt := 1; run.N == 0; attempt++ {
		if err := g.refused(ctx, Wait, attempt); err != nil {
			return 0, err
		}
		run = g.ring.TakeRun(1)
	}
	return ID(run.First), nil
}

// NextN fills ids with ascending ids and returns how many it filled: all of
// them, or fewer with the error that [Cached.Next] would have returned for the
// next. The ids that it did fill are good. A slice of no length is 0, nil.
//
// It claims a tick's worth at a time, so the cost per id falls to that of
// writing it.
func (g *Cached) NextN(ids []ID) (int, error) {
	n, attempt := 0, 0
	for n < len(ids) {
		run := g.ring.TakeRun(int64(len(ids) - n))
		if run.N == 0 {
			attempt++
			if err := g.refused(context.Background(), g.policy, attempt); err != nil {
				return n, err
			}
			continue
		}
		fill(ids[n:n+int(run.N)], ID(run.First))
		n += int(run.N)
	}
	return n, nil
}

// refused does what the policy says about a take that found the ring empty. It
// returns nil when the take is to be tried again.
func (g *Cached) refused(ctx context.Context, policy func(Refusal) error, attempt int) error {
	err := g.refill(ctx, policy, attempt)
	if err != nil {
		g.rejected.Add(1)
	}
	return err
}

func (g *Cached) refill(ctx context.Context, policy func(Refusal) error, attempt int) error {
	if g.closed.Load() {
		return ErrClosed
	}
	if !g.ticks.ended() {
		if err := ask(policy, Refusal{ErrRingEmpty, attempt}); err != nil {
			return err
		}
	}
	w := g.window.Load() // before the attempt, so that no change after it is missed
	err := g.executor.Help()
	wait := longestSleep
	var limit *BorrowLimitError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ringbuffer.ErrClosed):
		return ErrClosed
	case errors.As(err, &limit):
		wait = limit.Retry
	case !errors.Is(err, ErrReservation):
		return err
	}
	if err := ask(policy, Refusal{err, attempt}); err != nil {
		return err
	}
	return g.sleep(ctx, w, wait)
}

func ask(policy func(Refusal) error, r Refusal) error {
	return padding.Guard("RejectedTake", func() error { return policy(r) })
}

// Close stops the generator's goroutine, waits for it, drops the ids that were not
// issued and gives a leased number back, with the time that they would have
// carried. Afterwards Next returns [ErrClosed]. It may be called more than once
// and from several goroutines. The error is nil but for a number that could not be
// given back, which is free when its lease expires. It tries that for 5 seconds, or
// for as long as a statement that is under way takes to let go.
func (g *Cached) Close() error {
	g.shut()
	g.executor.Close()
	first := g.ring.Close()
	next := g.ticks.last.Load() + 1
	if first >= 0 { // the first id that was not issued
		parts, _ := g.bits.Parse(first)
		next = parts.Tick
		if parts.Sequence > 0 {
			next++
		}
	}
	return g.release(next)
}
