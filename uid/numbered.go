package uid

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/worker/lease"
)

// numbered is what generators have whose ids carry time: a layout, a worker number, and the
// ticks that may be stamped under the number. A generator embeds it, and replaces the
// methods of [follower] that it needs.
type numbered struct {
	bits     bits.Allocator
	shift    uint8     // SequenceBits
	width    uint8     // SequenceBits and WorkerBits
	end      time.Time // of the layout
	succeeds string    // the text of an earlier layout; empty is none
	now      func() time.Time
	lease    lease.Lease
	log      *slog.Logger
	store    string // of the worker number, for the log
	unused   bool   // take only a number that was never given
	follower follower

	// grant is what may be stamped. granted writes it; Cached reads it for each
	// tick and Default for each id.
	grant   atomic.Pointer[grant]
	changes atomic.Int64 // of the number; written by granted, read by Stats
}

// follower is the generator that embeds a numbered: it follows the grants.
type follower interface {
	// renumber gets a new number's grant before it is installed. Meanwhile nothing may be
	// stamped.
	renumber(*grant)

	// regranted is called when the grant was replaced. If lost, the number was lost, and
	// nothing may be stamped.
	regranted(lost bool)
}

func (*numbered) renumber(*grant) {}

func (*numbered) regranted(bool) {}

// grant is a lease.Grant in ticks: a number, and the ticks that may be stamped under the
// number. It does not change; a new grant replaces it.
type grant struct {
	worker      int64     // the number, or the last one if none is held
	first, last int64     // the ticks from first to last; none if last is less
	until       time.Time // of the grant; zero is no end
	fresh       bool      // the number was never given before
	err         error     // why no further tick is granted
	replaced    chan struct{}
}

func empty(worker int64, err error) *grant {
	return &grant{worker: worker, last: -1, err: err, replaced: make(chan struct{})}
}

func (w *grant) covers(tick int64) bool { return w.first <= tick && tick <= w.last }

// prepare does the part of the start that needs no worker number, so that an unusable
// config uses up no number. of is the generator that embeds s.
func (s *numbered) prepare(of follower, faults *invalid.List, leaser Leaser, layout, succeeds bits.Layout, now func() time.Time, logger *slog.Logger) error {
	if now == nil {
		now = time.Now
	}
	at := now()
	if leaser == nil {
		faults.Add("leaser", "nil", "one such as worker.NewRegistry(db, worker.RegistryConfig{}) or uid.StaticWorker(1)")
	}
	if at.Before(layout.Epoch) {
		faults.Add("Layout.Epoch", layout.Epoch.Format(time.RFC3339Nano), "now or earlier: it is "+instant(at.Truncate(time.Second)))
	}
	if err := faults.Err(); err != nil {
		return err
	}
	allocator, err := bits.NewAllocator(layout)
	if err != nil {
		return err
	}
	s.bits = *allocator // a copy, one load nearer to the hot paths
	s.shift, s.width = layout.SequenceBits, layout.WorkerBits+layout.SequenceBits
	s.end = layout.End()
	if succeeds != (bits.Layout{}) {
		s.succeeds = layoutText(succeeds)
	}
	s.follower, s.now, s.log = of, now, logger
	s.grant.Store(empty(-1, nil))
	if !at.Before(s.end) {
		return s.exhausted()
	}
	if s.endsSoon(at) {
		logger.Warn("uid: the layout runs out of time soon", "layout", layout.String(), "end", s.end)
	}
	return nil
}

// first returns the id with sequence 0 of a tick and a worker in range, unchecked.
func (s *numbered) first(tick, worker int64) int64 { return tick<<s.width | worker<<s.shift }

func (s *numbered) exhausted() error {
	return fmt.Errorf("%w: %s ended at %s", ErrTimeExhausted, s.bits.Layout(), instant(s.end))
}

func (s *numbered) endsSoon(now time.Time) bool { return now.AddDate(1, 0, 0).After(s.end) }

// Worker returns the number under which the generator stamps ids. It changes
// only after a leased number was lost.
func (s *numbered) Worker() int64 { return s.grant.Load().worker }

// Layout returns the layout of the generator's ids.
func (s *numbered) Layout() bits.Layout { return s.bits.Layout() }

// Parse takes an id apart. For a number that is no id of the generator's layout, the error
// matches [bits.ErrForeign] and quotes the number.
func (s *numbered) Parse(id ID) (bits.Parts, error) { return s.bits.Parse(int64(id)) }

func (s *numbered) take(ctx context.Context, leaser Leaser) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("uid: take a worker number: %w", err)
	}
	held, err := leaser.Lease(ctx, lease.Request{
		Limit: s.bits.MaxWorker(), Clock: s.now, Granted: s.granted, Layout: layoutText(s.bits.Layout()), Succeeds: s.succeeds,
		Fresh: s.unused,
	})
	if err != nil {
		return err // it names the operation
	}
	s.lease, s.store = held, fmt.Sprintf("%T", leaser)
	if named, ok := leaser.(fmt.Stringer); ok {
		s.store = named.String()
	}
	if w := s.grant.Load(); errors.Is(w.err, ErrWorkerRange) {
		return errors.Join(w.err, deal.Close(func(ctx context.Context) error { return s.giveBack(ctx, 0) }))
	}
	return nil
}

// layoutText is what a store remembers of a layout. The names of parts do not change ids.
func layoutText(layout bits.Layout) string {
	layout.WorkerParts = ""
	return layout.String()
}

func (s *numbered) logStart(kind string) {
	w := s.grant.Load()
	until := "no end"
	if !w.until.IsZero() {
		until = instant(w.until)
	}
	s.log.Info("uid: started", "kind", kind, "layout", s.bits.Layout().String(), "ends", instant(s.bits.Layout().End()),
		"worker", w.worker, "store", s.store, "reserved_until", until)
}

// granted replaces the grant. It is called from one goroutine at a time.
func (s *numbered) granted(g lease.Grant) {
	before := s.grant.Load()
	w := empty(before.worker, g.Err)
	switch {
	case !g.Held: // ids so far were made under the last one
	case g.Number < 0 || g.Number > s.bits.MaxWorker():
		w = empty(g.Number, fmt.Errorf("%w: worker number is %d, want 0 to %d, the greatest that the layout can hold",
			ErrWorkerRange, g.Number, s.bits.MaxWorker()))
	default:
		w = s.grantOf(g)
	}
	if g.Held && g.Number != before.worker {
		// Nothing is stamped while the number changes.
		s.replace(empty(before.worker, nil))
		s.follower.renumber(w)
		if before.worker >= 0 {
			s.changes.Add(1)
		}
	}
	s.replace(w)
	s.follower.regranted(!g.Held)
}

// grantOf returns the number of a lease.Grant, and the ticks that lie in it whole.
func (s *numbered) grantOf(g lease.Grant) *grant {
	w := empty(g.Number, g.Err)
	w.until, w.fresh = g.Until, g.Fresh
	w.first = max(0, s.bits.Tick(g.From))
	switch begun := s.bits.Time(min(w.first, s.bits.MaxTick())).Before(g.From); {
	case w.first > s.bits.MaxTick() || begun && w.first == s.bits.MaxTick():
		w.first, w.last = s.bits.MaxTick(), -1 // beyond the layout's end
		w.err = errors.Join(g.Err, s.exhausted())
		return w
	case begun:
		w.first++
	}
	w.last = s.bits.MaxTick()
	if !g.Until.IsZero() {
		w.last = min(w.last, max(0, s.bits.Tick(g.Until))-1)
	}
	return w
}

func (s *numbered) replace(w *grant) { close(s.grant.Swap(w).replaced) }

func (s *numbered) reservationError(w *grant) error {
	e := &ReservationError{Worker: w.worker, Err: w.err}
	if w.until.IsZero() {
		return e // no number is held
	}
	e.From, e.Until = s.bits.Time(w.first), w.until
	return e
}

// idRange returns the least and the greatest id that calls can have issued from from to
// before to. An id's time lies at most age behind the clock, and at most ahead ticks ahead
// of it. A negative age or ahead is no bound.
func (s *numbered) idRange(from, to time.Time, age time.Duration, ahead int64) (first, last ID, err error) {
	epoch := s.bits.Layout().Epoch
	if !from.Before(to) || !to.After(epoch) || !from.Before(s.end) {
		return 0, 0, fmt.Errorf("uid: Range: %w: from %s to before %s, want a span of time within %s to before %s",
			bits.ErrRange, instant(from), instant(to), instant(epoch), instant(s.end))
	}
	low, high := int64(0), s.bits.MaxTick()
	if age >= 0 {
		low = max(low, s.bits.Tick(from.Add(-age)))
	}
	if tick := s.bits.Tick(to.Add(-1)); ahead >= 0 && tick < high-ahead {
		high = tick + ahead
	}
	return ID(max(1, s.first(low, 0))), ID(s.first(high, s.bits.MaxWorker()) | s.bits.MaxSequence()), nil
}

// giveBack releases the number. No tick from next on was stamped, nor will be.
func (s *numbered) giveBack(ctx context.Context, next int64) error {
	if s.lease == nil {
		return nil
	}
	return s.lease.Release(ctx, s.bits.Time(next))
}
