package leasetest

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// restart: the next start of a process with a fixed number, which was killed, waits for the expiry.
func restart(b bench) {
	fixed := lease.Config{Assigner: number(3), Window: max(b.suite.Expiry, 100*time.Millisecond)}
	dying := b.another()
	dead, err := dying.try(9, fixed)
	b.must(err)
	dead.Kill()
	b.suite.Kill(b.T, dying.Store)
	next, err := b.try(9, fixed)
	if errors.Is(err, lease.ErrHeld) { // a renewal that was under way was a sign of life
		next, err = b.try(9, fixed)
	}
	b.must(err)
	if g := next.Last(); g.Number != 3 || g.From.Before(dead.Last().Until) {
		b.Errorf("granted %+v; want number 3 from the end of %+v", g, dead.Last())
	}
}

// remembered: the store says which layout its ids have, from the first start on.
func remembered(b bench) {
	for _, want := range []string{"", holdertest.Layout} {
		if layout, stored, err := b.leaser(b.Store).Layout(b.Context()); layout != want || stored != (want != "") || err != nil {
			b.Fatalf("the layout is %q, %t, %v; want %q", layout, stored, err, want)
		}
		b = b.another()
		b.take(9)
	}
}

// unrecorded: nobody knows the layout of numbers that are there without one.
func unrecorded(b bench) {
	b.inserts(write(leasestore.Acquire, 5, "a", 1), true)
	var unknown *lease.UnknownLayoutError
	if _, _, err := b.leaser(b.Store).Layout(b.Context()); !errors.As(err, &unknown) || !errors.Is(err, lease.ErrLayout) {
		b.Errorf("numbers without a layout: %v, want an UnknownLayoutError", err)
	}
}

// unused leases numbers that were never given.
type unused struct{ *lease.Leaser }

func (u unused) Lease(ctx context.Context, r lease.Request) (lease.Lease, error) {
	r.Fresh = true
	return u.Leaser.Lease(ctx, r)
}

// backfill: a number that was asked for as never given is granted to nobody else, ever.
func backfill(b bench) {
	var mu sync.Mutex
	given, fresh := map[int64]int{}, map[int64]bool{}
	f := &holdertest.Fleet{TB: b}
	f.Start(b.Context(), 4, func(int) *lease.Leaser { return b.leaser(b.Store, lease.Config{Expiry: time.Minute}) })
	for _, h := range f.Holders {
		given[h.Last().Number]++
	}
	f.Stop(4) // their numbers are free
	stores := b.handles(6)
	holdertest.Together(len(stores), func(i int) {
		leaser := b.leaser(stores[i], lease.Config{Expiry: time.Minute})
		var from holdertest.Leaser = leaser
		if i < 2 {
			from = unused{leaser}
		}
		for j := range 6 {
			h, err := holdertest.Try(context.Background(), b, from, 999, time.Now)
			if err != nil {
				b.Error(err)
				return
			}
			mu.Lock()
			given[h.Last().Number]++
			fresh[h.Last().Number] = fresh[h.Last().Number] || i < 2
			mu.Unlock()
			switch {
			case i < 2:
			case j%2 == 0:
				h.Kill()
			default:
				_ = h.Release(context.Background(), time.Now())
			}
		}
	})
	for number, times := range given {
		if fresh[number] && times > 1 {
			b.Errorf("number %d was given as new, and %d times", number, times)
		}
	}
}

// overlaps counts the lines that say that two ranges overlap.
type overlaps struct{ atomic.Int64 }

func (o *overlaps) Write(line []byte) (int, error) {
	o.Add(int64(bytes.Count(line, []byte("overlap"))))
	return len(line), nil
}

// sites: a start logs the ranges of others that have numbers of its own. An assigned number is none.
func sites(b bench) {
	lines := new(overlaps)
	site := func(from, to int64) {
		b.take(999, lease.Config{Numbers: &lease.Range{From: from, To: to}, Logger: slog.New(slog.NewTextHandler(lines, nil))})
	}
	b.take(999, lease.Config{Assigner: number(105)})
	for range 3 {
		site(0, 49)
		site(100, 149)
		site(200, 249)
	}
	site(50, 250)
	holdertest.Eventually(b, "the last start alone logs two ranges", func() bool { return lines.Load() == 2 })
}

// abandoned: a start that ends after it wrote, without the answer, does not keep the number.
func abandoned(b bench) {
	for _, config := range []lease.Config{upTo(0), upTo(0), {Assigner: number(0)}} { // by Insert, and by Swap
		own := b.another()
		ctx, cancel := context.WithCancel(b.Context())
		if _, err := holdertest.Try(ctx, b, own.leaser(forsaken(own.Store, cancel), config, lease.Config{Window: b.suite.Expiry}), 0, time.Now); !errors.Is(err, context.Canceled) {
			b.Fatalf("%v; want that the start was canceled", err)
		}
		b.suite.Kill(b.T, own.Store)
		holdertest.Eventually(b, "the number may be taken", func() bool {
			h, err := b.try(0, upTo(0))
			switch {
			case err == nil:
				err = h.Release(b.Context(), time.Now())
			case errors.Is(err, lease.ErrExhausted):
				return false
			}
			b.must(err)
			return true
		})
	}
}
