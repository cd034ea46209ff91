package uid

import (
	"context"

	"github.com/uidring/uidring/worker/lease"
)

// WorkerSource gives a generator its worker number, and grants the times that the generator may
// use with that number. A WorkerSource ensures that no two generators with the same layout use
// the same time with the same number. Uniqueness across a fleet depends on that alone.
//
// Package worker has sources that take numbers from a database. [lease.NewStatic] grants a number
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
