package leasetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/worker/lease"
)

// tiny are layouts whose ids are few enough to compare all. Under the second, numbers are as new as before; the
// third has room for fewer sequences, so its numbers are greater.
var tiny = []bits.Layout{
	{TimeBits: 3, WorkerBits: 12, SequenceBits: 3, Epoch: bits.Fleet().Epoch, Unit: time.Second},
	{TimeBits: 3, WorkerBits: 11, SequenceBits: 4, Epoch: bits.Fleet().Epoch, Unit: time.Second},
	{TimeBits: 3, WorkerBits: 14, SequenceBits: 1, Epoch: bits.Fleet().Epoch, Unit: time.Second},
}

// change: the layout changes beside holders that run, start, and lose their numbers. No id of one layout equals one of
// another, whatever the times and sequences.
func change(b bench) {
	ids := map[int64]string{} // all that the holders so far may make, and by which layout
	var mu sync.Mutex
	add := func(layout bits.Layout, number int64) {
		mu.Lock()
		defer mu.Unlock()
		allocator, err := bits.NewAllocator(layout)
		b.must(err)
		for tick := range allocator.MaxTick() + 1 {
			for sequence := range allocator.MaxSequence() + 1 {
				id, err := allocator.Compose(tick, number, sequence)
				b.must(err)
				if made, is := ids[id]; is && made != layout.String() {
					b.Fatalf("id %d is one of %s and, under number %d, of %s", id, made, number, layout)
				}
				ids[id] = layout.String()
			}
		}
	}
	var running []lease.Lease
	start := func(own bench, layout bits.Layout) error {
		held, err := own.leaser(own.Store, lease.Config{Expiry: time.Minute}).Lease(context.Background(), lease.Request{
			Limit: 1<<layout.WorkerBits - 1, Clock: time.Now, Layout: layout.String(), Granted: func(g lease.Grant) {
				if g.Held {
					add(layout, g.Number)
				}
			},
		})
		if err == nil {
			mu.Lock()
			running = append(running, held)
			mu.Unlock()
		}
		return err
	}
	defer func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		for _, held := range running {
			_ = held.Release(ended, time.Time{}) // as a crash
		}
	}()
	b.must(start(b, tiny[0]))
	least := int64(0) // number of the layout
	for i, to := range tiny[1:] {
		from := tiny[i]
		var starting sync.WaitGroup
		for range 3 {
			own, next := b.another(), b.another()
			starting.Go(func() { // of the old layout, until that is refused
				var err error
				for err == nil {
					err = start(own, from)
				}
				if !errors.Is(err, lease.ErrLayout) {
					b.Error(err)
				}
			})
			starting.Go(func() { // of the new one, as soon as it is accepted
				err := start(next, to)
				for errors.Is(err, lease.ErrLayout) {
					err = start(next, to)
				}
				if err != nil {
					b.Error(err)
				}
			})
		}
		leaser := b.leaser(b.Store)
		planned, err := leaser.PlanLayout(b.Context(), to)
		b.must(err)
		changed, err := leaser.ChangeLayout(b.Context(), to)
		starting.Wait()
		if err != nil || changed.From.String() != from.String() || changed.Used < planned.Used || changed.Numbers.From <= changed.Used {
			b.Fatalf("%+v, %v after the plan %+v; want a change from %s", changed, err, planned, from)
		}
		for ; least <= changed.Used; least++ { // any of which others may have
			add(from, least)
		}
		least = changed.Numbers.From
		add(to, least)
		if layout, stored, err := leaser.Layout(b.Context()); layout != to.String() || !stored || err != nil {
			b.Fatalf("the layout is %q, %t, %v; want %s", layout, stored, err, to)
		}
		if again, err := leaser.ChangeLayout(b.Context(), to); err != nil || again.From.String() != to.String() || len(again.Earlier) != i+1 ||
			again.Earlier[i].Layout.String() != from.String() || again.Earlier[i].Numbers.To != changed.Used {
			b.Errorf("%+v, %v; want nothing to change, after %s under numbers up to %d", again, err, from, changed.Used)
		}
	}
	refused(b)
}

// refused: a change that no number makes safe changes nothing.
func refused(b bench) {
	narrow := tiny[2]
	narrow.WorkerBits, narrow.SequenceBits = 1, 14
	_, err := b.leaser(b.Store).ChangeLayout(b.Context(), narrow)
	if !errors.Is(err, lease.ErrExhausted) || !strings.Contains(fmt.Sprint(err), "number") {
		b.Errorf("%v; want that no number is safe", err)
	}
	if layout, _, err := b.leaser(b.Store).Layout(b.Context()); layout != tiny[2].String() || err != nil {
		b.Errorf("the layout is %q, %v after a refused change", layout, err)
	}
	if _, err := b.leaser(b.Store).ChangeLayout(b.Context(), bits.Layout{}); !errors.Is(err, lease.ErrConfig) {
		b.Errorf("%v; want ErrConfig for the zero layout", err)
	}
}
