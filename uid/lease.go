package uid

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Lease is a worker number that is held for a while. What its holder owns is time
// that ids may carry, and [Leaser] tells how it gets to know which. The type is an
// alias of an interface, so that an implementation need not import this package.
type Lease = interface {
	// Use says that instants up to used are stamped or wanted, and that none
	// beyond most will be for now, so that more can be reserved in time. It does
	// not block, and may be called from several goroutines.
	Use(used, most time.Time)

	// Release gives the number back, for others to go on from next, the first
	// instant that was not stamped. It may be called more than once.
	Release(ctx context.Context, next time.Time) error
}

// Leaser is what an [Assigner] may be besides, if its numbers come back: then a
// generator leases a number and does not have it assigned, and stamps only the
// time that is granted to it under the number. The Leaser of package worker is
// one. Two of its holders never own the same time of the same number, so that no
// id repeats, whoever holds the number when.
type Leaser interface {
	Assigner

	// Lease takes a number from 0 to limit and keeps it until it is released.
	// now is the clock that stamps ids. granted is called with what is owned,
	// before Lease returns and then whenever it changes, from one goroutine at a
	// time: the ticks of number that begin at from or later and end at until or
	// earlier, where a zero until is no end. err is why that is not being
	// extended, nil as long as it is. The number -1 says that the number is lost:
	// nothing is stamped until another is granted, and ids that wait in a ring are
	// dropped. granted does not block.
	Lease(ctx context.Context, limit int64, now func() time.Time,
		granted func(number int64, from, until time.Time, err error)) (Lease, error)
}

// window is a number and the ticks that may be stamped under it. It does not
// change; a new one replaces it.
type window struct {
	worker      int64     // the last one, if none is held
	first, last int64     // the ticks from first to last; none if last is less
	until       time.Time // of the grant; zero is no end
	err         error     // why there is no more
	replaced    chan struct{}
}

// empty is a window of no tick.
func empty(worker int64, err error) *window {
	return &window{worker: worker, last: -1, err: err, replaced: make(chan struct{})}
}

// covers reports whether a tick of the window is the tick at hand.
func (w *window) covers(tick int64) bool { return w.first <= tick && tick <= w.last }

// releaseFor bounds how long Close tries to give a number back.
const releaseFor = 5 * time.Second

// take gets a worker number, leased if the assigner can do that.
func (b *base) take(ctx context.Context, assigner Assigner) error {
	if assigner == nil {
		return fmt.Errorf("%w: Assigner is nil, want one such as worker.NewRegistry(db) or uid.StaticWorker(1)", ErrConfig)
	}
	b.window.Store(empty(-1, nil))
	leaser, ok := assigner.(Leaser)
	if !ok {
		number, err := assign(ctx, assigner, b.bits.MaxWorker())
		if err == nil {
			b.granted(number, time.Time{}, time.Time{}, nil)
		}
		return err
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("uid: lease worker: %w", err)
	}
	lease, err := leaser.Lease(ctx, b.bits.MaxWorker(), b.now, b.granted)
	if err != nil {
		return fmt.Errorf("uid: lease worker: %w", err)
	}
	b.lease = lease
	if w := b.window.Load(); errors.Is(w.err, ErrWorkerRange) {
		return errors.Join(w.err, b.release(0))
	}
	return nil
}

// granted replaces the window. It is called from one goroutine at a time.
func (b *base) granted(number int64, from, until time.Time, err error) {
	before := b.window.Load()
	w := empty(before.worker, err)
	switch {
	case number < 0: // ids so far were made under the last one
	case number > b.bits.MaxWorker():
		w = empty(number, rangeError(number, b.bits.MaxWorker()))
	default:
		w = b.windowOf(number, from, until, err)
	}
	if number != before.worker && before.worker >= 0 && number >= 0 {
		// Nothing is stamped while the number changes, and nothing under the
		// new one in a tick that the old one has begun: ids go on ascending.
		b.replace(empty(before.worker, nil))
		b.renumbered()
		b.changes.Add(1)
	}
	b.replace(w)
	if number < 0 {
		b.lost()
	}
}

// windowOf returns the window of a grant: the ticks that lie in it whole.
func (b *base) windowOf(number int64, from, until time.Time, err error) *window {
	w := empty(number, err)
	w.until = until
	w.first = max(0, b.bits.Tick(from))
	switch begun := b.bits.Time(min(w.first, b.bits.MaxTick())).Before(from); {
	case w.first > b.bits.MaxTick() || begun && w.first == b.bits.MaxTick():
		w.first, w.last = b.bits.MaxTick(), -1 // beyond the layout's end
		w.err = errors.Join(err, b.exhausted())
		return w
	case begun:
		w.first++
	}
	w.last = b.bits.MaxTick()
	if !until.IsZero() {
		w.last = min(w.last, max(0, b.bits.Tick(until))-1)
	}
	return w
}

func (b *base) replace(w *window) { close(b.window.Swap(w).replaced) }

// uncovered is the error for a tick that w does not cover.
func (b *base) uncovered(w *window) error {
	e := &ReservationError{Worker: w.worker, Err: w.err}
	if w.until.IsZero() {
		return e // no number is held
	}
	e.From, e.Until = b.bits.Time(w.first), w.until
	return e
}

// release gives a leased number back. next is the first tick that was not stamped
// and never will be.
func (b *base) release(next int64) error {
	if b.lease == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), releaseFor)
	defer cancel()
	return b.lease.Release(ctx, b.bits.Time(next))
}
