package main

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

const (
	segmentCap  = "none; the store sees a write for each range"
	segmentLess = "time and worker in the id; needs a store with a counter"
	segmentAs   = "store in memory; ranges grow with the rate, to 2^30 ids"
)

var (
	segmentNext = impl{Subject: segments("Segment.Next", 1, segment.Config{}, 0, nextLoop),
		Package: "uidring `segment.Generator`, `Next`", Kind: ours, Cap: segmentCap, GivesUp: segmentLess, Setup: segmentAs, Bars: segmentBars}
	segmentNextN = impl{Subject: segments("Segment.NextN(256)", bench.Batch, segment.Config{}, 0, nextNLoop[*segment.Generator]),
		Package: "uidring `segment.Generator`, `NextN` of 256", Kind: ours, Cap: segmentCap, GivesUp: segmentLess, Setup: segmentAs, Bars: nextNBars}
	segmentAll = impl{Subject: segments("Segment.All", 1, segment.Config{}, 0, allLoop),
		Package: "uidring `segment.Generator`, a loop over `All`", Kind: ours, Cap: segmentCap, GivesUp: "order between loops; " + segmentLess, Setup: segmentAs, Bars: allBars}
)

// silent logs nothing.
var silent = slog.New(slog.DiscardHandler)

func nextLoop(gen *segment.Generator, n int) (uint64, error) {
	return bench.Repeat(n, func() (uint64, error) { id, err := gen.Next(); return uint64(id), err })
}

func nextNLoop[G uid.Generator](gen G, n int) (uint64, error) {
	var ids [bench.Batch]uid.ID
	return bench.Repeat(n, func() (uint64, error) { _, err := gen.NextN(ids[:]); return uint64(ids[bench.Batch-1]), err })
}

func allLoop(gen *segment.Generator, n int) (uint64, error) {
	for id, err := range gen.All(context.Background()) {
		if n--; n == 0 || err != nil {
			return uint64(id), err
		}
	}
	return 0, nil
}

// segments returns a generator on a store in memory whose loads take a given time.
func segments(name string, perCall int, config segment.Config, took time.Duration, loop func(*segment.Generator, int) (uint64, error)) bench.Subject {
	return bench.Generator(name, perCall, func() (*segment.Generator, error) { return openSegment(&slow{took: took}, config) }, loop)
}

func openSegment(store segment.Store, config segment.Config) (*segment.Generator, error) {
	config.Create, config.Logger = true, silent
	return segment.New(context.Background(), store, "orders", config)
}

// segmentOn returns a generator on a store that end closes.
func segmentOn(store segment.Store, end func() error) (*bench.Instance, error) {
	open := func() (*segment.Generator, error) { return openSegment(store, segment.Config{}) }
	return ending(end)(bench.Generator("", 1, open, nextLoop).Open())
}

// slow is a store in memory whose requests take a given time.
type slow struct {
	segmenttest.Memory
	took time.Duration
}

func (s *slow) Reserve(ctx context.Context, tag string, n int64) (first, count int64, err error) {
	time.Sleep(s.took)
	return s.Memory.Reserve(ctx, tag, n)
}

// pacedLoads are the times of a load in the table of latencies.
var pacedLoads = []time.Duration{time.Millisecond, 10 * time.Millisecond, 50 * time.Millisecond}

func pacedName(took time.Duration) string { return fmt.Sprintf("Segment.Next, loads of %v", took) }

// pacedSegments have ranges of a fifth of a second, so that a sample has several loads.
func pacedSegments() (list []bench.Subject) {
	for _, took := range pacedLoads {
		config := segment.Config{Step: 200_000, MaxStep: 200_000}
		list = append(list, segments(pacedName(took), 1, config, took, nextLoop))
	}
	return list
}

// cosIDCounter and cosIDNext are million ids a second that CosId's page has of Java's
// AtomicLong and of its SegmentChainId, on a machine of their own.
const cosIDCounter, cosIDNext = 145.0, 127.0

// cosID is a table of ratios.
func (p *page) cosID() string {
	row := func(name string, counter, next float64) []string {
		return []string{name, bench.Digits(counter), bench.Digits(next), fmt.Sprintf("%.2f", next/counter)}
	}
	rows := [][]string{row("CosId, as published", cosIDCounter, cosIDNext)}
	for _, s := range settings(p.Cores) {
		rows = append(rows, row("`"+segmentNext.Name+"`, "+s.String(), p.Of(bench.Add, s, bench.Rate).Median(), p.Of(segmentNext.Name, s, bench.Rate).Median()))
	}
	return bench.Table([]string{"", ">a counter, million/s", ">a segment, million/s", ">ratio"}, rows...)
}

// pacedBars are about the time inside calls: the harness alone takes longer from one
// call to the next, since the machine's host interrupts it.
func (p *page) pacedBars() (list []bench.Bar) {
	const most = 2000 // ns
	for _, took := range pacedLoads {
		name := pacedName(took)
		inside, waits := p.of(name, bench.Inside[2]), p.of(name, bench.Helps).Median()
		list = append(list, bench.Bar{
			What:     fmt.Sprintf("`%s`, at a million a second", name),
			Want:     "p99.99 inside the call ≤ 2 µs, and no call finds the ring empty",
			Measured: fmt.Sprintf("%s ns, and %s calls", inside, bench.Digits(waits)),
			Pass:     inside.Median() <= most && waits == 0, // false of NaN
		})
	}
	return list
}
