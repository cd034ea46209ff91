package main

import (
	"time"

	"github.com/uidring/uidring/internal/bench"
)

const (
	// steps of the probe for each goroutine, some milliseconds in all.
	steps = 4_000_000
	// enough of the cores is had when the probe runs at this share of its best.
	enough = 0.85
	// pause is how long to leave a busy machine alone.
	pause = 50 * time.Millisecond
)

// calm keeps samples from being taken while other programs hold the cores, or
// half of one, as what runs on its other hardware thread does, be it in another
// virtual machine. A contended counter, for one, looks as fast on two cores as on
// one while its two goroutines take turns on the single core that is left to them.
type calm struct {
	Samples   int
	Disturbed int // kept for want of patience

	best     float64 // ns a step on one core, if undisturbed
	patience time.Duration
}

// arithmetic needs a core and nothing else: no memory, no clock, no lock. It needs
// the whole of it: four chains that do not wait for each other keep its units
// busy, where a single one would leave room for a neighbour and not notice it.
func arithmetic(n int) (uint64, error) {
	a, b, c, d := uint64(n), uint64(n+1), uint64(n+2), uint64(n+3)
	for range n {
		a = (a ^ a<<13) + 1
		b = (b ^ b<<13) + 1
		c = (c ^ c<<13) + 1
		d = (d ^ d<<13) + 1
	}
	return a ^ b ^ c ^ d, nil
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
