package lease

import (
	"context"
	"time"
)

// Request is a generator's request to a Leaser or another source.
type Request struct {
	// Limit is the largest number that fits the layout.
	Limit int64

	// Clock is the clock that stamps ids. It may be called from any goroutine.
	Clock func() time.Time

	// Granted receives each Grant, from one goroutine at a time. It must not block or
	// call Release.
	Granted func(Grant)

	// Layout is the ids' layout as text, which a store remembers. A generator with another layout
	// fails to start ([LayoutError]), because ids with different layouts can collide. An empty
	// Layout accepts the store's, whatever it is; in a new store, it is remembered as "-".
	Layout string

	// Fresh asks for a number that has never been given out, so a Leaser does not look for a free
	// one. Each Grant is then Fresh. A Leaser with an Assigner rejects such a Request.
	Fresh bool
}

// Grant says which ids a generator may make: those with Number and a tick that begins at From or
// later and ends at Until or earlier. A Grant replaces the previous one; ids that were already made
// stay valid.
type Grant struct {
	Held   bool      // if false, no number is held: the generator makes no ids, and drops those in its ring
	Number int64     // the worker number
	From   time.Time // zero means from the beginning
	Until  time.Time // zero means no end
	Fresh  bool      // the number has never been given out before: nobody else makes ids with it before Until
	Err    error     // why the grant cannot be extended; nil while renewing works

	// Numbers are the numbers that ids of this layout have. After a change of the layout, an id whose
	// number is another is of an earlier layout. The zero Range means that they are not known.
	Numbers Range
}

// Lease is a worker number held by a generator.
type Lease interface {
	// Use tells the lease how much time the generator has used and can use. used is the end of the
	// latest tick that it has put, or is about to put, into ids; most is the end of the latest tick
	// that it can use at present. The lease reserves more time before used reaches the end of the
	// grant. Use does not block, and is safe for concurrent use.
	Use(used, most time.Time)

	// Release gives the number back. next is the end of the latest tick that the holder has put
	// into ids; the next holder starts there. Make no ids after calling Release. Repeated calls do
	// nothing.
	Release(ctx context.Context, next time.Time) error
}

// Assigner chooses a worker number from 0 to limit for a generator. As Config.Assigner, it may
// choose any number, even one that is in use, because the Leaser grants a number to one holder at a
// time. A source from [NewPermanent] grants the number to every caller, so its Assigner must ensure
// that no two generators with the same layout and number put the same time into ids. The simplest
// way is to give out each number only once.
type Assigner interface {
	Assign(ctx context.Context, limit int64) (number int64, err error)
}
