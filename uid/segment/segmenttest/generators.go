package segmenttest

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

func (b *bench) generator(s segment.Store, config segment.Config) *segment.Generator {
	b.Helper()
	config.Logger = slog.New(slog.DiscardHandler)
	gen, err := segment.New(b.Context(), s, tag, config)
	for try := 1; errors.Is(err, segment.ErrUnavailable) && try < 20; try++ { // a busy store is slow
		gen, err = segment.New(b.Context(), s, tag, config)
	}
	if err != nil {
		b.Fatalf("New() = %v", err)
	}
	b.Cleanup(func() { _ = gen.Close() })
	return gen
}

// hanging: a request ends with its context, and the store can be used afterwards.
func hanging(b *bench) {
	b.create(tag, 1, 10)
	s, faults := b.Faulty(b.T)
	b.want(s, tag, 10, 1, 10)
	faults.Hang()
	ctx, cancel := context.WithTimeout(b.Context(), 50*time.Millisecond)
	defer cancel()
	if _, _, err := s.Reserve(ctx, tag, 10); !errors.Is(err, context.DeadlineExceeded) {
		b.Errorf("Reserve() = %v, want the end of its context", err)
	}
	faults.Heal()
	if first, _, err := s.Reserve(b.Context(), tag, 10); first < 11 || err != nil {
		b.Errorf("Reserve() = %d, %v once the store answers", first, err)
	}
}

// restarts: each generator continues where the generator before it ended.
func restarts(b *bench) {
	b.create(tag, 1, 10)
	want := uid.ID(1)
	for i := range 30 {
		gen := b.generator(b, segment.Config{Step: 10})
		for range i {
			if id, err := gen.Next(); id != want || err != nil {
				b.Fatalf("start %d: Next() = %d, %v, want %d", i, id, err, want)
			}
			want++
		}
		if err := gen.Close(); err != nil {
			b.Fatalf("Close() = %v", err)
		}
	}
}

// twoGenerators: generators close in either order, and neither returns ids of the other.
func twoGenerators(b *bench) {
	b.create(tag, 1, 10)
	seen := map[uid.ID]bool{}
	draw := func(gen *segment.Generator, n int) {
		b.Helper()
		for range n {
			id, err := gen.Next()
			if err != nil || seen[id] {
				b.Fatalf("Next() = %d, %v; issued before: %v", id, err, seen[id])
			}
			seen[id] = true
		}
	}
	for round := range 6 {
		config := segment.Config{Step: 10}
		gens := []*segment.Generator{b.generator(b, config), b.generator(b.Backend.Store(b.T), config)}
		draw(gens[0], 3)
		draw(gens[1], 5+7*(round%3))
		first := round % 2
		if err := gens[first].Close(); err != nil {
			b.Errorf("Close() = %v", err)
		}
		draw(gens[1-first], 25)
		third := b.generator(b, config)
		draw(third, 2)
		for _, gen := range []*segment.Generator{gens[1-first], third} {
			if err := gen.Close(); err != nil {
				b.Errorf("Close() = %v", err)
			}
		}
	}
}

// rewound: a generator notices that its counter was set back, and returns nothing to it.
func rewound(b *bench) {
	b.create(tag, 1, 10)
	b.want(b, tag, 5000, 1, 5000)
	for _, lower := range []func(next int64) int64{
		func(int64) int64 { return 1 },
		func(next int64) int64 { return next - 1 }, // within the last range
	} {
		last := uid.ID(b.next(tag) - 1)
		gen := b.generator(b, segment.Config{Step: 10})
		b.Set(b.T, tag, lower(b.next(tag)))
		if _, err := b.drain(gen, last); !errors.Is(err, segment.ErrRewound) || errors.Is(err, segment.ErrUnavailable) {
			b.Errorf("Next() = %v, want ErrRewound", err)
		}
		now := b.next(tag)
		if err := gen.Close(); err != nil || b.next(tag) != now {
			b.Errorf("Close() = %v; the counter was %d and is %d", err, now, b.next(tag))
		}
	}
}

func deleted(b *bench) {
	b.create(tag, 1, 10)
	gen := b.generator(b, segment.Config{Step: 10, Create: true})
	b.Delete(b.T, tag)
	if _, err := b.drain(gen, 0); !errors.Is(err, segment.ErrUnknownTag) {
		b.Errorf("Next() = %v, want ErrUnknownTag", err)
	}
	if err := gen.Close(); err != nil {
		b.Errorf("Close() = %v", err)
	}
	if counters, err := b.List(b.Context()); len(counters) != 0 || err != nil {
		b.Errorf("List() = %v, %v: the counter is back", counters, err)
	}
}

// slow: when the rate jumps while each load takes long, calls wait and none fails.
func slow(b *bench) {
	b.create(tag, 1, 10)
	s, faults := b.Faulty(b.T)
	faults.Slow()
	gen := b.generator(s, segment.Config{Step: 10})
	var takers sync.WaitGroup
	for range 4 {
		takers.Go(func() {
			for range 20_000 {
				if _, err := gen.Next(); err != nil {
					b.Errorf("Next() = %v of a slow store", err)
					return
				}
			}
		})
	}
	takers.Wait()
	faults.Heal()
	if s := gen.Stats(); s.Issued != 80_000 || s.Loads.LoadTime < 40*time.Millisecond || s.Loads.Loads > 12 {
		b.Errorf("issued %d with %d loads, the last in %v; want 80,000 with a few loads in 50 ms", s.Issued, s.Loads.Loads, s.Loads.LoadTime)
	}
}

// drain draws ids, which are above last, until a call fails. It returns the last id and the
// error.
func (b *bench) drain(gen *segment.Generator, last uid.ID) (uid.ID, error) {
	b.Helper()
	for range 100_000 {
		id, err := gen.Next()
		if err != nil {
			return last, err
		}
		if id <= last {
			b.Fatalf("id %d after %d", id, last)
		}
		last = id
	}
	b.Fatal("ids do not end")
	return 0, nil
}

// outage: while the store is unavailable, ids continue to the end of the loaded ranges. Then
// calls fail with the store's error, or wait, and nothing is returned. When the store is back,
// higher ids follow.
func outage(b *bench) {
	b.create(tag, 1, 10)
	s, faults := b.Faulty(b.T)
	gen := b.generator(s, segment.Config{Step: 10, MaxStep: 10})
	faults.Cut()
	last, err := b.drain(gen, 0)
	if !errors.Is(err, segment.ErrUnavailable) {
		b.Errorf("Next() = %v, want ErrUnavailable", err)
	}
	if last < 10 || last > 30 {
		b.Errorf("ids ended at %d, want the end of what was loaded", last)
	}
	if done, err := s.(store).Return(b.Context(), tag, 5, 11); done || err == nil {
		b.Errorf("Return() = %v, %v, want that the store is unavailable", done, err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := gen.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		b.Errorf("Wait() = %v, want the end of its context", err)
	}
	faults.Heal()
	if id, err := gen.Wait(b.Context()); id <= last || err != nil {
		b.Errorf("Wait() = %d, %v, want an id above %d", id, err, last)
	}
}

// hangs: a store that does not answer holds up neither waiting nor closing.
func hangs(b *bench) {
	b.create(tag, 1, 10)
	s, faults := b.Faulty(b.T)
	gen := b.generator(s, segment.Config{Step: 10, MaxStep: 10, LoadTimeout: 100 * time.Millisecond})
	faults.Hang()
	last, err := b.drain(gen, 0)
	if !errors.Is(err, segment.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
		b.Errorf("Next() = %v, want ErrUnavailable and DeadlineExceeded", err)
	}
	ctx, cancel := context.WithTimeout(b.Context(), 200*time.Millisecond)
	defer cancel()
	_ = gen.Shutdown(ctx) // fails if it has ids to return
	if _, err := gen.Next(); !errors.Is(err, uid.ErrClosed) {
		b.Errorf("Next() = %v, want ErrClosed", err)
	}
	faults.Heal()
	if id, err := b.generator(s, segment.Config{}).Wait(b.Context()); id <= last || err != nil {
		b.Errorf("Wait() = %d, %v, want an id above %d", id, err, last)
	}
}

// crashes: the store is cut off amid the requests of four generators, again and again.
// No id repeats, and ids go on.
func crashes(b *bench) {
	const cuts, between = 5, 100
	b.create(tag, 1, 10)
	s, faults := b.Faulty(b.T)
	ctx, cancel := context.WithCancel(b.Context())
	ids := make(chan uid.ID)
	var gens []*segment.Generator
	var drawing sync.WaitGroup
	defer drawing.Wait()
	defer cancel()
	for range 4 {
		gen := b.generator(s, segment.Config{Step: 3, MaxStep: 3})
		gens = append(gens, gen)
		drawing.Go(func() {
			for last := uid.ID(0); ; {
				id, err := gen.Wait(ctx)
				if ctx.Err() == nil && (err != nil || id <= last) {
					b.Errorf("Wait() = %d, %v after %d", id, err, last)
					cancel()
				}
				last = id
				select {
				case ids <- id:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	failures := func() (n int64) {
		for _, gen := range gens {
			n += gen.Stats().Loads.Failures
		}
		return n
	}
	seen := map[uid.ID]bool{}
	draw := func(enough func(drawn int) bool) {
		tick := time.NewTicker(time.Millisecond)
		defer tick.Stop()
		for drawn := 0; !enough(drawn) && ctx.Err() == nil; {
			select {
			case id := <-ids:
				if seen[id] {
					b.Errorf("id %d was issued before", id)
				}
				seen[id] = true
				drawn++
			case <-tick.C:
			}
		}
	}
	for range cuts {
		draw(func(drawn int) bool { return drawn == between })
		before := failures()
		faults.Cut()
		draw(func(int) bool { return failures() > before })
		faults.Heal()
	}
	draw(func(drawn int) bool { return drawn == between })
}
