package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/bench"
)

// interval is the pace: a million calls a second.
const interval = time.Microsecond

// quantiles of the latency table, in per cent. The last is the maximum.
var quantiles = []float64{50, 99, 99.99, 100}

// pace is a row of the latency table.
type pace struct {
	What      string
	Quantiles []series // ns from the intended start, as of quantiles
	Rate      series   // calls a second that were made
	Ring      []ring   // at the end of each round; empty for what has none

	open func() (call func() error, in *bench.Instance, err error)
}

func paces() []*pace {
	rows := []*pace{
		{What: "nothing: the meter itself", open: func() (func() error, *bench.Instance, error) {
			return func() error { return nil }, new(bench.Instance), nil
		}},
		{What: "`time.Now()`", open: func() (func() error, *bench.Instance, error) {
			return func() error {
				runtime.KeepAlive(time.Now())
				return nil
			}, new(bench.Instance), nil
		}},
		{What: "`Cached`, default layout, 65,536 ids", open: openCached(bits.Default)},
		{What: "`Cached`, layout 31/23/9, 4,096 ids", open: openCached(bits.LongLived)},
		{What: "`Default`, layout 31/1/31", open: func() (func() error, *bench.Instance, error) {
			gen, err := bench.OpenDefault()
			if err != nil {
				return nil, nil, err
			}
			return func() error {
				_, err := gen.Next()
				return err
			}, bench.DefaultInstance(gen), nil
		}},
	}
	for _, row := range rows {
		row.Quantiles = make([]series, len(quantiles))
	}
	return rows
}

func openCached(layout bits.Layout) func() (func() error, *bench.Instance, error) {
	return func() (func() error, *bench.Instance, error) {
		gen, err := bench.OpenCached(layout, bench.Boost)
		if err != nil {
			return nil, nil, err
		}
		return func() error {
			_, err := gen.Next()
			return err
		}, bench.CachedInstance(gen), nil
	}
}

// sample makes calls at the pace for d and records how long after its intended
// start each one ended. A call that comes late because the one before took long
// has waited too, and its wait counts: leaving it out is how a stall of a
// millisecond comes to look like a single slow call. The sample counts once keep is called.
func (p *pace) sample(d time.Duration) (keep func(), err error) {
	call, in, err := p.open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.What, err)
	}
	defer func() {
		if stop := in.Stop(); err == nil {
			err = stop
		}
	}()
	runtime.GC()
	// The pacing thread must not take turns with others of this process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	var (
		latencies = hdrhistogram.New(1, int64(time.Minute), 3)
		calls     = int(d / interval)
		start     = time.Now()
	)
	for i := range calls {
		due := time.Duration(i) * interval
		for time.Since(start) < due {
		}
		if err := call(); err != nil {
			return nil, fmt.Errorf("%s: %w", p.What, err)
		}
		if err := latencies.RecordValue(int64(time.Since(start) - due)); err != nil {
			return nil, fmt.Errorf("%s: %w", p.What, err)
		}
	}
	took := time.Since(start)

	ring := ringOf(in)
	return func() {
		for i, q := range quantiles {
			p.Quantiles[i] = append(p.Quantiles[i], float64(latencies.ValueAtPercentile(q)))
		}
		p.Rate = append(p.Rate, float64(calls)/took.Seconds())
		p.Ring = append(p.Ring, ring...)
	}, nil
}
