package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/uidring/uidring/cmd/internal/bench"
)

// load calls a server from some connections, each call as soon as the one before is
// answered.
type load struct {
	Name string
	Open func() (caller, error)
	Time time.Duration // for a sample

	Process *process // nil for a server that this run has not started

	rate float64 // calls a second of the last sample
}

// Units of loads, beside bench.Calls.
const (
	idsRate    = "ids/s"
	processors = "µs of the server's processors a call"
)

// connections is how many callers there are: enough to keep two cores busy.
const connections = 32

// Sample implements bench.Task. A tenth of the time beforehand warms up.
func (l *load) Sample(ctx context.Context) (sample []bench.Figure, err error) {
	callers, err := openAll(l.Open, connections)
	if err != nil {
		return nil, err
	}
	if _, _, err := l.run(ctx, callers, l.Time/10); err != nil {
		return nil, errors.Join(err, closeAll(callers))
	}
	used, began := l.used(), time.Now()
	calls, ids, err := l.run(ctx, callers, l.Time)
	took, used := time.Since(began).Seconds(), l.used()-used
	l.rate = float64(calls) / took
	sample = []bench.Figure{bench.Of(l.Name, bench.Setting{}, bench.Calls, l.rate)}
	if ids > 0 {
		sample = append(sample, bench.Of(l.Name, bench.Setting{}, idsRate, float64(ids)/took))
	}
	if l.Process != nil {
		sample = append(sample, bench.Of(l.Name, bench.Setting{}, processors, float64(used.Nanoseconds())/1e3/float64(calls)))
	}
	return sample, errors.Join(err, closeAll(callers), context.Cause(ctx))
}

func (l *load) used() time.Duration {
	if l.Process == nil {
		return 0
	}
	return l.Process.cpu()
}

func (l *load) run(ctx context.Context, callers []caller, d time.Duration) (calls, ids int, err error) {
	var (
		mu  sync.Mutex
		all sync.WaitGroup
		end = time.Now().Add(d)
	)
	for _, c := range callers {
		all.Go(func() {
			made, got := 0, 0
			var failed error
			for failed == nil && ctx.Err() == nil && time.Now().Before(end) {
				var n int
				n, failed = c.call()
				made, got = made+1, got+n
			}
			mu.Lock()
			defer mu.Unlock()
			calls, ids, err = calls+made, ids+got, errors.Join(err, failed)
		})
	}
	all.Wait()
	return calls, ids, err
}

// latency is how long calls of a load take at half of a load's capacity, which that one
// has measured in the same round.
type latency struct {
	*load
	Half *load
	Time time.Duration // for a sample
}

var quantiles = []float64{50, 99, 99.9, 99.99}

// milliseconds is the unit of a quantile.
func milliseconds(quantile float64) string { return fmt.Sprintf("p%g ms", quantile) }

// Sample implements bench.Task. Calls are due at fixed times, whatever the server
// does. A call that is due while its connection waits for an answer counts from when it
// was due. That the client wakes up late is not the server's doing: a call counts from
// when it is sent if it is due before the client wakes up.
func (l *latency) Sample(ctx context.Context) (sample []bench.Figure, err error) {
	callers, err := openAll(l.Open, connections)
	if err != nil {
		return nil, err
	}
	interval := time.Duration(float64(time.Second) * connections / (l.Half.rate / 2))
	total := hdrhistogram.New(1, time.Minute.Nanoseconds(), 3)
	var (
		mu    sync.Mutex
		all   sync.WaitGroup
		began = time.Now()
	)
	for i, c := range callers {
		all.Go(func() {
			own := hdrhistogram.New(1, time.Minute.Nanoseconds(), 3)
			due := began.Add(interval * time.Duration(i) / connections)
			var failed error
			for woke, answered := began, began; failed == nil && ctx.Err() == nil && due.Before(began.Add(l.Time)); due = due.Add(interval) {
				from := due
				if answered.Before(due) {
					time.Sleep(time.Until(due))
					woke = time.Now()
					from = woke
				} else if due.Before(woke) {
					from = answered
				}
				if _, failed = c.call(); failed == nil {
					answered = time.Now()
					failed = own.RecordValue(answered.Sub(from).Nanoseconds())
				}
			}
			mu.Lock()
			defer mu.Unlock()
			total.Merge(own)
			err = errors.Join(err, failed)
		})
	}
	all.Wait()
	took := time.Since(began).Seconds()
	sample = []bench.Figure{bench.Of(l.Name, bench.Setting{}, bench.PacedCalls, float64(total.TotalCount())/took)}
	for _, q := range quantiles {
		sample = append(sample, bench.Of(l.Name, bench.Setting{}, milliseconds(q), float64(total.ValueAtQuantile(q))/1e6))
	}
	return sample, errors.Join(err, closeAll(callers), context.Cause(ctx))
}

// idle is what connections cost that do nothing after their first request.
type idle struct{ Start func() (*process, error) }

// Units of idle connections, each of the server.
const (
	idleName       = "idle connections"
	idleMemory     = "bytes a connection"
	idleGoroutines = "goroutines a connection"
)

// idlers is how many connections are idle.
const idlers = 10_000

// Sample implements bench.Task.
func (i *idle) Sample(ctx context.Context) (sample []bench.Figure, err error) {
	p, err := i.Start()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.stop()) }()
	var before, after [2]float64
	figures := [2]string{"process_resident_memory_bytes", "go_goroutines"}
	for k, figure := range figures {
		if before[k], err = p.gauge(figure); err != nil {
			return nil, err
		}
	}
	callers, err := openAll(func() (caller, error) { return wire(p.address, oneID, answerOf(lines)) }, idlers)
	if err != nil {
		return nil, err
	}
	for _, c := range callers {
		if _, failed := c.call(); failed != nil {
			return nil, errors.Join(failed, closeAll(callers))
		}
	}
	for k, figure := range figures {
		if after[k], err = p.gauge(figure); err != nil {
			return nil, errors.Join(err, closeAll(callers))
		}
	}
	return []bench.Figure{
		bench.Of(idleName, bench.Setting{}, idleMemory, (after[0]-before[0])/idlers),
		bench.Of(idleName, bench.Setting{}, idleGoroutines, (after[1]-before[1])/idlers),
	}, errors.Join(closeAll(callers), context.Cause(ctx))
}

func openAll(open func() (caller, error), n int) (callers []caller, err error) {
	for range n {
		c, err := open()
		if err != nil {
			return nil, errors.Join(err, closeAll(callers))
		}
		callers = append(callers, c)
	}
	return callers, nil
}

func closeAll(callers []caller) (err error) {
	for _, c := range callers {
		err = errors.Join(err, c.close())
	}
	return err
}
