package leasetest

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// herd: of many starts at the same time, each costs what one alone costs beside as many rows. On a
// slow machine, a request may end without an answer: its number is a gap, and its start begins again.
func herd(b bench) {
	const starts, handles = 50, 8
	var calls, late atomic.Int64
	requests := calls.Load
	if b.suite.Requests != nil {
		requests = func() int64 { return b.suite.Requests(b.T, b.Store) }
	}
	leasers := make([]*lease.Leaser, handles)
	for i, store := range b.handles(handles) {
		store = around{store, func(ctx context.Context, _ *leasestore.Write, do func() error) error {
			calls.Add(1)
			err := do()
			if ctx.Err() != nil {
				late.Add(1)
			}
			return err
		}}
		leasers[i] = b.leaser(store, lease.Config{Expiry: time.Minute})
	}
	f := &holdertest.Fleet{TB: b.T}
	start := func(n int) (each float64) {
		before := requests()
		f.Start(b.Context(), n, func(i int) *lease.Leaser { return leasers[i%handles] })
		return float64(requests()-before) / float64(n)
	}
	start(handles) // the first makes what is missing
	for _, step := range []struct {
		what   string
		starts int
	}{{"first starts", starts}, {"as many are free", starts}, {"half are held", starts / 2}} {
		if step.what != "first starts" {
			f.Stop(len(f.Holders) - (starts - step.starts))
		}
		alone := start(1)
		each := start(step.starts - 1)
		again := late.Load()
		b.Logf("%s: %.1f requests each, and %.1f alone; numbers up to %d; %d requests without an answer", step.what, each, alone, f.Most, again)
		if most := 1.5 * alone * float64(int64(step.starts)+again) / float64(step.starts); each > most {
			b.Errorf("%s: %.1f requests each; want at most %.1f", step.what, each, most)
		}
		if most := (handles+starts)*11/10 + again; f.Most > most {
			b.Errorf("%s: number %d is held; want %d at most", step.what, f.Most, most)
		}
	}
}

// Benchmark measures how fast holders start. The names of its sub-benchmarks suit benchstat: rows
// is how many numbers are held, and starts is how many holders start at the same time.
type Benchmark struct {
	// Open returns an empty store.
	Open func(b *testing.B) leasestore.Store

	// Another opens the store as another process would. Herd calls it for each holder. Nil
	// means the store that Open returned.
	Another func(b *testing.B, s leasestore.Store) leasestore.Store

	// Fill creates the rows of the numbers from 0 to rows-1 in an empty store, each held for an
	// hour or longer. If it is nil, the benchmark inserts fresh numbers.
	Fill func(b *testing.B, s leasestore.Store, rows int64)

	// Starts lists how many holders Herd starts at the same time; each entry is one measurement.
	// Nil means 100 and 1,000. With -short, Herd uses only the first entry, and restarts them once.
	Starts []int
}

// Start measures how fast one holder starts while other numbers are held.
func (x Benchmark) Start(b *testing.B) {
	for _, rows := range or(nil, 100, 100_000) {
		b.Run(fmt.Sprintf("rows=%d", rows), func(b *testing.B) {
			s := x.Open(b)
			x.fill(b, s, int64(rows))
			var calls atomic.Int64
			leaser, f := lease.New(counting(s, &calls), benchConfig), &holdertest.Fleet{TB: b}
			for b.Loop() {
				f.Holders = nil
				f.Start(b.Context(), 1, func(int) *lease.Leaser { return leaser })
			}
			b.ReportMetric(float64(calls.Load())/float64(b.N), "calls/op")
		})
	}
}

// Herd measures how fast holders start when many start at the same time: in an empty store, with
// as many free numbers as holders, and with half of the numbers held. Then it restarts the
// holders, and reports how many numbers have been used per number held.
func (x Benchmark) Herd(b *testing.B) {
	restarts := 9
	if testing.Short() {
		restarts = 1
	}
	for _, starts := range or(x.Starts, 100, 1000) {
		b.Run(fmt.Sprintf("starts=%d", starts), func(b *testing.B) {
			var first, free, half time.Duration
			used, calls := 0.0, atomic.Int64{}
			for b.Loop() {
				s, f := x.Open(b), &holdertest.Fleet{TB: b}
				all := func(int) *lease.Leaser {
					own := s
					if x.Another != nil {
						own = x.Another(b, s)
					}
					return lease.New(counting(own, &calls), benchConfig)
				}
				first += f.Start(b.Context(), starts, all)
				f.Stop(starts)
				free += f.Start(b.Context(), starts, all)
				f.Stop(starts / 2)
				half += f.Start(b.Context(), starts/2, all)
				for range restarts {
					f.Stop(starts)
					f.Start(b.Context(), starts, all)
				}
				used += float64(f.Most+1) / float64(starts)
				f.Stop(starts)
			}
			n := float64(b.N)
			b.ReportMetric(first.Seconds()/n, "s/first")
			b.ReportMetric(free.Seconds()/n, "s/free")
			b.ReportMetric(half.Seconds()/n, "s/half")
			b.ReportMetric(used/n, "numbers/held")
			b.ReportMetric(float64(calls.Load())/n/((2.5+float64(restarts))*float64(starts)), "calls/start")
		})
	}
}

var benchConfig = lease.Config{Node: holder, Logger: slog.New(slog.DiscardHandler)}

func or(given []int, standard ...int) []int {
	if given == nil {
		given = standard
	}
	if testing.Short() {
		return given[:1]
	}
	return given
}

func (x Benchmark) fill(b *testing.B, s leasestore.Store, rows int64) {
	if x.Fill != nil {
		x.Fill(b, s, rows)
		return
	}
	holdertest.Together(100, func(i int) {
		for n := int64(i); n < rows; n += 100 {
			w := write(leasestore.Acquire, 0, fmt.Sprint("t", n), 1)
			w.Fresh = true
			if _, _, err := s.Insert(b.Context(), w); err != nil {
				b.Error(err)
			}
		}
	})
}
