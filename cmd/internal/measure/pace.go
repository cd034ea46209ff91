package measure

import (
	"context"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/uidring/uidring/uid"
)

// Interval is the time between two calls of a paced sample: a million a second.
const Interval = time.Microsecond

// Quantiles are those of a paced sample, in per cent. The last is the maximum.
var Quantiles = [...]float64{50, 99, 99.99, 100}

// Pace is how long calls take that one goroutine makes at a fixed rate.
type Pace struct {
	Subject
	Time time.Duration // for a sample

	Latency [len(Quantiles)]Series // ns from when a call was meant to start, of each of Quantiles
	Inside  [len(Quantiles)]Series // ns from when a call started, of each of Quantiles
	Rate    Series                 // calls a second that were made
	Ring    []uid.Stats            // at the end of each sample; empty for what has no ring
}

// Sample implements Task. The latency of a call is the time from its intended
// start to its end. A call that starts late because the previous call took long
// has waited, and its wait counts: otherwise a stall of a millisecond would
// look like a single slow call.
//
// The host of a virtual machine holds up the harness too. The time inside the call
// leaves out what the harness waits between two calls.
func (p *Pace) Sample(ctx context.Context) (keep func(), err error) {
	var (
		latencies, inside = hdrhistogram.New(1, int64(time.Hour), 3), hdrhistogram.New(1, int64(time.Hour), 3)
		calls             int
		took              time.Duration
		ring              []uid.Stats
	)
	err = p.use(func(in *Instance) error {
		// The goroutine keeps no thread of its own: the runtime preempts it every 10 ms,
		// and would have to wake another thread each time.
		start := time.Now()
		// What cannot keep the pace is given as much time again.
		for due := time.Duration(0); due < p.Time && time.Since(start) < 2*p.Time; due += Interval {
			from := time.Since(start)
			for from < due {
				from = time.Since(start)
			}
			if _, err := in.Loop(1); err != nil {
				return err
			}
			to := time.Since(start)
			_ = latencies.RecordValue(int64(to - due)) // an hour at most
			_ = inside.RecordValue(int64(to - from))
			if calls++; calls%1024 == 0 && ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		took, ring = time.Since(start), in.ring()
		return nil
	})
	return func() {
		for i, q := range Quantiles {
			p.Latency[i] = append(p.Latency[i], float64(latencies.ValueAtQuantile(q)))
			p.Inside[i] = append(p.Inside[i], float64(inside.ValueAtQuantile(q)))
		}
		p.Rate = append(p.Rate, float64(calls)/took.Seconds())
		p.Ring = append(p.Ring, ring...)
	}, err
}
