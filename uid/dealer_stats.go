package uid

import (
	"time"

	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
)

// DealerStats are the counts and the state of a [Dealer].
type DealerStats struct {
	Ring     ringbuffer.Counts
	Executor padding.Stats
	Starved  int64         // calls that found the ring empty
	Rejected int64         // calls that failed
	Waited   time.Duration // sum of the waits of all calls
	Closed   bool          // no further ids are dealt
}

// Ring returns the dealer's ring. Next of the dealer is Take of the ring: a generator
// that changes dealers calls Take, and saves a call. Only the dealer may put runs,
// drop them or close the ring.
func (d *Dealer) Ring() *ringbuffer.Ring { return d.ring }

// Stats returns the dealer's counts and state. It never waits for the source.
func (d *Dealer) Stats() DealerStats {
	return DealerStats{
		Ring:     d.ring.Counts(),
		Executor: d.executor.Stats(),
		Starved:  d.starved.Load(),
		Rejected: d.rejected.Load(),
		Waited:   time.Duration(d.waited.Load()),
		Closed:   d.closed.Load(),
	}
}
