package uid

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/internal/contention"
	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/ringbuffer"
)

// Default reads the clock for each id and stamps the id with the current time. Most services want
// [Cached], which makes ids ahead of demand. Make a Default with [NewDefault] and share it: all
// methods are safe for concurrent use. The zero value is not usable.
//
// With [bits.Fleet], Default makes up to 65,536 ids a second. Each second, the sequence
// continues where it left off, or restarts at 0 if it has passed its midpoint, so a second may
// offer as few as half of its ids.
//
// A new Default starts at a random sequence number in the lower half of the range, even with a fake
// clock: see [docs/testing.md].
//
// Order: within one generator, a later call always returns larger ids.
//
// [docs/testing.md]: https://github.com/uidring/uidring/blob/main/docs/testing.md
type Default struct {
	holder // of the worker number
	clock  clock
	claimer
	maxBackward time.Duration
	_           contention.Pad

	// last is tick<<SequenceBits | sequence of the last id that was issued or
	// skipped. Calls and renumber move it upwards by compare-and-swap. Shutdown sets it
	// to MaxInt64, which fails every later call.
	last atomic.Int64

	// issued counts ids. A call adds to it once it has moved last, on whose line it lies;
	// Stats reads it.
	issued atomic.Int64

	// Written by renumber, read by blocked. While last is skipped, no id is issued of ticks
	// after stamped.
	skipped, stamped atomic.Int64

	calls deal.Calls
}

// NewDefault takes a worker number from source and returns the generator. ctx bounds only this
// call. Errors match [ErrConfig] or [ErrTimeExhausted], or come from source. If a crashed holder
// of a leased number reserved time ahead of the clock, NewDefault waits until the clock catches
// up; if ctx is done first, the error says when the first id can be issued.
func NewDefault(ctx context.Context, source WorkerSource, config DefaultConfig) (*Default, error) {
	return settle(ctx, source, config, &config.Layout, func(from origin) (*Default, error) {
		return startDefault(ctx, source, config, from)
	})
}

func startDefault(ctx context.Context, source WorkerSource, config DefaultConfig, from origin) (*Default, error) {
	faults := config.prepare()
	g := &Default{maxBackward: config.MaxBackward, calls: deal.NewCalls()}
	g.skipped.Store(math.MinInt64) // last is never so low
	g.holder.renumber = g.renumber
	g.holder.from = from
	if err := g.holder.prepare(faults, source, config.Layout, config.Now, config.Logger); err != nil {
		return nil, err
	}
	g.claims = deal.NewClaims[ID, Run](g.claim)
	g.clock = clock{bits: &g.holder.bits, now: g.holder.now, system: config.Now == nil}
	// A random sequence of the tick before the epoch, so that short-lived processes spread
	// their ids too.
	sequences := g.holder.bits.MaxSequence() + 1
	start := rand.Int64N(max(sequences/2, 1))
	g.last.Store(-1 - (sequences-start)%sequences)
	if err := g.holder.take(ctx, source); err != nil {
		return nil, err
	}
	if g.Worker() == 0 {
		g.last.CompareAndSwap(-1, 0) // past id 0, which stands for none
	}
	if err := g.holder.await(ctx, g.caughtUp); err != nil {
		return nil, errors.Join(err, g.Close())
	}
	g.holder.logStart("Default")
	return g, nil
}

// caughtUp reports whether Next stamps, or waits by itself for the time that an earlier holder
// of the number reserved.
func (g *Default) caughtUp(w *grant) bool {
	return g.holder.bits.Time(w.first).Sub(g.holder.now()) <= max(g.maxBackward, g.holder.bits.Layout().Unit)
}

// Next returns an id stamped with the current tick. Next waits
//
//   - until the next tick, if the current tick's ids are used up;
//   - until the clock has caught up, if it stepped back by at most
//     DefaultConfig.MaxBackward;
//   - until the time reserved by an earlier holder has passed, if that takes at most the longer of
//     a tick and MaxBackward;
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

// claim takes at most limit consecutive ids of the current tick. A Wait waits for a reservation as
// long as ctx allows.
//
// claim reads the clock before last, so that few swaps fail on several cores. If last is of
// a later tick than the reading, another call may have issued it in between, so claim reads
// the clock anew before it waits.
//
// Read last before the grant. A change of number empties the grant, moves last, and
// then installs the new grant. So if the swap succeeds, last and grant belong to the
// same number.
func (g *Default) claim(ctx context.Context, limit int64, how deal.How) (ringbuffer.Run, error) {
	for tick := g.clock.tick(); ; {
		last := g.last.Load() // before grant: renumber moves last, so a claim under the old number fails
		w := g.holder.grant.Load()
		if last>>g.holder.shift > tick { // or the tick is unread
			tick = g.clock.tick()
		}
		sequence := g.following(last, tick)
		if sequence > g.holder.bits.MaxSequence() || !w.covers(tick) {
			if err := g.pause(ctx, w, tick, last, how); err != nil {
				return ringbuffer.Run{}, g.calls.Failed(err, how)
			}
			tick = unread
			continue
		}
		n := min(limit, g.holder.bits.MaxSequence()+1-sequence)
		if g.last.CompareAndSwap(last, tick<<g.holder.shift|(sequence+n-1)) {
			g.issued.Add(n)
			if last>>g.holder.shift != tick {
				g.holder.use(tick)
			}
			return ringbuffer.Run{First: g.holder.first(tick, w.worker) + sequence, N: n}, nil
		}
	}
}

func (g *Default) used(last int64) int64 { return last&g.holder.bits.MaxSequence() + 1 }

// following returns the next sequence in tick after last, above the greatest for none.
func (g *Default) following(last, tick int64) int64 {
	switch lastTick := last >> g.holder.shift; {
	case lastTick == tick:
		return g.used(last)
	case lastTick > tick:
		return math.MaxInt64
	}
	return resumeAt(g.used(last), g.holder.bits.MaxSequence())
}

// pause waits, with nothing locked, until an id can be stamped, or returns why none can.
func (g *Default) pause(ctx context.Context, w *grant, tick, last int64, how deal.How) error {
	if g.calls.Closed() {
		return ErrClosed
	}
	left, err := g.blocked(w, tick, last, g.holder.now())
	if err != nil && !errors.Is(err, ErrReservation) {
		return err
	}
	if tick >= w.first && tick > w.last {
		g.holder.use(tick)
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
	case tick > g.holder.bits.MaxTick():
		return 0, g.holder.exhausted()
	case tick < lastTick: // the clock has stepped back, perhaps to before the epoch
		behind := g.holder.bits.Time(lastTick).Sub(now)
		if behind > g.maxBackward {
			return 0, &ClockBackwardError{Amount: behind, Max: g.maxBackward}
		}
		return behind, nil
	case tick < w.first: // an earlier holder of the number may have stamped it
		left := g.holder.bits.Time(w.first).Sub(now)
		if left > max(g.maxBackward, g.holder.bits.Layout().Unit) {
			return left, g.holder.reservationError(w)
		}
		return left, nil
	case w.covers(tick): // all of the tick's ids are issued
		return g.holder.bits.Time(tick + 1).Sub(now), nil
	case w.err != nil:
		return deal.LongestSleep, g.holder.reservationError(w)
	}
	return deal.LongestSleep, nil // more is being reserved
}

func (g *Default) lastTick(last int64) int64 {
	if last == g.skipped.Load() {
		return max(g.stamped.Load(), 0)
	}
	return max(last>>g.holder.shift, 0)
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
		next, skipped := last|g.holder.bits.MaxSequence(), g.skipped.Load()
		switch {
		case last == skipped:
			next = last + 1
			g.skipped.Store(next)
		case next == last || next < 0: // the layout's first tick may begin with id 0
			next++
			g.stamped.Store(last >> g.holder.shift)
			g.skipped.Store(next)
		}
		if g.last.CompareAndSwap(last, next) {
			return
		}
		g.skipped.Store(skipped) // a call may have issued next meanwhile
	}
}

// Stats returns the generator's counts and state.
func (g *Default) Stats() Stats {
	return g.holder.stats(&g.calls, g.issued.Load(), g.failure())
}

func (g *Default) failure() error {
	last, w := g.last.Load(), g.holder.grant.Load()
	now := g.holder.now() // read after last, which is not ahead of a clock that goes on
	_, err := g.blocked(w, g.holder.bits.Tick(now), last, now)
	return err
}

// Range returns the least and the greatest id that calls between from (inclusive) and to
// (exclusive) may have returned, as [Cached.Range] does.
//
// If from and to are tick boundaries, such as midnight, the range is exact: no call at another time
// returned an id in it. Otherwise the range covers the whole ticks in which from and to lie. The
// range holds for every Default with this layout, whatever its worker number, if from and to are
// measured by the clock of that Default's machine.
func (g *Default) Range(from, to time.Time) (first, last ID, err error) {
	return g.holder.idRange(from, to, 0, 0)
}

// Close is Shutdown with a timeout of [CloseTimeout].
func (g *Default) Close() error { return deal.Close(g.Shutdown) }

// Shutdown unblocks every waiting call and, if the number is leased, releases it. ctx bounds the
// release. Later calls for ids return [ErrClosed]. Shutdown may be called more than once and
// concurrently. An error means that the number was not released: it becomes free when its lease
// expires.
func (g *Default) Shutdown(ctx context.Context) error {
	g.calls.Shut()
	return g.calls.Finish(func() error { return g.holder.giveBack(ctx, g.stop()) })
}

// stop ends issuing, and returns a tick: that tick and all later ticks were never stamped. No
// call that is under way can issue an id once stop has swapped.
func (g *Default) stop() int64 { return g.last.Swap(math.MaxInt64)>>g.holder.shift + 1 }
