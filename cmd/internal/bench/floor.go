package bench

import (
	"time"

	"github.com/uidring/uidring/internal/cacheline"
)

// Names of the floors.
const (
	Add    = "atomic add"
	Called = "atomic add behind a call"
	Now    = "time.Now()"
)

// Floors returns what an id costs at least: an atomic add, the same behind a
// call that is not inlined, and a reading of the clock.
func Floors() []Subject {
	return []Subject{
		{Add, func() (*Instance, error) {
			counter := new(cacheline.Int64)
			return &Instance{Loop: func(n int) (uint64, error) {
				return Repeat(n, func() (uint64, error) { return uint64(counter.Add(1)), nil })
			}}, nil
		}},
		{Called, func() (*Instance, error) {
			counter := new(cacheline.Int64)
			return &Instance{Loop: func(n int) (uint64, error) {
				return Repeat(n, func() (uint64, error) { return called(counter) })
			}}, nil
		}},
		{Now, func() (*Instance, error) {
			return &Instance{Loop: func(n int) (uint64, error) {
				return Repeat(n, func() (uint64, error) { return uint64(time.Now().Nanosecond()), nil })
			}}, nil
		}},
	}
}

// called has the results of Next, so that a call of it costs as much as a call of Next.
//
//go:noinline
func called(counter *cacheline.Int64) (uint64, error) { return uint64(counter.Add(1)), nil }

// Nothing returns a subject that makes no id, for the cost of the harness.
func Nothing() Subject {
	return Subject{"nothing", func() (*Instance, error) {
		return &Instance{Loop: func(n int) (uint64, error) { return uint64(n), nil }}, nil
	}}
}
