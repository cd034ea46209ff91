package uid

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/ringbuffer"
)

// ticks is the source of a Cached generator's runs: the ids of one tick after the
// other. It does not block. The executor calls next from one goroutine at a time.
type ticks struct {
	holder    *holder
	maxBorrow time.Duration // negative is no limit
	maxAge    time.Duration // as maxBorrow
	borrow    int64         // maxBorrow in ticks; without a limit all of the layout
	latest    int64         // latest tick that the clock has shown; next's own
	last      atomic.Int64  // last tick taken; written by next and untake, read by Stats
	past      atomic.Bool   // the clock shows a time beyond the layout's end; as last
	begin     atomic.Int64  // first sequence of the next tick; written by resume and next
}

// next takes the tick max(last+1, now, floor), where the floor is the first
// tick of the grant. So time catches up after an idle night, and never goes
// back. An error takes no tick. next does not remember a clock beyond the layout's
// end.
func (t *ticks) next(ctx context.Context) (ringbuffer.Run, error) {
	now := t.holder.now()
	shown := t.holder.bits.Tick(now)
	t.past.Store(shown > t.holder.bits.MaxTick())
	if t.ended() {
		return ringbuffer.Run{}, t.holder.exhausted()
	}
	t.latest = max(t.latest, shown)
	w := t.holder.grant.Load()
	tick := max(t.last.Load()+1, t.latest, w.first)
	if tick-t.latest > t.borrow {
		due := t.holder.bits.Time(tick - t.borrow)
		return ringbuffer.Run{}, &BorrowLimitError{Limit: t.maxBorrow, Retry: due.Sub(now)}
	}
	t.holder.lease.Use(t.holder.bits.Time(tick+1), t.furthest())
	if !w.covers(tick) {
		return ringbuffer.Run{}, t.holder.reservationError(w)
	}
	t.last.Store(tick)
	first := t.begin.Swap(0)
	run := ringbuffer.Run{First: t.holder.first(tick, w.worker) + first, N: t.holder.bits.MaxSequence() + 1 - first}
	if run.First == 0 { // the id that stands for none
		run = ringbuffer.Run{First: 1, N: run.N - 1}
	}
	if run.N == 0 {
		return t.next(ctx)
	}
	return run, nil
}

// resume continues the sequence after ids were dropped for their age, so that the ids of an
// idle service are even modulo any power of two.
func (t *ticks) resume(dropped ringbuffer.Run) {
	if sequence := dropped.First & t.holder.bits.MaxSequence(); sequence > 0 {
		t.begin.Store(resumeAt(sequence, t.holder.bits.MaxSequence()))
	}
}

// untake takes back the tick of a run that the ring refused because it was closed: none
// of the tick's ids were dealt, so releaseFrom gives the tick back.
func (t *ticks) untake(refused ringbuffer.Run) {
	tick := refused.First >> t.holder.width
	t.last.CompareAndSwap(tick, tick-1)
}

// resumeAt returns the first sequence of a tick, given the next unused sequence of the
// tick before: the same, or 0 if more than half are used.
func resumeAt(sequence, greatest int64) int64 {
	if sequence > (greatest+1)/2 {
		return 0
	}
	return sequence
}

// furthest returns the end of the last tick that may be borrowed at present.
func (t *ticks) furthest() time.Time {
	if t.borrow >= t.holder.bits.MaxTick()-t.latest {
		return t.holder.end
	}
	return t.holder.bits.Time(t.latest + t.borrow + 1)
}

// ended reports whether no tick is left, by the last reading of the clock.
func (t *ticks) ended() bool { return t.past.Load() || t.last.Load() == t.holder.bits.MaxTick() }

// stale returns the greatest id of the ticks that will be older than maxAge at
// the next check, an eighth of maxAge later.
func (t *ticks) stale() int64 {
	tick := t.holder.bits.Tick(t.holder.now().Add(t.maxAge/8 - t.maxAge))
	if tick <= 0 {
		return -1
	}
	return t.holder.first(min(tick, t.holder.bits.MaxTick()), 0) - 1
}

func (t *ticks) borrowed() time.Duration {
	return max(0, t.holder.bits.Time(max(t.last.Load(), 0)).Sub(t.holder.now()))
}
