package uid

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/internal/invalid"
)

var (
	// ErrTickFull means that Backfill, or a uidtest.Fake, has issued every id in a tick.
	ErrTickFull = errors.New("uid: the tick has no ids left")

	// ErrBackfillTime means that Backfill was asked for an id with a time that it cannot use.
	ErrBackfillTime = errors.New("uid: time cannot be backfilled")
)

// BackfillConfig configures a [Backfill]. Zero fields take their default values.
type BackfillConfig struct {
	// Layout, Now and Logger mean the same as in [CachedConfig]. Use the layout of
	// the live generators.
	Layout bits.Layout
	Now    func() time.Time
	Logger *slog.Logger

	// MaxTicks is the number of ticks that Backfill remembers. It must be at least 1; zero means
	// 1,048,576. Beyond that number, Backfill forgets the earliest tick, and from then on refuses
	// that tick and all before it. For rows in ascending order of time, 1 is enough; in descending
	// order, allow for every tick that has rows.
	MaxTicks int
}

// Validate reports every invalid field in one error, which matches [ErrConfig].
func (c BackfillConfig) Validate() error { return c.prepare().Err() }

func (c *BackfillConfig) prepare() *invalid.List {
	faults := prepare(&c.Layout, &c.Logger)
	c.MaxTicks = cmp.Or(c.MaxTicks, 1<<20)
	invalid.Positive(faults, "MaxTicks", c.MaxTicks)
	return faults
}

// Backfill makes unique ids with past times, for migrated rows. Make one with [NewBackfill]. All
// methods are safe for concurrent use. [docs/migrating.md] walks through a migration.
//
// Backfill needs a worker number that has never been given out: with any other number, a generator
// may already have made ids in the same past tick. Pass the same kind of source as the live
// generators use, on the same store. Those generators can keep running.
//
// [docs/migrating.md]: https://github.com/uidring/uidring/blob/main/docs/migrating.md
type Backfill struct {
	holder
	calls    deal.Calls
	began    int64 // the tick in which it started: only earlier ones are stamped
	maxTicks int

	mu        sync.Mutex
	used      map[int64]int64 // ids issued of a tick
	ticks     tickHeap        // the keys of used, the least first
	forgotten int64           // the greatest tick forgotten, -1 for none
	issued    int64
}

// NewBackfill takes from source a number that has never been given out, and returns a Backfill.
// source must be a worker.Registry, or a lease.Leaser without an Assigner, with any kind of store;
// otherwise, the error matches [ErrConfig]. Where live Leasers have an Assigner or Numbers, give this
// one Numbers that none of them may hold. ctx bounds only this call. The other errors are the same as
// for [NewDefault].
func NewBackfill(ctx context.Context, source WorkerSource, config BackfillConfig) (*Backfill, error) {
	return settle(ctx, source, config, &config.Layout, func(from origin) (*Backfill, error) {
		return startBackfill(ctx, source, config, from)
	})
}

func startBackfill(ctx context.Context, source WorkerSource, config BackfillConfig, from origin) (*Backfill, error) {
	faults := config.prepare()
	b := &Backfill{maxTicks: config.MaxTicks, used: map[int64]int64{}, forgotten: -1, calls: deal.NewCalls()}
	b.holder.unused = true
	b.holder.from = from
	if err := b.holder.prepare(faults, source, config.Layout, config.Now, config.Logger); err != nil {
		return nil, err
	}
	b.began = b.holder.bits.Tick(b.holder.now())
	if err := b.holder.take(ctx, source); err != nil {
		return nil, err
	}
	if !b.holder.grant.Load().fresh {
		err := fmt.Errorf("uid: %w: worker number %d may have been used before, want a lease.Leaser without an Assigner, or a worker.Registry, on the store of the live generators", ErrConfig, b.Worker())
		return nil, errors.Join(err, deal.Close(func(ctx context.Context) error { return b.holder.giveBack(ctx, 0) }))
	}
	b.holder.logStart("Backfill")
	return b, nil
}

// At returns an id stamped with the tick that contains t. See [Backfill.AtN] for the errors.
func (b *Backfill) At(t time.Time) (ID, error) {
	var ids [1]ID
	_, err := b.AtN(t, ids[:])
	return ids[0], err
}

// AtN fills ids with ascending ids in the tick that contains t, all above that tick's earlier
// ids, and returns how many it filled. If the tick runs out of ids, the error matches
// [ErrTickFull]. If the tick is before the layout's epoch, is not before the tick in which the
// Backfill started, or has been forgotten (see BackfillConfig.MaxTicks), the error matches
// [ErrBackfillTime]. After Close, the error is [ErrClosed]. If the source has withdrawn the
// number and has not yet granted another, the error matches [ErrReservation].
func (b *Backfill) AtN(t time.Time, ids []ID) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.fill(t, ids)
	b.issued += int64(n)
	if err != nil {
		err = b.calls.Failed(err, deal.Next)
	}
	return n, err
}

// fill is AtN, with mu held.
func (b *Backfill) fill(t time.Time, ids []ID) (int, error) {
	tick, w := b.holder.bits.Tick(t), b.holder.grant.Load()
	if err := b.check(t, tick, w); err != nil {
		return 0, err
	}
	used, known := b.used[tick]
	first := ID(b.holder.first(tick, w.worker) + used)
	if first == 0 { // 0 stands for no id
		first, used = 1, 1
	}
	n := min(int64(len(ids)), b.holder.bits.MaxSequence()+1-used)
	deal.Fill(ids[:n], first)
	if n > 0 {
		b.used[tick] = used + n
		if !known {
			b.remember(tick)
		}
	}
	if n < int64(len(ids)) {
		return int(n), fmt.Errorf("%w: %s has %d", ErrTickFull, instant(b.holder.bits.Time(tick)), b.holder.bits.MaxSequence()+1)
	}
	return int(n), nil
}

func (b *Backfill) check(t time.Time, tick int64, w *grant) error {
	switch {
	case b.calls.Closed():
		return ErrClosed
	case !w.covers(max(tick, 0)):
		return b.holder.reservationError(w)
	case tick < 0:
		return fmt.Errorf("%w: %s lies before the layout's epoch, %s: before you make the first id, choose a layout with an earlier Epoch, or keep the keys of older rows",
			ErrBackfillTime, instant(t), instant(b.holder.bits.Layout().Epoch))
	case tick >= b.began:
		return fmt.Errorf("%w: %s, want a time before this Backfill started, %s", ErrBackfillTime, instant(t), instant(b.holder.bits.Time(b.began)))
	case tick <= b.forgotten:
		return fmt.Errorf("%w: %s is too old, since only ticks after %s are remembered: sort rows by time, or raise MaxTicks (%d)",
			ErrBackfillTime, instant(t), instant(b.holder.bits.Time(b.forgotten)), b.maxTicks)
	}
	return nil
}

func (b *Backfill) remember(tick int64) {
	heap.Push(&b.ticks, tick)
	if len(b.ticks) > b.maxTicks {
		b.forgotten = heap.Pop(&b.ticks).(int64)
		delete(b.used, b.forgotten)
	}
}

// Range returns the least and the greatest id that At can return for a time between from
// (inclusive) and to (exclusive). It rounds to ticks and fails as [Default.Range] does.
func (b *Backfill) Range(from, to time.Time) (first, last ID, err error) {
	return b.holder.idRange(from, to, 0, 0)
}

// Stats returns the Backfill's counts and state.
func (b *Backfill) Stats() Stats {
	b.mu.Lock()
	defer b.mu.Unlock()
	var failure error
	if w := b.holder.grant.Load(); w.last < w.first {
		failure = b.holder.reservationError(w)
	}
	return b.holder.stats(&b.calls, b.issued, failure)
}

// Close is Shutdown with a timeout of [CloseTimeout].
func (b *Backfill) Close() error { return deal.Close(b.Shutdown) }

// Shutdown closes the Backfill and releases its number, as [Default.Shutdown] does. From then on,
// At and AtN return [ErrClosed] immediately.
func (b *Backfill) Shutdown(ctx context.Context) error {
	b.mu.Lock() // afterwards no call of AtN is under way
	b.calls.Shut()
	b.mu.Unlock()
	return b.calls.Finish(func() error { return b.holder.giveBack(ctx, b.began) })
}

type tickHeap []int64

func (h tickHeap) Len() int           { return len(h) }
func (h tickHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h tickHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *tickHeap) Push(x any)        { *h = append(*h, x.(int64)) }
func (h *tickHeap) Pop() any {
	last := len(*h) - 1
	tick := (*h)[last]
	*h = (*h)[:last]
	return tick
}
