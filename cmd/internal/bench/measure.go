// Package bench is a benchmark program: the subcommand bench, and the benchmarks of the
// project, which measure peers beside it.
//
// A [Program] has tasks. A [Task] takes one sample of a [Subject] a round: [Cell] of what
// an id costs, [Pace] of how long a call takes at a fixed rate. Rounds visit all tasks, so
// that a busy minute of the machine costs each of them one sample, not one of them all.
// The samples are figures of a [Result], which is printed as JSON, or as a page.
//
// The page is written in Markdown by one template, report.md. The page in HTML is the same
// text with charts; the terminal has it with aligned tables and without marks.
//
// # What the harness costs
//
// A call through an interface or a func value costs as much as the fastest
// generators do. Each subject therefore brings a loop of its own, in which the call
// is direct, as in a user's code; [Repeat] writes that loop. The harness makes one
// indirect call for thousands of ids.
package bench

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/uidring/uidring/uid"
)

// Subject is something to measure.
type Subject struct {
	Name string
	Open func() (*Instance, error) // starts it; its time is not measured
}

// Instance is a subject that was started. Open makes one for each sample, so that no
// sample has what another one borrowed or filled.
type Instance struct {
	// Loop makes n calls and returns the last id, or a part of it. Many goroutines
	// call it at once.
	Loop func(n int) (uint64, error)

	// PerCall is how many ids a call makes; 0 means 1.
	PerCall int

	// Stats returns how far the instance has borrowed and how it was refilled; nil if
	// nobody counts that.
	Stats func() uid.Stats

	// Close ends the instance; nil means that there is nothing to end.
	Close func() error
}

// use calls sample with a new instance, and closes it. Errors name the subject.
func (s Subject) use(sample func(*Instance) error) error {
	in, err := s.Open()
	if err == nil {
		runtime.GC() // so that this sample does not collect the garbage of the one before
		err = sample(in)
		if in.Close != nil {
			err = errors.Join(err, in.Close())
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.Name, err)
	}
	return nil
}

// Repeat calls next n times and returns the last id. The compiler inlines Repeat
// and then next, provided that next is a literal at the call of Repeat. A sum of all ids
// would live in memory across a call, and cost a third of the fastest generator.
func Repeat(n int, next func() (uint64, error)) (uint64, error) {
	var last uint64
	for range n {
		id, err := next()
		if err != nil {
			return last, err
		}
		last = id
	}
	return last, nil
}

// Task is measured once a round.
type Task interface {
	// Sample measures once, and returns figures of one sample each. If other programs
	// disturbed a sample, it is dropped and taken again.
	Sample(ctx context.Context) ([]Figure, error)
}

// rounds takes samples of each task, round by round, and calls progress after each
// sample. It ends with ctx, or at the first error.
func (r *Result) rounds(ctx context.Context, tasks []Task, c *calm, progress func()) error {
	c.learn(ctx)
	for range r.Rounds {
		for _, task := range tasks {
			sample, disturbed, err := c.take(ctx, task)
			if err != nil {
				return err
			}
			r.Add(sample...)
			if r.Samples++; disturbed {
				r.Disturbed++
			}
			progress()
		}
	}
	return nil
}
