// Package bench measures what an id costs: the subcommand bench, for a user's own machine,
// and the harness of the project's own benchmarks.
//
// A call through an interface or a func value costs as much as the fastest generators do.
// Each [Subject] therefore has a loop of its own, in which the call is direct, as in a
// user's code.
package bench

import (
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
)

// Subject is something to measure.
type Subject struct {
	Name string // as in a benchmark's name, after impl=
	IDs  int    // ids of a call; 0 means 1

	// Open starts the subject. end is nil if there is nothing to end.
	Open func() (loop Loop, end func() error, err error)
}

// Loop makes n calls. Several goroutines call it at once.
type Loop func(n int) error

// Repeat calls f n times. The compiler inlines Repeat and then f, if f is a literal.
func Repeat(n int, f func() error) error {
	for range n {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// Measure has goroutines share the loop for the time d. It returns how many calls they made,
// and the time of the clock for each: on two cores half of that on one, without contention.
func Measure(loop Loop, goroutines int, d time.Duration) (calls int64, ns float64, err error) {
	var (
		made  atomic.Int64
		all   errgroup.Group
		began = time.Now()
	)
	for range goroutines {
		all.Go(func() error {
			own, chunk := 0, 1
			for now := time.Since(began); own == 0 || now < d; {
				if err := loop(chunk); err != nil {
					return err
				}
				own += chunk
				then := time.Since(began)
				if then-now < 100*time.Microsecond { // so seldom that looking costs nothing
					chunk *= 2
				}
				now = then
			}
			made.Add(int64(own))
			return nil
		})
	}
	err = all.Wait()
	return made.Load(), float64(time.Since(began).Nanoseconds()) / float64(made.Load()), err
}
