package main

import (
	"fmt"
	"runtime"
	"time"

	"github.com/uidring/uidring/internal/bench"
)

// cell is one figure of a table: an implementation under a number of
// goroutines, measured once a round.
type cell struct {
	Name       string
	Goroutines int
	PerID      series // ns of wall time over the ids of all goroutines
	Ring       []ring // at the end of each round; empty for what has none
	Allocs     uint64 // over all rounds, those of other goroutines included
	IDs        uint64 // over all rounds
	Calls      uint64 // over all rounds; fewer than IDs where a call makes many

	open func() (*bench.Instance, error)
}

// sample measures the cell for about d, with an instance of its own: what
// another cell borrowed or filled is not this one's. The sample counts once keep
// is called.
func (c *cell) sample(d time.Duration) (keep func(), err error) {
	in, err := c.open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}
	defer func() {
		if stop := in.Stop(); err == nil && stop != nil {
			err = fmt.Errorf("%s: %w", c.Name, stop)
		}
	}()
	calls, err := bench.Calls(in.Batch, c.Goroutines, d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}

	var before, after runtime.MemStats
	runtime.GC() // so that no garbage of the previous cell is collected in this one
	runtime.ReadMemStats(&before)
	took, err := bench.Fan(in.Batch, c.Goroutines, calls)
	runtime.ReadMemStats(&after)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Name, err)
	}

	ids := calls * in.IDs()
	ring := ringOf(in)
	return func() {
		c.IDs += uint64(ids)
		c.Calls += uint64(calls)
		c.Allocs += after.Mallocs - before.Mallocs
		c.PerID = append(c.PerID, float64(took.Nanoseconds())/float64(ids))
		c.Ring = append(c.Ring, ring...)
	}, nil
}

// allocsPerID is the mean; the harness's own few allocations are in it.
func (c *cell) allocsPerID() float64 {
	return float64(c.Allocs) / float64(max(c.IDs, 1))
}

// allocsPerCall is what go test prints as allocs/op, before it drops the fraction.
func (c *cell) allocsPerCall() float64 {
	return float64(c.Allocs) / float64(max(c.Calls, 1))
}

// perSecond is the rate at the median.
func (c *cell) perSecond() float64 { return 1e9 / c.PerID.median() }

// over is how many times the cost of base this cell costs.
func (c *cell) over(base *cell) float64 { return c.PerID.median() / base.PerID.median() }

// ring is what a cached generator says of itself.
type ring struct {
	Borrowed float64 // s past the clock
	Refills  float64 // rounds of filling by its executor
	Helps    float64 // runs put by takers that found it empty
	Failed   float64 // takes that got no id
	Issued   float64
}

func ringOf(in *bench.Instance) []ring {
	if in.Stats == nil {
		return nil
	}
	stats := in.Stats()
	return []ring{{
		Borrowed: stats.Borrowed.Seconds(),
		Refills:  float64(stats.Refills),
		Helps:    float64(stats.Helps),
		Failed:   float64(stats.RejectedTakes),
		Issued:   float64(stats.Issued),
	}}
}

// each collects one figure of all rounds.
func each(rings []ring, figure func(ring) float64) (s series) {
	for _, r := range rings {
		s = append(s, figure(r))
	}
	return s
}

func borrowed(r ring) float64 { return r.Borrowed }
