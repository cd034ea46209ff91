package main

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/cacheline"
	"github.com/uidring/uidring/uid"
)

// row is what came of one measurement: of one round, or of several, and then it
// is the one in the middle by speed.
type row struct {
	Name            string  `json:"name"`
	Goroutines      int     `json:"goroutines"`
	IDs             int64   `json:"ids"`
	Seconds         float64 `json:"seconds"`
	PerSecond       float64 `json:"ids_per_second"`
	NsPerID         float64 `json:"ns_per_id"` // wall time over the ids of all goroutines
	FloorRatio      float64 `json:"floor_ratio"`
	AllocsPerID     float64 `json:"allocs_per_id"`
	Rejected        int64   `json:"rejected"` // calls that failed, in all rounds
	BorrowedSeconds float64 `json:"borrowed_seconds"`
	Stopped         string  `json:"stopped,omitempty"` // why a round ended early

	Rounds  int      `json:"rounds"`
	Spread  spread   `json:"ids_per_second_spread"`
	Latency *latency `json:"latency,omitempty"` // of calls
}

const (
	nameWidth = len("Default.NextN(256)")

	// perCheck is how many ids lie between two looks at the clock, few enough to
	// end in time and so many that looking costs nothing.
	perCheck = 1 << 14
)

// subject is something to measure. The loops, which make n ids, are functions
// written out for each type: a call through an interface costs as much as an id.
type subject struct {
	name string
	open func(bits.Layout) (*instance, error)
}

// instance is a subject that was opened.
type instance struct {
	loop     func(n int) (int, error)
	caller   func() func() error // makes a call for one goroutine
	stats    func() uid.Stats
	close    func() error
	standard *uid.Default // that is measured, or nil
}

// subjects begin with the floor.
var subjects = []subject{
	{"atomic add", func(bits.Layout) (*instance, error) {
		counter := new(cacheline.Int64)
		return &instance{
			loop:   func(n int) (int, error) { return addLoop(counter, n) },
			caller: func() func() error { return func() error { counter.Add(1); return nil } },
			stats:  func() uid.Stats { return uid.Stats{} },
			close:  func() error { return nil },
		}, nil
	}},
	{"Cached.Next", func(layout bits.Layout) (*instance, error) { return openCached(layout, cachedLoop, single) }},
	{"Cached.NextN(256)", func(layout bits.Layout) (*instance, error) { return openCached(layout, cachedBatchLoop, batch) }},
	{"Default.Next", func(layout bits.Layout) (*instance, error) { return openDefault(layout, defaultLoop, single) }},
	{"Default.NextN(256)", func(layout bits.Layout) (*instance, error) { return openDefault(layout, defaultBatchLoop, batch) }},
}

func openCached(layout bits.Layout, loop func(*uid.Cached, int) (int, error), caller callerOf) (*instance, error) {
	gen, err := uid.NewCached(context.Background(), uid.StaticWorker(0),
		uid.Config{Layout: layout, MaxBorrow: -1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	return &instance{
		loop:   func(n int) (int, error) { return loop(gen, n) },
		caller: caller(gen),
		stats:  gen.Stats,
		close:  gen.Close,
	}, nil
}

func openDefault(layout bits.Layout, loop func(*uid.Default, int) (int, error), caller callerOf) (*instance, error) {
	gen, err := uid.NewDefault(context.Background(), uid.StaticWorker(0),
		uid.Config{Layout: layout, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	return &instance{
		loop:     func(n int) (int, error) { return loop(gen, n) },
		caller:   caller(gen),
		stats:    gen.Stats,
		close:    gen.Close,
		standard: gen,
	}, nil
}

func addLoop(counter *cacheline.Int64, n int) (int, error) {
	for range n {
		counter.Add(1)
	}
	return n, nil
}

func cachedLoop(gen *uid.Cached, n int) (int, error) {
	for i := range n {
		if _, err := gen.Next(); err != nil {
			return i, err
		}
	}
	return n, nil
}

func defaultLoop(gen *uid.Default, n int) (int, error) {
	for i := range n {
		if _, err := gen.Next(); err != nil {
			return i, err
		}
	}
	return n, nil
}

func cachedBatchLoop(gen *uid.Cached, n int) (int, error) {
	var ids [256]uid.ID
	made := 0
	for made < n {
		k, err := gen.NextN(ids[:])
		if made += k; err != nil {
			return made, err
		}
	}
	return made, nil
}

func defaultBatchLoop(gen *uid.Default, n int) (int, error) {
	var ids [256]uid.ID
	made := 0
	for made < n {
		k, err := gen.NextN(ids[:])
		if made += k; err != nil {
			return made, err
		}
	}
	return made, nil
}

// measure runs the subject for the given time.
func (s subject) measure(ctx context.Context, layout bits.Layout, goroutines int, duration time.Duration) (row, error) {
	in, err := s.open(layout)
	if err != nil {
		return row{}, err
	}
	defer func() { _ = in.close() }() // its error is always nil
	if in.standard != nil {
		if duration, err = settle(ctx, in.standard, duration); err != nil {
			return row{}, err
		}
	}

	var (
		total    atomic.Int64
		stop     atomic.Bool // written once, when ctx or the time is over
		failed   atomic.Pointer[error]
		deadline time.Time
		gate     = make(chan struct{})
		ready    sync.WaitGroup
		done     sync.WaitGroup
	)
	ready.Add(goroutines)
	for range goroutines {
		done.Go(func() {
			made, err := 0, error(nil)
			ready.Done()
			<-gate
			for {
				var n int
				n, err = in.loop(perCheck)
				made += n
				if err != nil || stop.Load() || !time.Now().Before(deadline) {
					break
				}
			}
			total.Add(int64(made))
			if err != nil && !errors.Is(err, uid.ErrClosed) {
				failed.CompareAndSwap(nil, &err)
			}
		})
	}
	ready.Wait()

	// A Default that waits is woken up by closing it. Its statistics come first,
	// as every goroutine's last call then counts as failed.
	var stats uid.Stats
	end := sync.OnceFunc(func() {
		stop.Store(true)
		stats = in.stats()
		_ = in.close()
	})
	defer context.AfterFunc(ctx, end)()
	allocated := mallocs()
	start := time.Now()
	deadline = start.Add(duration)
	if in.standard != nil {
		defer time.AfterFunc(duration, end).Stop()
	}
	close(gate)
	done.Wait()
	took := time.Since(start)
	allocated = mallocs() - allocated
	end()
	if ctx.Err() != nil {
		return row{}, context.Cause(ctx)
	}

	r := row{
		Name:            s.name,
		Goroutines:      goroutines,
		IDs:             total.Load(),
		Seconds:         took.Seconds(),
		Rejected:        stats.RejectedTakes,
		BorrowedSeconds: stats.Borrowed.Seconds(),
	}
	if err := failed.Load(); err != nil {
		r.Stopped = (*err).Error()
	}
	if ids := float64(r.IDs); ids > 0 {
		r.PerSecond = ids / r.Seconds
		r.NsPerID = float64(took.Nanoseconds()) / ids
		r.AllocsPerID = float64(allocated) / ids
	}
	return r, nil
}

func mallocs() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.Mallocs
}

// settle prepares a Default whose ids are few for its ticks, and returns how long
// to measure it. From a start at random, a second may see the ids of one tick or
// of two. From halfway through a tick whose ids are used up, any number of whole
// ticks sees the ids of just as many.
func settle(ctx context.Context, gen *uid.Default, duration time.Duration) (time.Duration, error) {
	const (
		manyTicks = 100     // one more or less does not matter
		manyIDs   = 1 << 26 // that no tick uses up
	)
	layout := gen.Layout()
	last := int64(1)<<layout.SequenceBits - 1
	if duration/layout.Unit >= manyTicks || last >= manyIDs {
		return duration, nil
	}
	into := time.Since(layout.Epoch) % layout.Unit
	half := time.NewTimer((layout.Unit/2 - into + layout.Unit) % layout.Unit)
	defer half.Stop()
	select {
	case <-half.C:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	ids := make([]uid.ID, min(last+1, perCheck))
	for {
		n, err := gen.NextN(ids)
		if err != nil {
			return 0, err
		}
		if int64(ids[n-1])&last == last {
			return max(duration/layout.Unit, 1) * layout.Unit, nil
		}
	}
}
