package bench

import (
	"context"
	"runtime"
	"time"
)

const (
	// probeTime is much longer than lookAfter, by which the ends of the goroutines differ.
	probeTime = 4 * time.Millisecond
	// enough of the cores is free when the probe runs at this share of its best.
	enough = 0.85
	// pause is how long take waits between two probes of a busy machine.
	pause = 50 * time.Millisecond
)

// calm avoids samples that are taken while other programs hold the cores, or
// the second hardware thread of a core, even from another virtual machine. For
// example, a contended counter looks as fast on two cores as on one if its two
// goroutines share the single core that is left.
type calm struct {
	patience time.Duration // left for waiting and for samples that are taken again

	best  float64                                 // ns a step of one core that nothing disturbs
	probe func(context.Context, int) (ns float64) // of a step, by the number of goroutines; nil is step
}

// arithmetic needs a core and nothing else: no memory, no clock, no lock. Four chains
// that do not wait for each other keep all of the core's units busy. A single chain
// would leave room for a neighbour, and not notice it.
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

// learn measures how fast one core is.
func (c *calm) learn(ctx context.Context) {
	if c.probe == nil {
		c.probe = step
	}
	c.best = c.probe(ctx, 1)
	for range 10 {
		c.best = min(c.best, c.probe(ctx, 1))
	}
}

// step returns the ns of a step of arithmetic while all goroutines make steps.
func step(ctx context.Context, goroutines int) float64 {
	calls, took, _ := fan(ctx, arithmetic, Setting{Goroutines: goroutines}, probeTime)
	return float64(took.Nanoseconds()) * float64(goroutines) / float64(max(calls, 1))
}

// free reports whether all cores are free. Refills use the cores that a sample leaves idle.
func (c *calm) free(ctx context.Context) bool {
	return c.best/c.probe(ctx, runtime.GOMAXPROCS(0)) >= enough
}

// take returns a sample that was taken between two probes that found the machine calm,
// or the first one after patience is used up, which may be disturbed.
func (c *calm) take(ctx context.Context, task Task) (sample []Figure, disturbed bool, err error) {
	for {
		start := time.Now()
		for ctx.Err() == nil && time.Since(start) < c.patience && !c.free(ctx) {
			time.Sleep(pause)
		}
		c.patience -= time.Since(start)

		start = time.Now()
		if sample, err = task.Sample(ctx); err != nil {
			return nil, false, err
		}
		if disturbed = !c.free(ctx); !disturbed || c.patience <= 0 || ctx.Err() != nil {
			return sample, disturbed, nil
		}
		c.patience -= time.Since(start)
	}
}
