package leasetest

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

type fleet struct {
	testing.TB
	holders []*holdertest.Holder
	most    int64 // the greatest number that was ever held
}

// start starts holders at the same time, and returns how long the last took.
func (f *fleet) start(n int, leaser func(i int) *lease.Leaser) time.Duration {
	f.Helper()
	began := time.Now()
	more := make([]*holdertest.Holder, n)
	var starting sync.WaitGroup
	for i := range more {
		starting.Go(func() {
			var err error
			if more[i], err = holdertest.Try(context.Background(), f, leaser(i), 1<<20, time.Now); err != nil {
				f.Errorf("start %d of %d, after %v: %v", i, n, time.Since(began), err)
			}
		})
	}
	starting.Wait()
	took := time.Since(began)
	f.holders = append(f.holders, more...)
	held := map[int64]bool{}
	for _, h := range f.holders {
		g := h.Last()
		if f.Failed() {
			f.FailNow()
		}
		if held[g.Number] {
			f.Fatalf("number %d is held twice", g.Number)
		}
		held[g.Number], f.most = true, max(f.most, g.Number)
	}
	return took
}

func (f *fleet) stop(n int) {
	f.Helper()
	var stopping sync.WaitGroup
	for _, h := range f.holders[:n] {
		stopping.Go(func() {
			if err := h.Release(context.Background(), time.UnixMilli(time.Now().UnixMilli())); err != nil {
				f.Error(err)
			}
		})
	}
	stopping.Wait()
	f.holders = f.holders[n:]
}

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
	for i := range leasers {
		store := around{b.open(b.T), func(ctx context.Context, _ *leasestore.Write, do func() error) error {
			calls.Add(1)
			err := do()
			if ctx.Err() != nil {
				late.Add(1)
			}
			return err
		}}
		leasers[i] = b.leaser(store, lease.Config{Expiry: time.Minute})
	}
	f := &fleet{TB: b.T}
	leaser := func(i int) *lease.Leaser { return leasers[i%handles] }
	start := func(n int) (each float64) {
		before := requests()
		f.start(n, leaser)
		return float64(requests()-before) / float64(n)
	}
	start(handles) // the first makes what is missing
	for _, step := range []struct {
		what   string
		starts int
		most   int64 // the greatest number that may be held then
	}{
		{"first starts", starts, (handles + starts) * 11 / 10},
		{"as many are free", starts, (handles + starts) * 11 / 10},
		{"half are held", starts / 2, (handles + starts) * 11 / 10},
	} {
		if step.what != "first starts" {
			f.stop(len(f.holders) - (starts - step.starts))
		}
		alone := start(1)
		each := start(step.starts - 1)
		again := late.Load()
		b.Logf("%s: %.1f requests each, and %.1f alone; numbers up to %d; %d requests without an answer", step.what, each, alone, f.most, again)
		if most := 1.5 * alone * float64(int64(step.starts)+again) / float64(step.starts); each > most {
			b.Errorf("%s: %.1f requests each; want at most %.1f", step.what, each, most)
		}
		if most := step.most + again; f.most > most {
			b.Errorf("%s: number %d is held; want %d at most", step.what, f.most, most)
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
			leaser, f := lease.New(counting(s, &calls), benchConfig), &fleet{TB: b}
			for b.Loop() {
				f.holders = nil
				f.start(1, func(int) *lease.Leaser { return leaser })
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
				s, f := x.Open(b), &fleet{TB: b}
				all := func(int) *lease.Leaser {
					own := s
					if x.Another != nil {
						own = x.Another(b, s)
					}
					return lease.New(counting(own, &calls), benchConfig)
				}
				first += f.start(starts, all)
				f.stop(starts)
				free += f.start(starts, all)
				f.stop(starts / 2)
				half += f.start(starts/2, all)
				for range restarts {
					f.stop(starts)
					f.start(starts, all)
				}
				used += float64(f.most+1) / float64(starts)
				f.stop(starts)
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
	tokens := make(chan string)
	var filling sync.WaitGroup
	for range 100 {
		filling.Go(func() {
			for token := range tokens {
				w := write(leasestore.Acquire, 0, token, 1)
				w.Fresh = true
				if _, _, err := s.Insert(b.Context(), w); err != nil {
					b.Error(err)
				}
			}
		})
	}
	for n := range rows {
		tokens <- fmt.Sprint("t", n)
	}
	close(tokens)
	filling.Wait()
}
