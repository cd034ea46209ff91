package uid

import (
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/ringbuffer"
)

// ticks is the source of a Cached generator's runs: all ids of one tick after
// the other. The executor calls next from one goroutine at a time.
type ticks struct {
	*base
	maxBorrow time.Duration // negative is without bound
	borrow    int64         // maxBorrow in ticks
	latest    int64         // latest tick that the clock has shown; next's own
	last      atomic.Int64  // last tick taken; written by next, read by Stats
	past      atomic.Bool   // the clock shows a time beyond the layout's end; as last
}

// newTicks returns a source whose first tick is the present one.
func newTicks(b *base, maxBorrow time.Duration) *ticks {
	t := &ticks{base: b, maxBorrow: maxBorrow, borrow: int64(maxBorrow / b.bits.Layout().Unit)}
	t.last.Store(-1)
	return t
}

// next takes the tick max(last+1, now, floor), where the floor is the first tick
// of the window: time catches up after an idle night, and it never goes back. A
// tick that is refused is not taken, and a clock that shows a time beyond the
// layout's end is not remembered.
func (t *ticks) next() (ringbuffer.Run, error) {
	now := t.now()
	shown := t.bits.Tick(now)
	t.past.Store(shown > t.bits.MaxTick())
	if t.ended() {
		return ringbuffer.Run{}, t.exhausted()
	}
	t.latest = max(t.latest, shown)
	w := t.window.Load()
	tick := max(t.last.Load()+1, t.latest, w.first)
	if t.maxBorrow >= 0 && tick-t.latest > t.borrow {
		due := t.bits.Time(tick - t.borrow)
		return ringbuffer.Run{}, &BorrowLimitError{Limit: t.maxBorrow, Retry: due.Sub(now)}
	}
	if t.lease != nil {
		t.lease.Use(t.bits.Time(tick+1), t.furthest())
	}
	if !w.covers(tick) {
		return ringbuffer.Run{}, t.uncovered(w)
	}
	t.last.Store(tick)
	run := ringbuffer.Run{First: t.bits.First(tick, w.worker), N: t.bits.MaxSequence() + 1}
	if run.First == 0 { // the id that stands for none
		run = ringbuffer.Run{First: 1, N: run.N - 1}
	}
	if run.N == 0 {
		return t.next()
	}
	return run, nil
}

// furthest returns the end of the last tick that may be borrowed for now.
func (t *ticks) furthest() time.Time {
	if t.maxBorrow < 0 || t.borrow >= t.bits.MaxTick()-t.latest {
		return t.end
	}
	return t.bits.Time(t.latest + t.borrow + 1)
}

// ended reports whether no tick is left to take, as far as the clock could be
// believed when it was last read.
func (t *ticks) ended() bool { return t.past.Load() || t.last.Load() == t.bits.MaxTick() }

// stale returns the greatest id of the ticks that ended before age ago.
func (t *ticks) stale(age time.Duration) int64 {
	tick := t.bits.Tick(t.now().Add(-age))
	if tick <= 0 {
		return -1
	}
	return t.bits.First(min(tick, t.bits.MaxTick()), 0) - 1
}

// borrowed returns how far the last tick taken is ahead of the clock.
func (t *ticks) borrowed() time.Duration {
	return max(0, t.bits.Time(max(t.last.Load(), 0)).Sub(t.now()))
}
