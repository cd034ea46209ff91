package uidtest

import (
	"context"
	"fmt"
	"iter"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// Fake is a [uid.Generator] that a test controls. Make one with [NewSequence] or
// [NewClocked]. The zero value is not usable.
type Fake struct {
	claims    deal.Claims[uid.ID, uid.Run]
	clock     *Clock // nil for a Sequence
	allocator *bits.Allocator

	mu       sync.Mutex
	next     int64 // of a Sequence; 0 after the greatest id
	tick     int64 // of a Clocked's last id
	sequence int64 // the next of that tick
	err      error
	blocked  bool
	closed   bool
	stats    uid.Stats
	changed  chan struct{} // closed, and made anew, when calls that wait have to look again
}

var _ uid.Generator = (*Fake)(nil)

// NewSequence returns a generator whose ids are first, first+1 and so on. first must be 1 or more.
// The generator is closed when the test ends.
func NewSequence(tb testing.TB, first uid.ID) *Fake {
	tb.Helper()
	if first < 1 {
		tb.Fatalf("uidtest: NewSequence: first is %d, want 1 or more", int64(first))
	}
	return start(tb, &Fake{next: int64(first)})
}

// Layout returns the default layout of [NewClocked]: bits.LongLived with the epoch 2000-01-01, at
// which the clock of a testing/synctest bubble starts.
func Layout() bits.Layout {
	layout := bits.LongLived()
	layout.Epoch = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
	return layout
}

// NewClocked returns a generator of ids that carry the time of clock, worker number 1, and the
// sequence numbers 0, 1, 2 and so on within each tick. A zero layout means the one that [Layout]
// returns. The generator is closed when the test ends.
//
// Once all ids of a tick have been issued, Next fails with an error that matches [uid.ErrTickFull],
// and Wait blocks until the test moves the clock. If the clock is set back, calls fail with a
// [*uid.ClockBackwardError] until it catches up.
func NewClocked(tb testing.TB, clock *Clock, layout bits.Layout) *Fake {
	tb.Helper()
	if layout == (bits.Layout{}) {
		layout = Layout()
	}
	allocator, err := bits.NewAllocator(layout)
	if err != nil {
		tb.Fatalf("uidtest: NewClocked: %v", err)
	}
	if now := clock.Now(); now.Before(layout.Epoch) || !now.Before(layout.End()) {
		tb.Fatalf("uidtest: NewClocked: the clock shows %v, want a time of the layout %s, which ends at %v", now, layout, layout.End())
	}
	return start(tb, &Fake{clock: clock, allocator: allocator})
}

func start(tb testing.TB, g *Fake) *Fake {
	g.changed = make(chan struct{})
	g.claims = deal.NewClaims[uid.ID, uid.Run](g.claim)
	tb.Cleanup(func() { _ = g.Close() })
	return g
}

// Fail makes all calls fail with err, even those that are waiting, until Fail is called with nil.
// Until then, Stats reports err as LastError, so a health check sees it.
func (g *Fake) Fail(err error) { g.change(func() { g.err = err }) }

// Block makes Next, NextN and TryClaim fail with [uid.ErrNotReady], and Wait, WaitN, Claim and All
// block until Unblock is called or their context is done.
func (g *Fake) Block() { g.change(func() { g.blocked = true }) }

// Unblock undoes Block.
func (g *Fake) Unblock() { g.change(func() { g.blocked = false }) }

// Close makes all calls fail with [uid.ErrClosed].
func (g *Fake) Close() error {
	g.change(func() { g.closed = true })
	return nil
}

// Shutdown calls Close.
func (g *Fake) Shutdown(context.Context) error { return g.Close() }

func (g *Fake) change(f func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	f()
	close(g.changed)
	g.changed = make(chan struct{})
}

// Next returns the next id.
func (g *Fake) Next() (uid.ID, error) {
	run, err := g.claim(context.Background(), 1, deal.Next)
	return uid.ID(run.First), err
}

// NextN is Next for many ids: see [uid.Generator].
func (g *Fake) NextN(ids []uid.ID) (int, error) { return g.claims.NextN(ids) }

// Wait is like Next, but blocks until an id is ready or ctx is done.
func (g *Fake) Wait(ctx context.Context) (uid.ID, error) { return g.claims.Wait(ctx) }

// WaitN is like NextN, but waits as Wait does.
func (g *Fake) WaitN(ctx context.Context, ids []uid.ID) (int, error) { return g.claims.WaitN(ctx, ids) }

// Claim returns up to limit consecutive ids: see [uid.Generator].
func (g *Fake) Claim(ctx context.Context, limit int64) (uid.Run, error) {
	return g.claims.Claim(ctx, limit)
}

// TryClaim returns up to limit consecutive ids that are ready: see [uid.Generator].
func (g *Fake) TryClaim(limit int64) (uid.Run, error) { return g.claims.TryClaim(limit) }

// All returns an endless sequence of ids for a range loop: see [uid.Generator].
func (g *Fake) All(ctx context.Context) iter.Seq2[uid.ID, error] { return g.claims.All(ctx) }

// Parse splits an id from [NewClocked] into its parts. Ids from [NewSequence] have none: the error
// matches [bits.ErrForeign].
func (g *Fake) Parse(id uid.ID) (bits.Parts, error) {
	if g.clock == nil {
		return bits.Parts{}, fmt.Errorf("%w: %d is from NewSequence, whose ids have no parts", bits.ErrForeign, int64(id))
	}
	return g.allocator.Parse(int64(id))
}

// Stats returns how many ids were issued and how many calls failed. LastError is the error passed
// to Fail.
func (g *Fake) Stats() uid.Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stats
	if s.Closed = g.closed; !s.Closed {
		s.LastError = g.err
	}
	return s
}

func (g *Fake) claim(ctx context.Context, limit int64, how deal.How) (ringbuffer.Run, error) {
	for {
		run, wake, err := g.take(limit)
		switch {
		case wake.changed == nil:
		case how == deal.Try:
			return run, uid.ErrNotReady
		case how == deal.Wait:
			select {
			case <-wake.changed:
				continue
			case <-wake.moved:
				continue
			case <-ctx.Done():
				err = fmt.Errorf("uidtest: wait for an id: %w", ctx.Err())
			}
		}
		if err != nil {
			g.mu.Lock()
			g.stats.RejectedTakes++
			g.mu.Unlock()
		}
		return run, err
	}
}

// signals end the pause of a call that waits; the zero value never does.
type signals struct{ changed, moved <-chan struct{} }

func (g *Fake) take(limit int64) (run ringbuffer.Run, wake signals, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return run, wake, uid.ErrClosed
	case g.err != nil:
		return run, wake, g.err
	case g.blocked:
		return run, signals{changed: g.changed}, uid.ErrNotReady
	case g.clock == nil:
		run, err = g.nextRun(limit)
	default:
		run, wake, err = g.clocked(limit)
	}
	g.stats.Issued += run.N
	return run, wake, err
}

func (g *Fake) nextRun(limit int64) (ringbuffer.Run, error) {
	if g.next == 0 {
		return ringbuffer.Run{}, fmt.Errorf("%w: the sequence ended at %d", uid.ErrTimeExhausted, int64(math.MaxInt64))
	}
	run := ringbuffer.Run{First: g.next, N: min(limit, math.MaxInt64-g.next+1)}
	if g.next += run.N; g.next < 0 {
		g.next = 0
	}
	return run, nil
}

func (g *Fake) clocked(limit int64) (run ringbuffer.Run, wake signals, err error) {
	now, moved := g.clock.look()
	tick := g.allocator.Tick(now)
	switch {
	case tick > g.allocator.MaxTick():
		return run, wake, fmt.Errorf("%w: the clock shows %v", uid.ErrTimeExhausted, now)
	case tick < g.tick:
		return run, wake, &uid.ClockBackwardError{Amount: g.allocator.Time(g.tick).Sub(now)}
	case tick > g.tick:
		g.tick, g.sequence = tick, 0
	}
	run.N = min(limit, g.allocator.MaxSequence()+1-g.sequence)
	if run.N == 0 {
		return run, signals{g.changed, moved}, fmt.Errorf("%w: the clock shows %v; advance it", uid.ErrTickFull, now)
	}
	run.First, err = g.allocator.Compose(tick, 1, g.sequence)
	g.sequence += run.N
	return run, wake, err
}
