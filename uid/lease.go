package uid

import (
	"context"

	"github.com/uidring/uidring/worker/lease"
)

// WorkerSource gives a generator its worker number, and grants the times that the generator may
// use with that number. A WorkerSource ensures that no two generators with the same layout use
// the same time with the same number. Uniqueness across a fleet depends on that alone.
//
// Package worker has sources that take numbers from a database. [NewStaticWorker] grants a number
// that the caller knows to be free, and [lease.NewPermanent] turns any lease.Assigner into a
// WorkerSource.
type WorkerSource interface {
	// Lease takes a number that satisfies request, and holds it until Release is called on the
	// result. Lease calls request.Granted before it returns. The source calls Granted again
	// whenever the grant changes, from one goroutine at a time. ctx bounds only this call.
	//
	// If the WorkerSource has a String method, logs use it as the source's name. If it has a Layout
	// method as lease.Leaser has, a generator whose config states no layout gets its layout from it.
	Lease(ctx context.Context, request lease.Request) (lease.Lease, error)
}

// NewStaticWorker returns a [WorkerSource], which is also a [lease.Assigner], for a number from
// elsewhere, such as a configuration file.
//
// The caller promises that no other generator uses the number with the same layout, and that
// generators that used it earlier stamped ids only with ticks before the current one. Otherwise,
// ids repeat. A restart within the same tick breaks the promise, and so does a restart before the
// clock has caught up with borrowed time. If you cannot keep the promise, take numbers from package
// worker, or lease this number: worker.NewLeaser(db, lease.Config{Assigner:
// uid.NewStaticWorker(7)}).
func NewStaticWorker(number int64) *lease.Permanent { return lease.NewPermanent(static(number)) }

type static int64

func (static) String() string { return "static worker" }

func (n static) Assign(context.Context, int64) (int64, error) { return int64(n), nil }
