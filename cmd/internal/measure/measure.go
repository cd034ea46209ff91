// Package measure times calls that make ids. The command's bench and the page of
// the project's benchmarks measure by it, each with a list of its own.
//
// A [Subject] is what is measured: a generator by one of its methods, a peer, or a
// floor. A [Task] takes one sample of it a round: [Cell] of what an id costs, [Pace]
// of how long a call takes at a fixed rate. [Rounds] visits all tasks once a round,
// so that a busy minute of the machine costs each of them one sample, not one of
// them all.
//
// # What the harness costs
//
// A call through an interface or a func value costs as much as the fastest
// generators do. Each subject therefore brings a loop of its own, in which the call
// is direct, as in a user's code; [Repeat] writes that loop. The harness makes one
// indirect call for thousands of ids.
//
// # Time per id
//
// Time per id is wall time over the ids of all goroutines, as testing's RunParallel
// has it. If a subject scales perfectly, two cores halve it. If one contended cache
// line limits the subject, they do not.
package measure

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

	// Stats returns how far the instance has borrowed and how it was refilled; nil if it
	// is never refilled.
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

// ring returns the statistics, if there are any.
func (in *Instance) ring() []uid.Stats {
	if in.Stats == nil {
		return nil
	}
	return []uid.Stats{in.Stats()}
}

// Repeat calls next n times and returns the last id. The compiler inlines Repeat
// and then next, provided that next is a literal at the call of Repeat; TestRepeatIsInlined
// checks that.
//
// Repeat keeps the last id only. A sum of all ids would live in memory across a
// call, and cost a third of the fastest generator.
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
	// Sample measures once. The sample counts once keep is called; a sample that
	// other programs disturbed is taken again instead.
	Sample(ctx context.Context) (keep func(), err error)
}

// Rounds takes count samples of each task, round by round, and calls progress after
// each sample. It ends with ctx, or at the first error.
func Rounds(ctx context.Context, count int, tasks []Task, calm *Calm, progress func()) error {
	calm.learn(ctx)
	for range count {
		for _, task := range tasks {
			if err := calm.take(ctx, task); err != nil {
				return err
			}
			progress()
		}
	}
	return nil
}
