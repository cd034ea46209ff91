package bench

import (
	"context"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Interval is the time between two calls of a paced sample: a million a second.
const Interval = time.Microsecond

// quantiles of a paced sample, in per cent. The last is the maximum.
var quantiles = [...]float64{50, 99, 99.99, 100}

// Units of paced samples. A latency counts from when a call was meant to start, the time
// inside from when it started.
var (
	Latencies = [len(quantiles)]string{"p50 ns", "p99 ns", "p99.99 ns", "max ns"}
	Inside    = [len(quantiles)]string{"p50 inside, ns", "p99 inside, ns", "p99.99 inside, ns", "max inside, ns"}
)

// PacedCalls is the unit of the calls a second that a paced sample made.
const PacedCalls = "paced calls/s"

// Pace is how long calls take that one goroutine makes at a fixed rate.
type Pace struct {
	Subject
	Time time.Duration // for a sample
}

// Sample implements Task. A call that starts late because the previous call took long
// has waited, and its wait counts: otherwise a stall of a millisecond would look like a
// single slow call. The time inside the call leaves out what the host of a virtual machine
// holds up between two calls.
func (p *Pace) Sample(ctx context.Context) (sample []Figure, err error) {
	latencies, inside := hdrhistogram.New(1, int64(time.Hour), 3), hdrhistogram.New(1, int64(time.Hour), 3)
	paced := Setting{}
	err = p.use(func(in *Instance) error {
		// The goroutine keeps no thread of its own: the runtime preempts it every 10 ms,
		// and would have to wake another thread each time.
		start, calls := time.Now(), 0
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
		sample = []Figure{Of(p.Name, paced, PacedCalls, float64(calls)/time.Since(start).Seconds())}
		for i, q := range quantiles {
			sample = append(sample, Of(p.Name, paced, Latencies[i], float64(latencies.ValueAtQuantile(q))),
				Of(p.Name, paced, Inside[i], float64(inside.ValueAtQuantile(q))))
		}
		if in.Stats != nil {
			sample = append(sample, refilled(p.Name, paced, in.Stats(), 1)...)
		}
		return nil
	})
	return sample, err
}
