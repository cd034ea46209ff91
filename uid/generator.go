package uid

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/bits"
)

// Generator makes ids. [Cached] and [Default] are generators.
type Generator interface {
	// Next returns an id, or an error if none may be issued.
	Next() (ID, error)
}

var (
	_ Generator = (*Cached)(nil)
	_ Generator = (*Default)(nil)
)

// base is what every generator knows about itself. But for its being closed, and
// for its window, it does not change.
type base struct {
	bits       bits.Allocator
	end        time.Time // of the layout
	now        func() time.Time
	lease      Lease  // nil is none
	renumbered func() // called between two numbers, while nothing may be stamped
	lost       func() // called when a number was lost, and nothing may be stamped

	// window is what may be stamped. It is written by granted, and read for each
	// tick of Cached and each id of Default.
	window  atomic.Pointer[window]
	changes atomic.Int64 // of the number; written by granted, read by Stats

	waited atomic.Int64 // nanoseconds that calls have slept; written by sleep, read by Stats

	closed atomic.Bool   // set by shut; read for each id of Default
	done   chan struct{} // closed by shut, to end waits
}

// open gets ready all that needs no worker number, so that a layout which cannot
// be used does not cost one. config has been checked.
func (b *base) open(config Config) (err error) {
	if b.bits, err = bits.NewAllocator(config.Layout); err != nil {
		return fmt.Errorf("%w: Layout: %w", ErrConfig, err)
	}
	b.end = config.Layout.End()
	b.now = config.Now
	b.done = make(chan struct{})
	now := b.now()
	if err := b.checkTime(now); err != nil {
		return err
	}
	if b.endsSoon(now) {
		config.Logger.Warn("uid: the layout runs out of time soon", "layout", config.Layout.String(), "end", b.end)
	}
	return nil
}

// shut ends waits, and has calls that begin afterwards fail.
func (b *base) shut() {
	if b.closed.CompareAndSwap(false, true) {
		close(b.done)
	}
}

func (b *base) checkTime(now time.Time) error {
	if epoch := b.bits.Layout().Epoch; now.Before(epoch) {
		return fmt.Errorf("%w: Layout: Epoch is %s, want it no later than now, %s", ErrConfig,
			epoch.Format(time.RFC3339Nano), now.UTC().Format(time.RFC3339Nano))
	}
	if !now.Before(b.end) {
		return b.exhausted()
	}
	return nil
}

func (b *base) exhausted() error {
	return fmt.Errorf("%w: %s ended at %s", ErrTimeExhausted, b.bits.Layout(), b.end.Format(time.RFC3339Nano))
}

// endsSoon reports whether the layout has less than a year left.
func (b *base) endsSoon(now time.Time) bool { return now.AddDate(1, 0, 0).After(b.end) }

// longestSleep bounds a wait for the clock, so that a step of it is noticed.
const longestSleep = time.Second

// sleep waits for d, until the window is replaced, or for as long as it takes to
// notice that d has changed. It returns early with an error when ctx ends or the
// generator is closed.
func (b *base) sleep(ctx context.Context, w *window, d time.Duration) error {
	defer func(began time.Time) { b.waited.Add(int64(time.Since(began))) }(time.Now())
	timer := time.NewTimer(min(max(d, time.Microsecond), longestSleep))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-w.replaced:
		return nil
	case <-b.done:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("uid: wait for an id: %w", ctx.Err())
	}
}

// Worker returns the number under which the generator stamps ids. It changes only
// where a leased one was lost.
func (b *base) Worker() int64 { return b.window.Load().worker }

// Layout returns the layout of the generator's ids.
func (b *base) Layout() bits.Layout { return b.bits.Layout() }

// Parse takes an id apart: when its tick began, the worker that made it and its
// place within the tick. A number that is no id of the generator's layout is an
// error that matches [bits.ErrForeign] and quotes it.
func (b *base) Parse(id ID) (bits.Parts, error) { return b.bits.Parse(int64(id)) }

// fill writes consecutive ids. Four at a time, it runs at the speed of the stores
// wherever the compiler happens to place the loop.
func fill(ids []ID, first ID) {
	for len(ids) >= 4 {
		four := (*[4]ID)(ids)
		four[0], four[1], four[2], four[3] = first, first+1, first+2, first+3
		first += 4
		ids = ids[4:]
	}
	for i := range ids {
		ids[i] = first + ID(i)
	}
}
