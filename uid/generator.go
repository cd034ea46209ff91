package uid

import (
	"context"
	"iter"
)

// Generator makes ids. [Cached], [Default], [Slots], segment.Counter,
// segment.Striped and uidclient.Client implement it. A Generator is safe for concurrent use, never
// issues 0, and never issues an id twice.
//
// Code that draws ids declares the one method that it calls, such as Next. Then every generator
// fits, and so does a type of one method in a test; package uidtest has generators for tests.
//
//	type Orders struct {
//		ids interface{ Next() (uid.ID, error) }
//	}
//
// Later versions may add methods. A type of your own that implements all of Generator embeds one,
// so that the type goes on compiling.
type Generator interface {
	// Next returns an id, or an error if none may be issued. Some generators wait
	// a short time first: see their Next.
	Next() (ID, error)

	// NextN fills ids and returns how many it filled. If it fills fewer than all, the
	// error is that of Next, and the filled ids are valid. For an empty slice NextN
	// returns 0, nil. It waits as Next does.
	NextN(ids []ID) (int, error)

	// Wait returns an id. Where Next would fail because no id is ready, Wait blocks
	// until an id is ready or ctx ends. Ids that are ready are returned even if ctx has ended.
	Wait(ctx context.Context) (ID, error)

	// WaitN is NextN, but waits as Wait does.
	WaitN(ctx context.Context, ids []ID) (int, error)

	// Claim returns 1 to limit consecutive ids, and waits for the first as Wait does.
	Claim(ctx context.Context, limit int64) (Run, error)

	// TryClaim returns 1 to limit consecutive ids that are ready, and never waits. The
	// error is [ErrNotReady] where Claim would wait, which is no failed call, and otherwise
	// that of Claim.
	TryClaim(limit int64) (Run, error)

	// All returns ids without end, for a range loop, and waits as Wait does. The error that
	// ends the loop comes with id 0.
	//
	//	for id, err := range gen.All(ctx) {
	//
	// Each loop claims several ids at once: 1, 2, 4, … up to 1,024, but no more than the body
	// has used in a millisecond. Ids ascend within one loop where they ascend within the
	// generator; there is no order between loops. If a loop breaks, its claimed ids are lost.
	// Otherwise it yields them all, even if ctx ends, the generator is closed, or the ids grow
	// older than MaxAge.
	All(ctx context.Context) iter.Seq2[ID, error]

	// Stats returns the counts and the state. [Stats.Failing] is a health check.
	Stats() Stats

	// Close ends every wait, and gives back the worker number or the ids that the
	// generator holds. Later calls return [ErrClosed].
	Close() error

	// Shutdown is Close with the deadline of ctx.
	Shutdown(ctx context.Context) error
}

var (
	_ Generator = (*Cached)(nil)
	_ Generator = (*Default)(nil)
	_ Generator = (*Slots)(nil)
)

// Run is N consecutive ids: First, First+1 and so on. The zero Run has none.
type Run struct {
	First ID
	N     int64
}
