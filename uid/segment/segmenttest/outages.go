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

func (b *bench) generator(s segment.Store, config segment.Config) *segment.Counter {
	b.Helper()
	config.Logger = slog.New(slog.DiscardHandler)
	gen, err := segment.New(b.Context(), s, tag, config)
	for try := 1; errors.Is(err, uid.ErrUnavailable) && try < 20; try++ { // a busy store is slow
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

// crashes: the store is cut off amid the requests of four generators, again and again.
// No id repeats, and ids go on.
func crashes(b *bench) {
	const cuts, between = 5, 100
	b.create(tag, 1, 10)
	s, faults := b.Faulty(b.T)
	ctx, cancel := context.WithCancel(b.Context())
	ids := make(chan uid.ID)
	var gens []*segment.Counter
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
