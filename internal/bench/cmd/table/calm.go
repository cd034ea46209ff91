package main

import (
	"time"

	"github.com/uidring/uidring/internal/bench"
)

const (
	// steps of the probe for each goroutine, some milliseconds in all.
	steps = 2_000_000
	// enough of the cores is had when the probe runs at this share of its best.
	enough = 0.85
	// pause is how long to leave a busy machine alone.
	pause = 50 * time.Millisecond
)

// calm keeps samples from being taken while other programs hold the cores. A
// contended counter, for one, looks as fast on two cores as on one while its two
// goroutines take turns on the single core that is left to them.
type calm struct {
	Samples   int
	Disturbed int // kept for want of patience

	best     float64 // ns a step on one core, if undisturbed
	patience time.Duration
}

// arithmetic needs a core and nothing else: no memory, no clock, no lock.
func arithmetic(n int) (uint64, error) {
	x := uint64(n)
	for range n {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x, nil
}

// learn finds out how fast one core is.
func (c *calm) learn() {
	c.best = c.probe(1)
	for range 10 {
		c.best = min(c.best, c.probe(1))
	}
}

// probe returns the ns of one goroutine's step while all of them make theirs.
func (c *calm) probe(goroutines int) float64 {
	took, _ := bench.Fan(arithmetic, goroutines, steps*goroutines)
	return float64(took.Nanoseconds()) / steps
}

func (c *calm) had(goroutines int) bool {
	return c.best/c.probe(min(goroutines, all())) >= enough
}

// take takes a sample between two probes that found the machine calm, or the
// first one after patience has run out.
func (c *calm) take(goroutines int, sample func() (keep func(), err error)) error {
	for {
		start := time.Now()
		for !c.had(goroutines) && time.Since(start) < c.patience {
			time.Sleep(pause)
		}
		c.patience -= time.Since(start)

		start = time.Now()
		keep, err := sample()
		if err != nil {
			return err
		}
		quiet := c.had(goroutines)
		if !quiet && c.patience > 0 {
			c.patience -= time.Since(start)
			continue
		}
		keep()
		c.Samples++
		if !quiet {
			c.Disturbed++
		}
		return nil
	}
}
