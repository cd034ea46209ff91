package uid

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/internal/cacheline"
	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/ringbuffer"
)

// Default is a generator that reads the clock for each id, and stamps the id with the present.
// Most services want [Cached], which makes ids ahead of demand. Make one with [NewDefault] and
// share it: all methods may be called from any number of goroutines. The zero value is not usable.
//
// With the default layout Default makes up to 8,192 ids a second. In a second that follows a quiet
// one, it has at least half of them.
//
// The first sequence is random, below half, also under a fake clock: see [TESTING.md].
//
// Order: a call that ends before another call begins returns smaller ids.
//
// [TESTING.md]: https://github.com/uidring/uidring/blob/main/uid/TESTING.md
type Default struct {
	clocked
	maxBackward time.Duration

	// last is tick<<SequenceBits | sequence of the last id that was issued or
	// skipped. Calls and move move it upwards by compare-and-swap. Shutdown sets it
	// to MaxInt64, which fails every later call.
	last cacheline.Int64

	// Written by renumber, read by blocked. While last is skipped, no id is issued of ticks
	// after stamped.
	skipped, stamped atomic.Int64
}

// NewDefault takes a worker number from leaser and returns the generator. ctx
// bounds the start only. Errors match [ErrConfig], [ErrTimeExhausted] or
// [ErrWorkerRange], or come from the leaser. If a crashed holder of a leased
// number reserved time ahead of the clock, NewDefault waits until the clock catches up; if
// ctx ends before, the error says when ids begin.
func NewDefault(ctx context.Context, leaser Leaser, config DefaultConfig) (*Default, error) {
	faults := config.prepare()
	g := &Default{maxBackward: config.MaxBackward}
	g.skipped.Store(math.MinInt64) // last is never so low
	if err := g.open(g, g.claim, faults, leaser, config.Layout, config.Succeeds, config.Now, config.Logger); err != nil {
		return nil, err
	}
	// A random sequence of the tick before the epoch, so that short-lived processes spread
	// their ids too.
	sequences := g.bits.MaxSequence() + 1
	start := rand.Int64N(max(sequences/2, 1))
	g.last.Store(-1 - (sequences-start)%sequences)
	g.earlier.Store(-g.used(g.last.Load()))
	if err := g.take(ctx, leaser); err != nil {
		return nil, err
	}
	if g.Worker() == 0 {
		g.move(-1, 0) // past id 0, which stands for none
	}
	if err := g.await(ctx, g.caughtUp); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.logStart("Default")
	return g, nil
}

// caughtUp reports whether Next stamps, or waits by itself for the time that an earlier holder
// of the number reserved.
func (g *Default) caughtUp(w *grant) bool {
	return g.bits.Time(w.first).Sub(g.now()) <= max(g.maxBackward, g.bits.Layout().Unit)
}

// Next returns an id stamped with the present tick. Next waits
//
//   - until the next tick, if the present tick's ids are used up;
//   - until the clock has caught up, if it stepped back by at most
//     DefaultConfig.MaxBackward;
//   - until the time that an earlier holder of the number reserved has passed, if
//     that takes at most a tick or MaxBackward;
//   - while more time is being reserved under a leased number.
//
// The errors are [ErrClosed], [ErrTimeExhausted], [*ClockBackwardError] and
// [*ReservationError].
func (g *Default) Next() (ID, error) {
	run, err := g.claim(context.Background(), 1, deal.Next)
	return ID(run.First), err
}

// unread stands for a tick that has yet to be read from the clock.
const unread = math.MinInt64

// claim takes at most limit consecutive ids of the present tick. A Wait waits for a
// reservation as long as ctx allows.
//
// claim reads the clock before last, so that few swaps fail on several cores. If last is of
// a later tick than the reading, another call may have issued it in between, so claim reads
// the clock anew before it waits.
//
// Read last before the grant. A change of number empties the grant, moves last, and
// then installs the new grant. So if the swap succeeds, last and grant belong to the
// same number.
func (g *Default) claim(ctx context.Context, limit int64, how deal.How) (ringbuffer.Run, error) {
	for tick := g.tick(); ; {
		last := g.last.Load() // before grant: renumber moves last, so a claim under the old number fails
		w := g.grant.Load()
		if last>>g.shift > tick { // or the tick is unread
			tick = g.tick()
		}
		sequence := g.following(last, tick)
		if sequence > g.bits.MaxSequence() || !w.covers(tick) {
			if err := g.pause(ctx, w, tick, last, how); err != nil {
				return ringbuffer.Run{}, g.calls.Failed(err, how)
			}
			tick = unread
			continue
		}
		n := min(limit, g.bits.MaxSequence()+1-sequence)
		if g.last.CompareAndSwap(last, tick<<g.shift|(sequence+n-1)) {
			if last>>g.shift != tick {
				g.earlier.Add(g.used(last) - sequence)
				g.use(tick)
			}
			return ringbuffer.Run{First: g.first(tick, w.worker) + sequence, N: n}, nil
		}
	}
}

func (g *Default) used(last int64) int64 { return last&g.bits.MaxSequence() + 1 }

// following returns the next sequence in tick after last, above the greatest for none.
func (g *Default) following(last, tick int64) int64 {
	switch lastTick := last >> g.shift; {
	case lastTick == tick:
		return g.used(last)
	case lastTick > tick:
		return math.MaxInt64
	}
	return resumeAt(g.used(last), g.bits.MaxSequence())
}

// pause waits, with nothing locked, until an id can be stamped, or returns why none can.
func (g *Default) pause(ctx context.Context, w *grant, tick, last int64, how deal.How) error {
	if g.calls.Closed() {
		return ErrClosed
	}
	left, err := g.blocked(w, tick, last, g.now())
	if err != nil && !errors.Is(err, ErrReservation) {
		return err
	}
	if tick >= w.first && tick > w.last {
		g.use(tick)
	}
	switch {
	case how == deal.Try:
		return ErrNotReady
	case err != nil && how == deal.Next:
		return err
	}
	return g.calls.Sleep(ctx, w.replaced, left)
}

// blocked returns why a call that cannot stamp tick fails, nil if it waits instead, and
// for how long one waits.
func (g *Default) blocked(w *grant, tick, last int64, now time.Time) (time.Duration, error) {
	switch lastTick := g.lastTick(last); {
	case tick > g.bits.MaxTick():
		return 0, g.exhausted()
	case tick < lastTick: // the clock has stepped back, perhaps to before the epoch
		behind := g.bits.Time(lastTick).Sub(now)
		if behind > g.maxBackward {
			return 0, &ClockBackwardError{Amount: behind, Max: g.maxBackward}
		}
		return behind, nil
	case tick < w.first: // an earlier holder of the number may have stamped it
		left := g.bits.Time(w.first).Sub(now)
		if left > max(g.maxBackward, g.bits.Layout().Unit) {
			return left, g.reservationError(w)
		}
		return left, nil
	case w.covers(tick): // all of the tick's ids are issued
		return g.bits.Time(tick + 1).Sub(now), nil
	case w.err != nil:
		return deal.LongestSleep, g.reservationError(w)
	}
	return deal.LongestSleep, nil // more is being reserved
}

func (g *Default) lastTick(last int64) int64 {
	if last == g.skipped.Load() {
		return max(g.stamped.Load(), 0)
	}
	return max(last>>g.shift, 0)
}

// renumber keeps ids in order when the number changes: the new number does not
// stamp a tick in which the old number stamped. So renumber discards the rest of
// the last tick, or one id more if nothing is left. Either way last changes, so the
// compare-and-swap of a claim under the old number fails.
func (g *Default) renumber(*grant) {
	if g.Worker() < 0 {
		return // there is no old number
	}
	for {
		last := g.last.Load()
		if last == math.MaxInt64 {
			return // Shutdown came in between: no later call may issue an id
		}
		next, skipped := last|g.bits.MaxSequence(), g.skipped.Load()
		switch {
		case last == skipped:
			next = last + 1
			g.skipped.Store(next)
		case next == last || next < 0: // the layout's first tick may begin with id 0
			next++
			g.stamped.Store(last >> g.shift)
			g.skipped.Store(next)
		}
		if g.move(last, next) {
			return
		}
		g.skipped.Store(skipped) // a call may have issued next meanwhile
	}
}

// move moves last to next and issues nothing, unless a call has moved last meanwhile.
func (g *Default) move(last, next int64) (moved bool) {
	more := g.used(last) - g.used(next) // of earlier, since latest becomes used(next)
	g.earlier.Add(min(more, 0))         // before the swap, so that Stats never counts too many
	if moved = g.last.CompareAndSwap(last, next); moved {
		g.earlier.Add(max(more, 0))
	} else {
		g.earlier.Add(max(-more, 0))
	}
	return moved
}

// Stats returns the generator's counts and state.
func (g *Default) Stats() Stats {
	return g.stats(func() int64 { return g.used(g.last.Load()) }, g.failure)
}

func (g *Default) failure() error {
	last, w := g.last.Load(), g.grant.Load()
	now := g.now() // read after last, which is not ahead of a clock that goes on
	_, err := g.blocked(w, g.bits.Tick(now), last, now)
	return err
}

// Range returns the least and the greatest id that calls at from or later and before to
// can have returned, as [Cached.Range] does.
//
// If from and to are whole ticks, such as midnights, the range is exact: no call at
// another time returned an id of the range. Otherwise the range has all ids of the ticks
// in which from and to lie. It holds for every Default of the layout, of any worker, by
// the clock of its machine.
func (g *Default) Range(from, to time.Time) (first, last ID, err error) {
	return g.idRange(from, to, 0, 0)
}

// Close is Shutdown with a deadline of [CloseTimeout].
func (g *Default) Close() error { return deal.Close(g.Shutdown) }

// Shutdown ends every wait and gives a leased number back, within ctx. Afterwards
// calls return [ErrClosed]. Shutdown may be called more than once and from several
// goroutines. An error means that the number was not given back: it is free when
// its lease expires.
func (g *Default) Shutdown(ctx context.Context) error { return g.shutdown(ctx, g.stop) }

// stop ends issuing, as shutdown says. No call that is under way can issue an id once stop
// has swapped.
func (g *Default) stop() int64 {
	for {
		if last := g.last.Load(); g.move(last, math.MaxInt64) {
			return last>>g.shift + 1
		}
	}
}
