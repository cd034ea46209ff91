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

// holder holds the worker number of a generator whose ids carry time: a lease of the number,
// the layout of the ids, and the ticks that may be stamped under the number.
type holder struct {
	bits   bits.Allocator
	shift  uint8     // SequenceBits
	width  uint8     // SequenceBits and WorkerBits
	end    time.Time // of the layout
	from   origin    // of the layout
	now    func() time.Time
	lease  lease.Lease
	log    *slog.Logger
	store  string // of the worker number, for the log
	unused bool   // take only a number that was never given

	// renumber, if set, gets a new number's grant before it is installed. Meanwhile nothing
	// may be stamped.
	renumber func(*grant)

	// regranted, if set, is called when the grant was replaced. If lost, the number was lost,
	// and nothing may be stamped.
	regranted func(lost bool)

	// grant is what may be stamped. granted writes it; Cached reads it for each
	// tick and Default for each id.
	grant   atomic.Pointer[grant]
	changes atomic.Int64 // of the number; written by granted, read by Stats

	// numbers are those of all ids of the layout; nil if they are not known. granted writes it.
	numbers atomic.Pointer[lease.Range]
}

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
// config uses up no number.
func (h *holder) prepare(faults *invalid.List, source WorkerSource, layout bits.Layout, now func() time.Time, logger *slog.Logger) error {
	if now == nil {
		now = time.Now
	}
	at := now()
	if source == nil {
		faults.Add("source", "nil", "one such as worker.NewRegistry(db, worker.RegistryConfig{}) or lease.NewStatic(1)")
	}
	if at.Before(layout.Epoch) {
		want := "no later than now, " + instant(at.Truncate(time.Second))
		if h.from == fromStore {
			want += "; correct the clock or, since the store remembers this layout, run: uidring layout change"
		}
		faults.Add("Layout.Epoch", layout.Epoch.Format(time.RFC3339Nano), want)
	}
	if err := faults.Err(); err != nil {
		return err
	}
	allocator, err := bits.NewAllocator(layout)
	if err != nil {
		return err
	}
	h.bits = *allocator // a copy, one load nearer to the hot paths
	h.shift, h.width = layout.SequenceBits, layout.WorkerBits+layout.SequenceBits
	h.end = layout.End()
	h.now, h.log = now, logger
	h.grant.Store(empty(-1, nil))
	if !at.Before(h.end) {
		return h.exhausted()
	}
	if h.endsSoon(at) {
		logger.Warn("uid: the layout will run out of time soon", "layout", layout.String(), "end", h.end)
	}
	return nil
}

// Worker returns the worker number in new ids. It changes only when a leased number is lost.
func (h *holder) Worker() int64 { return h.grant.Load().worker }

// Layout returns the layout of the ids.
func (h *holder) Layout() bits.Layout { return h.bits.Layout() }

// Parse splits an id into its parts. For a number that is not an id of the layout, and for an id from
// before the store's layout changed, the error matches [bits.ErrForeign] and quotes the number. The
// example of [lease.Leaser.PlanLayout] reads ids of earlier layouts. A generator that started before
// the change reads ids of the new layout wrongly.
func (h *holder) Parse(id ID) (bits.Parts, error) {
	parts, err := h.bits.Parse(int64(id))
	if n := h.numbers.Load(); n != nil && err == nil && (parts.Worker < n.From || parts.Worker > n.To) {
		return bits.Parts{}, fmt.Errorf("%w: %d would have the worker number %d, and since the store's layout changed, ids of %s have the numbers %s; lease.Leaser.PlanLayout returns earlier layouts",
			bits.ErrForeign, id, parts.Worker, h.bits.Layout(), n)
	}
	return parts, err
}

// first returns the id with sequence 0 of a tick and a worker in range, unchecked.
func (h *holder) first(tick, worker int64) int64 { return tick<<h.width | worker<<h.shift }

func (h *holder) exhausted() error {
	out := "state one with a later epoch, or more bits for the time"
	if h.from == fromStore {
		out = "since the store remembers it, run: uidring layout change --to LAYOUT, with one that ends later"
	}
	return fmt.Errorf("%w: %s ended at %s: %s", ErrTimeExhausted, h.bits.Layout(), instant(h.end), out)
}

func (h *holder) endsSoon(now time.Time) bool { return now.AddDate(1, 0, 0).After(h.end) }

func (h *holder) take(ctx context.Context, source WorkerSource) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("uid: take a worker number: %w", err)
	}
	held, err := source.Lease(ctx, lease.Request{
		Limit: h.bits.MaxWorker(), Clock: h.now, Granted: h.granted, Layout: layoutText(h.bits.Layout()), Fresh: h.unused,
	})
	if err != nil {
		return err // it names the operation
	}
	h.lease, h.store = held, nameOf(source)
	if w := h.grant.Load(); errors.Is(w.err, ErrConfig) {
		return errors.Join(w.err, deal.Close(func(ctx context.Context) error { return h.giveBack(ctx, 0) }))
	}
	return nil
}

func (h *holder) logStart(kind string) {
	w := h.grant.Load()
	until := "no end"
	if !w.until.IsZero() {
		until = instant(w.until)
	}
	h.log.Info("uid: started", "kind", kind, "layout", h.bits.Layout().String(), "layout_from", string(h.from), "ends", instant(h.bits.Layout().End()),
		"worker", w.worker, "store", h.store, "reserved_until", until)
}

// granted replaces the grant. It is called from one goroutine at a time.
func (h *holder) granted(g lease.Grant) {
	before := h.grant.Load()
	w := empty(before.worker, g.Err)
	switch {
	case !g.Held: // ids so far were made under the last one
	case g.Number < 0 || g.Number > h.bits.MaxWorker():
		w = empty(g.Number, fmt.Errorf("uid: %w: worker number is %d, want 0 to %d, the greatest that the layout can hold",
			ErrConfig, g.Number, h.bits.MaxWorker()))
	default:
		w = h.grantOf(g)
		if g.Numbers != (lease.Range{}) {
			h.numbers.Store(&g.Numbers)
		}
	}
	if g.Held && g.Number != before.worker {
		// Nothing is stamped while the number changes.
		h.replace(empty(before.worker, nil))
		if h.renumber != nil {
			h.renumber(w)
		}
		if before.worker >= 0 {
			h.changes.Add(1)
		}
	}
	h.replace(w)
	if h.regranted != nil {
		h.regranted(!g.Held)
	}
}

// grantOf returns the number of a lease.Grant, and the ticks that lie in it whole.
func (h *holder) grantOf(g lease.Grant) *grant {
	w := empty(g.Number, g.Err)
	w.until, w.fresh = g.Until, g.Fresh
	w.first = max(0, h.bits.Tick(g.From))
	switch begun := h.bits.Time(min(w.first, h.bits.MaxTick())).Before(g.From); {
	case w.first > h.bits.MaxTick() || begun && w.first == h.bits.MaxTick():
		w.first, w.last = h.bits.MaxTick(), -1 // beyond the layout's end
		w.err = errors.Join(g.Err, h.exhausted())
		return w
	case begun:
		w.first++
	}
	w.last = h.bits.MaxTick()
	if !g.Until.IsZero() {
		w.last = min(w.last, max(0, h.bits.Tick(g.Until))-1)
	}
	return w
}

func (h *holder) replace(w *grant) { close(h.grant.Swap(w).replaced) }

func (h *holder) reservationError(w *grant) error {
	e := &ReservationError{Worker: w.worker, Err: w.err}
	if w.until.IsZero() {
		return e // no number is held
	}
	e.From, e.Until = h.bits.Time(w.first), w.until
	return e
}

// idRange returns the least and the greatest id that calls can have issued from from to
// before to. An id's time lies at most age behind the clock, and at most ahead ticks ahead
// of it. If age is negative, an id can be behind the clock by any time.
func (h *holder) idRange(from, to time.Time, age time.Duration, ahead int64) (first, last ID, err error) {
	epoch := h.bits.Layout().Epoch
	if !from.Before(to) || !to.After(epoch) || !from.Before(h.end) {
		return 0, 0, fmt.Errorf("uid: Range: %w: from %s to before %s, want a span of time within %s to before %s",
			bits.ErrRange, instant(from), instant(to), instant(epoch), instant(h.end))
	}
	low, high := int64(0), h.bits.MaxTick()
	if age >= 0 {
		low = max(low, h.bits.Tick(from.Add(-age)))
	}
	if tick := h.bits.Tick(to.Add(-1)); tick < high-ahead {
		high = tick + ahead
	}
	return ID(max(1, h.first(low, 0))), ID(h.first(high, h.bits.MaxWorker()) | h.bits.MaxSequence()), nil
}

// giveBack releases the number. No tick from next on was stamped, nor will be.
func (h *holder) giveBack(ctx context.Context, next int64) error {
	if h.lease == nil {
		return nil
	}
	return h.lease.Release(ctx, h.bits.Time(next))
}

// await waits until ready accepts the grant, so that a start does not succeed while calls would
// fail: an earlier holder of the number may have reserved time ahead of the clock, or the number
// may be lost again. Its error says when ids begin.
func (h *holder) await(ctx context.Context, ready func(*grant) bool) error {
	for logged := false; ; logged = true {
		w := h.grant.Load()
		held := w.covers(w.first) || !w.until.IsZero()
		switch {
		case errors.Is(w.err, ErrTimeExhausted):
			return w.err
		case held && ready(w):
			return nil
		case held:
			h.use(w.first) // so that the lease reserves beyond what the earlier holder had
		}
		begins := h.bits.Time(w.first)
		if !logged {
			h.log.Warn("uid: an earlier holder of the number reserved time ahead of the clock; waiting until ids can be made",
				"worker", w.worker, "begins", instant(begins))
		}
		timer := time.NewTimer(min(max(begins.Sub(h.now()), time.Millisecond), time.Second)) // the clock may step
		select {
		case <-timer.C:
		case <-w.replaced:
		case <-ctx.Done():
		}
		timer.Stop()
		switch err := ctx.Err(); {
		case err != nil && held:
			return fmt.Errorf("uid: worker number %d can make no ids before %s, because an earlier holder reserved that time: %w", w.worker, instant(begins), err)
		case err != nil:
			return errors.Join(err, h.reservationError(w))
		}
	}
}

func (h *holder) use(tick int64) {
	end := h.bits.Time(min(max(tick, 0), h.bits.MaxTick()) + 1)
	h.lease.Use(end, end)
}

func (h *holder) clockStats() *ClockStats {
	w := h.grant.Load()
	return &ClockStats{
		Layout:         h.bits.Layout(),
		LayoutEnd:      h.end,
		LayoutEndsSoon: h.endsSoon(h.now()),
		Worker:         w.worker,
		WorkerChanges:  h.changes.Load(),
		ReservedUntil:  w.until,
		LeaseError:     w.err,
	}
}

// stats returns the Stats of a generator without a ring. failure is why calls fail now.
func (h *holder) stats(calls *deal.Calls, issued int64, failure error) Stats {
	s := Stats{
		Issued:        issued,
		RejectedTakes: calls.Rejected(),
		Waited:        calls.Waited(),
		LastError:     failure,
		Clock:         h.clockStats(),
	}
	if s.Closed = calls.Closed(); s.Closed { // read last: Shutdown ends issuing after it is set
		s.LastError = nil
	}
	return s
}
