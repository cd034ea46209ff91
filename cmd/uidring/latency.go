package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// latency is how long single calls took, in nanoseconds.
type latency struct {
	Calls int64  `json:"calls"` // of all rounds
	P50   spread `json:"p50_ns"`
	P99   spread `json:"p99_ns"`
	P999  spread `json:"p999_ns"`
	Max   spread `json:"max_ns"`
}

// latencyOf returns nil if no round saw a call.
func latencyOf(rounds []*hdrhistogram.Histogram) *latency {
	l := &latency{}
	var p50, p99, p999, most []float64
	for _, h := range rounds {
		if h.TotalCount() == 0 {
			continue
		}
		l.Calls += h.TotalCount()
		p50, p99 = append(p50, float64(h.ValueAtQuantile(50))), append(p99, float64(h.ValueAtQuantile(99)))
		p999, most = append(p999, float64(h.ValueAtQuantile(99.9))), append(most, float64(h.Max()))
	}
	if l.Calls == 0 {
		return nil
	}
	l.P50, l.P99, l.P999, l.Max = spreadOf(p50), spreadOf(p99), spreadOf(p999), spreadOf(most)
	return l
}

// callerOf makes the calls to time. Beside reading the clock, an interface call is
// little.
type callerOf func(nexter) func() func() error

type nexter interface {
	Next() (uid.ID, error)
	NextN(ids []uid.ID) (int, error)
}

func single(gen nexter) func() func() error {
	return func() func() error {
		return func() error { _, err := gen.Next(); return err }
	}
}

func batch(gen nexter) func() func() error {
	return func() func() error {
		ids := make([]uid.ID, 256)
		return func() error { _, err := gen.NextN(ids); return err }
	}
}

// longestCall is the longest that a histogram tells from longer ones, in
// nanoseconds.
const longestCall = int64(24 * time.Hour)

// newHistogram counts durations to two digits.
func newHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(1, longestCall, 2) }

// latencyShare is which part of a round's time goes to the calls one by one.
const latencyShare = 4

// latency times every call by itself, for part of a round, in a pass of its own:
// reading the clock costs more than most calls. A Default is watched for a tick,
// though not for longer than the round, so that it is seen to wait. A call that
// still waits in the end counts with the time that it has waited.
func (s subject) latency(ctx context.Context, layout bits.Layout, goroutines int, duration time.Duration) (*hdrhistogram.Histogram, error) {
	in, err := s.open(layout)
	if err != nil {
		return nil, err
	}
	var stop atomic.Bool // written once, when ctx or the time is over
	end := sync.OnceFunc(func() {
		stop.Store(true)
		_ = in.close() // wakes up those that wait; its error is always nil
	})
	defer end()
	took := duration / latencyShare
	if in.standard != nil {
		took = max(took, min(layout.Unit, duration))
	}

	var (
		each  = make([]*hdrhistogram.Histogram, goroutines)
		gate  = make(chan struct{})
		ready sync.WaitGroup
		done  sync.WaitGroup
	)
	ready.Add(goroutines)
	for i := range each {
		each[i] = newHistogram()
		done.Go(func() {
			h, call := each[i], in.caller()
			ready.Done()
			<-gate
			base := time.Now()
			for !stop.Load() {
				before := time.Since(base)
				err := call()
				after := time.Since(base)
				if err == nil || errors.Is(err, uid.ErrClosed) {
					// A clock that stands still is no error.
					_ = h.RecordValue(min(max(int64(after-before), 0), longestCall))
				}
				if err != nil || after >= took {
					return
				}
			}
		})
	}
	ready.Wait()
	defer context.AfterFunc(ctx, end)()
	defer time.AfterFunc(took, end).Stop()
	close(gate)
	done.Wait()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	for _, h := range each[1:] {
		each[0].Merge(h)
	}
	return each[0], nil
}
