package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

const (
	writesAhead = 50 * time.Millisecond // Config.Ahead in the table of writes
	writesFor   = 10                    // a sample lasts so many times writesAhead, from a cold start
	writesPause = time.Millisecond      // between two batches
)

// writeRates are ids a second in the table of writes.
var writeRates = []int{10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}

// writes measures how often a generator writes to its store at a rate of ids a second.
type writes int

// Units of writes.
const (
	writesMade   = "ids/s made"
	writesFirst  = "writes for each `Ahead`, first half" // of a sample
	writesSecond = "second half"
	writesRange  = "ids of the last range"
)

func (w writes) name() string { return humanize.Comma(int64(w)) }

// Sample implements bench.Task.
func (w writes) Sample(ctx context.Context) ([]bench.Figure, error) {
	gen, err := segment.New(ctx, new(segmenttest.Memory), "orders",
		segment.Config{Create: true, Ahead: writesAhead, Logger: silent})
	if err != nil {
		return nil, err
	}
	start, half := time.Now(), int64(0)
	var ids [bench.Batch]uid.ID
	for made := 0; time.Since(start) < writesFor*writesAhead; time.Sleep(writesPause) {
		due := int(time.Since(start).Seconds() * float64(w))
		for made < due && ctx.Err() == nil && err == nil {
			var n int
			n, err = gen.NextN(ids[:min(len(ids), due-made)])
			made += n
		}
		if half == 0 && time.Since(start) > writesFor*writesAhead/2 {
			half = gen.Stats().Loads.Loads
		}
	}
	s, took := gen.Stats(), time.Since(start)
	halves := float64(took) / 2 / float64(writesAhead)
	figure := func(unit string, sample float64) bench.Figure {
		return bench.Of(w.name(), bench.Setting{}, unit, sample)
	}
	return []bench.Figure{
		figure(writesMade, float64(s.Issued)/took.Seconds()),
		figure(writesFirst, float64(half)/halves),
		figure(writesSecond, float64(s.Loads.Loads-half)/halves),
		figure(writesRange, float64(s.Loads.Step)),
	}, errors.Join(err, gen.Close(), context.Cause(ctx))
}

// writeBar: a range lasts ten minutes by default, so two writes for each are rare.
func (p *page) writeBar() bench.Bar {
	most := 0.0
	for _, rate := range writeRates {
		most = max(most, p.of(writes(rate).name(), writesSecond).Median()) // NaN if one is NaN
	}
	aSecond := most / segment.DefaultAhead.Seconds()
	return bench.Bar{
		What: "store writes of a segment, at any rate",
		Want: "≤ 1 a second, once the step has settled",
		Measured: fmt.Sprintf("%s for each `Ahead`, so %s a second with the default of %v",
			bench.Digits(most), bench.Digits(aSecond), segment.DefaultAhead),
		Pass: aSecond <= 1,
	}
}
