package uid

import (
	"context"
	"fmt"
)

// Assigner says which worker this generator is. It is asked once, when the
// generator is made. Whatever it is, it makes sure that no other generator with
// the same layout stamps ids under the same number: uniqueness across a fleet
// rests on that and on nothing else.
//
// Package worker has assigners that take numbers from a database; [StaticWorker]
// is a number that the caller knows to be free. An Assigner that is a [Leaser]
// too has its numbers leased. It answers to WorkerIdAssigner of uid-generator.
type Assigner interface {
	// Assign returns a worker number from 0 to limit, the greatest that the
	// layout can hold, or an error.
	Assign(ctx context.Context, limit int64) (number int64, err error)
}

// StaticWorker is the [Assigner] of a number that the caller has from elsewhere,
// such as a configuration file.
//
// It is a promise of the caller's that no other generator uses the number with
// the same layout, and that one which did before has stopped and issued no id
// stamped with the present tick or a later one. Breaking it repeats ids: a
// service that restarts within a second under the same number does, and so does
// one that had borrowed time ahead of the clock and restarts before the clock
// has caught up. Where restarts cannot be held to that, take numbers from package
// worker, or have this one leased: worker.WithNumber(uid.StaticWorker(7)).
func StaticWorker(number int64) Assigner { return static(number) }

type static int64

func (n static) Assign(context.Context, int64) (int64, error) { return int64(n), nil }

// assign asks the assigner and checks its answer.
func assign(ctx context.Context, assigner Assigner, limit int64) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("uid: assign worker: %w", err)
	}
	number, err := assigner.Assign(ctx, limit)
	if err != nil {
		return 0, fmt.Errorf("uid: assign worker: %w", err)
	}
	if number < 0 || number > limit {
		return 0, rangeError(number, limit)
	}
	return number, nil
}

func rangeError(number, limit int64) error {
	return fmt.Errorf("%w: worker number is %d, want 0 to %d, the greatest that the layout can hold", ErrWorkerRange, number, limit)
}
