package uid

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/internal/cacheline"
)

// Default stamps every id with the present. Make one with [NewDefault] and share
// it: all methods may be called from any number of goroutines. The zero value is
// of no use.
//
// It reads the clock for each id, and when a tick's ids are used up it waits for
// the next: with the default layout it makes 8,192 ids a second. [Cached] is
// the faster one.
//
// Order: if one call ends before another begins, its ids are smaller.
//
// It answers to DefaultUidGenerator of uid-generator.
type Default struct {
	base
	maxBackward time.Duration
	shift       uint8 // SequenceBits

	// last is tick<<SequenceBits | sequence of the last id issued, or taken for
	// issued, -1 before the first. Every call writes it by compare-and-swap, after it has
	// looked at the clock and the window, so a refused call changes nothing. Close
	// sets it to the greatest number there is, which fails every later one.
	last cacheline.Int64

	close sync.Once
	final atomic.Int64 // last as Close found it; unclosed before

	// Written by calls, read by Stats.
	earlier  atomic.Int64 // ids issued in ticks before that of last
	rejected atomic.Int64 // calls that failed

	issued atomic.Int64 // the most that Stats has told; written by Stats
}

// NewDefault returns a generator under the number that assigner gives it. Under a
// leased number that an earlier holder had reserved ahead, as a crash leaves it,
// Next fails with [ErrReservation] until the clock has got there. ctx bounds the
// assignment only. The errors match [ErrConfig], [ErrTimeExhausted]
// or [ErrWorkerRange], or come from the assigner.
func NewDefault(ctx context.Context, assigner Assigner, config Config) (*Default, error) {
	config, err := config.prepare(kindDefault)
	if err != nil {
		return nil, err
	}
	g := &Default{maxBackward: max(config.MaxBackward, 0), shift: config.Layout.SequenceBits}
	g.last.Store(-1)
	g.final.Store(unclosed)
	if err := g.open(config); err != nil {
		return nil, err
	}
	g.renumbered = g.skip
	g.lost = func() {} // nothing waits to be issued
	if err := g.take(ctx, assigner); err != nil {
		return nil, err
	}
	if g.Worker() == 0 {
		g.skipZero()
	}
	return g, nil
}

// Next returns an id stamped with the present tick. When the tick's ids are used
// up it waits for the next tick, and when the clock has stepped back by no more
// than Config.MaxBackward it waits for that. The errors are [ErrClosed],
// [ErrTimeExhausted], [*ClockBackwardError] and, under a leased number,
// [*ReservationError].
func (g *Default) Next() (ID, error) {
	id, _, err := g.claim(context.Background(), 1, false)
	return id, err
}

// Wait is Next with a wait that ends with ctx. Where Next would fail for want of
// reserved time, it waits for that too. An id that is ready is returned even if
// ctx has ended.
func (g *Default) Wait(ctx context.Context) (ID, error) {
	id, _, err := g.claim(ctx, 1, true)
	return id, err
}

// NextN fills ids with ascending ids and returns how many it filled: all of
// them, or fewer with the error that [Default.Next] would have returned for the
// next. The ids that it did fill are good. A slice of no length is 0, nil. It
// waits as Next does, for as many ticks as it takes.
func (g *Default) NextN(ids []ID) (int, error) {
	n := 0
	for n < len(ids) {
		first, count, err := g.claim(context.Background(), int64(len(ids)-n), false)
		if err != nil {
			return n, err
		}
		fill(ids[n:n+int(count)], first)
		n += int(count)
	}
	return n, nil
}

// claim takes at most limit consecutive ids of the present tick. A patient call
// waits for a reservation as long as ctx allows.
func (g *Default) claim(ctx context.Context, limit int64, patient bool) (first ID, n int64, err error) {
	for !g.closed.Load() {
		// The last id before the clock: read the other way round, an id issued
		// in between would make a clock that runs forward look as if it had gone
		// back. And before the window: what is read of it was not older than last.
		last := g.last.Load()
		w := g.window.Load()
		now := g.now()
		tick := g.bits.Tick(now)
		for {
			lastTick, sequence := last>>g.shift, int64(0)
			if tick == lastTick {
				sequence = last&g.bits.MaxSequence() + 1
			}
			if tick < lastTick || sequence > g.bits.MaxSequence() || !w.covers(tick) {
				if err := g.pause(ctx, w, now, tick, lastTick, patient); err != nil {
					g.rejected.Add(1)
					return 0, 0, err
				}
				break
			}
			n := min(limit, g.bits.MaxSequence()+1-sequence)
			if g.last.CompareAndSwap(last, tick<<g.shift|(sequence+n-1)) {
				if tick != lastTick {
					g.began(tick, last)
				}
				if g.lease != nil && g.window.Load() != w {
					// The number may be another by now, whose ids of this tick
					// could be less: the claim becomes a gap. A change empties
					// the window before it moves last on, so a claim that sees
					// its window unchanged here came before that.
					g.earlier.Add(-n)
					break
				}
				return ID(g.bits.First(tick, w.worker) + sequence), n, nil
			}
			// Another goroutine was faster. The clock need not be read again
			// for it, unless it has seen a later tick.
			last = g.last.Load()
			if w = g.window.Load(); last>>g.shift > tick {
				break
			}
		}
	}
	g.rejected.Add(1)
	return 0, 0, ErrClosed
}

// began notes that tick has begun, after the id that last says.
func (g *Default) began(tick, last int64) {
	if last >= 0 {
		g.earlier.Add(last&g.bits.MaxSequence() + 1)
	}
	g.use(tick)
}

// use tells the lease that the time of tick is used.
func (g *Default) use(tick int64) {
	if g.lease != nil {
		end := g.bits.Time(tick + 1)
		g.lease.Use(end, end)
	}
}

// pause waits, with nothing locked, until an id can be stamped again, or says why
// that is not to be.
func (g *Default) pause(ctx context.Context, w *window, now time.Time, tick, lastTick int64, patient bool) error {
	switch {
	case g.closed.Load():
		return ErrClosed
	case tick > g.bits.MaxTick():
		return g.exhausted()
	case tick < max(lastTick, 0): // the clock has stepped back, perhaps to before the epoch
		wait := g.bits.Time(max(lastTick, 0)).Sub(now)
		if wait > g.maxBackward {
			return &ClockBackwardError{Amount: wait, Max: g.maxBackward}
		}
		return g.sleep(ctx, w, wait)
	case w.covers(tick): // all of the tick's ids are issued
		return g.sleep(ctx, w, g.bits.Time(tick+1).Sub(now))
	case tick < w.first: // an earlier holder of the number may have stamped it
		wait := g.bits.Time(w.first).Sub(now)
		if !patient && wait > max(g.maxBackward, g.bits.Layout().Unit) {
			return g.uncovered(w)
		}
		return g.sleep(ctx, w, wait)
	}
	g.use(tick)
	if !patient && w.err != nil {
		return g.uncovered(w)
	}
	return g.sleep(ctx, w, longestSleep) // more is being reserved
}

// skipZero takes id 0 for issued, which stands for none.
func (g *Default) skipZero() {
	g.earlier.Add(-1)
	if !g.last.CompareAndSwap(-1, 0) {
		g.earlier.Add(1)
	}
}

// skip takes the rest of the last tick for issued.
func (g *Default) skip() {
	g.skipZero()
	for {
		last := g.last.Load()
		rest := g.bits.MaxSequence() - last&g.bits.MaxSequence()
		g.earlier.Add(-rest) // before, so that Stats never tells too many
		if g.last.CompareAndSwap(last, last+rest) {
			return
		}
		g.earlier.Add(rest)
	}
}

// unclosed is what final is before Close.
const unclosed = math.MinInt64

// Close ends every wait and gives a leased number back. Afterwards Next returns
// [ErrClosed]. It may be called more than once and from several goroutines. The
// error is nil but for a number that could not be given back, which is free when
// its lease expires. It tries that for 5 seconds, or for as long as a statement
// that is under way takes to let go.
func (g *Default) Close() error {
	g.shut()
	g.close.Do(func() {
		// No call that is under way can issue an id once this has swapped.
		for {
			last := g.last.Load()
			g.final.Store(last)
			if g.last.CompareAndSwap(last, math.MaxInt64) {
				return
			}
		}
	})
	return g.release(g.final.Load()>>g.shift + 1)
}
