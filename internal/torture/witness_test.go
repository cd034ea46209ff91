//go:build linux

package torture

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
)

// witness is a worker.Leaser whose grants are recorded as they are passed on, and
// which breaks the protocol if the child's order says so.
type witness struct {
	*worker.Leaser
	child   *child
	attempt int64
	number  atomic.Int64 // that was granted last; -1 is none so far
	changes atomic.Int64 // of it
}

var _ uid.Leaser = (*witness)(nil)

// The faults that can be seeded.
const (
	faultFloor   = "floor"   // a new holder does not start where the last one's time ends
	faultWindow  = "window"  // a holder stamps beyond the time that is reserved
	faultRelease = "release" // a number is given back with too little of its time
)

// Lease is that of the Leaser.
func (w *witness) Lease(ctx context.Context, limit int64, now func() time.Time,
	granted func(number int64, from, until time.Time, err error)) (uid.Lease, error) {
	lease, err := w.Leaser.Lease(ctx, limit, now, func(number int64, from, until time.Time, err error) {
		if errors.Is(err, worker.ErrRewound) { // nobody does that here
			w.child.out.say(recordFatal, err.Error())
		}
		w.child.out.say(recordGrant, "", w.attempt, number, millis(from), millis(until))
		if number >= 0 {
			if before := w.number.Swap(number); before >= 0 && before != number {
				w.changes.Add(1)
			}
			switch w.child.Fault {
			case faultFloor:
				from = time.Time{}
			case faultWindow:
				until = until.Add(time.Hour)
			}
		}
		granted(number, from, until, err)
	})
	if err == nil && w.child.Fault == faultRelease {
		lease = &hasty{lease}
	}
	return lease, err
}

// hasty is a lease that gives time back which was stamped.
type hasty struct{ uid.Lease }

func (h *hasty) Release(ctx context.Context, next time.Time) error {
	return h.Lease.Release(ctx, next.Add(-time.Hour))
}
