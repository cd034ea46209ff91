package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/cmd/internal/measure"
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

// writes measures how often a generator writes to its store at a rate of ids.
type writes struct {
	Rate int

	Made          measure.Series // ids a second
	First, Second measure.Series // writes per Ahead, in the halves of a sample
	Step          measure.Series // ids of the last range
}

// Sample implements measure.Task.
func (w *writes) Sample(ctx context.Context) (keep func(), err error) {
	gen, err := segment.New(ctx, new(segmenttest.Memory), "orders",
		segment.Config{Create: true, Ahead: writesAhead, Logger: silent})
	if err != nil {
		return nil, err
	}
	start, half := time.Now(), int64(0)
	var ids [measure.Batch]uid.ID
	for made := 0; time.Since(start) < writesFor*writesAhead; time.Sleep(writesPause) {
		due := int(time.Since(start).Seconds() * float64(w.Rate))
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
	return func() {
		halves := float64(took) / 2 / float64(writesAhead)
		w.Made = append(w.Made, float64(s.Issued)/took.Seconds())
		w.First = append(w.First, float64(half)/halves)
		w.Second = append(w.Second, float64(s.Loads.Loads-half)/halves)
		w.Step = append(w.Step, float64(s.Loads.Step))
	}, errors.Join(err, gen.Close(), context.Cause(ctx))
}

func (r *results) writeTable() string {
	rows := [][]string{{">ids/s, wanted", ">ids/s", ">writes for each `Ahead`, first half", ">second half", ">ids of the last range"}}
	for _, w := range r.writes {
		rows = append(rows, []string{number(w.Rate), measure.Figure(w.Made.Median()), bold(w.First), bold(w.Second), bold(w.Step)})
	}
	return table(rows...)
}

// writeBar: a range lasts ten minutes by default, so two writes for each are rare.
func (r *results) writeBar() bar {
	most := 0.0
	for _, w := range r.writes {
		most = max(most, w.Second.Median()) // NaN if one is NaN
	}
	aSecond := most / segment.DefaultAhead.Seconds()
	return bar{
		What: "store writes of a segment, at any rate",
		Want: "≤ 1 a second, once the step has settled",
		Measured: fmt.Sprintf("%s for each `Ahead`, so %s a second with the default of %v",
			measure.Figure(most), measure.Figure(aSecond), segment.DefaultAhead),
		Pass: aSecond <= 1,
	}
}
