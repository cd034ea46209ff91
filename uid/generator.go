package uid

import (
	"context"
	"fmt"
	"iter"
	"time"
)

// Generator makes ids. [Cached], [Default], [Slots], segment.Generator and
// uidclient.Client implement it. A Generator is safe for concurrent use, never
// issues 0, and never issues an id twice.
type Generator interface {
	// Next returns an id, or an error if none may be issued. Some generators wait
	// a short time first: see their Next.
	Next() (ID, error)

	// NextN fills ids and returns how many it filled. If it fills fewer than all, the
	// error is that of Next, and the filled ids are valid. For an empty slice NextN
	// returns 0, nil. It waits as Next does.
	NextN(ids []ID) (int, error)

	// Wait returns an id. Where Next would fail because no id is ready, Wait blocks
	// until an id is ready or ctx ends.
	Wait(ctx context.Context) (ID, error)

	// WaitN is NextN, but waits as Wait does.
	WaitN(ctx context.Context, ids []ID) (int, error)

	// Claim returns 1 to limit consecutive ids, as soon as one is ready. It waits as
	// Wait does.
	Claim(ctx context.Context, limit int64) (Run, error)

	// All returns ids for a range loop, and waits as Wait does. The error that
	// ends the loop comes with id 0.
	All(ctx context.Context) iter.Seq2[ID, error]

	// Close ends every wait, and gives back the worker number or the ids that the
	// generator holds. Later calls return [ErrClosed].
	Close() error

	// Shutdown is Close with the deadline of ctx.
	Shutdown(ctx context.Context) error
}

var (
	_ Generator = (*Cached)(nil)
	_ Generator = (*Default)(nil)
	_ Generator = (*Dealer)(nil)
	_ Generator = (*Slots)(nil)
)

// Run is N consecutive ids: First, First+1 and so on.
type Run struct {
	First ID
	N     int64
}

// Claims has the methods of a [Generator] that follow from its runs: Claim, NextN, Wait,
// WaitN and All. A generator that deals no ring embeds a Claims, and adds Next, Close and
// Shutdown. Make one with [NewClaims].
type Claims struct{ claims }

// NewClaims returns the methods that follow from claim, which returns 1 to limit
// consecutive ids. limit is 1 or more. If no id is ready and wait is set, claim blocks
// until one is or ctx ends; otherwise it does what Next does. Any number of goroutines may
// call it.
func NewClaims(claim func(ctx context.Context, limit int64, wait bool) (Run, error)) Claims {
	return Claims{claim}
}

type claims func(ctx context.Context, limit int64, wait bool) (Run, error)

// Claim returns 1 to limit consecutive ids, as soon as one is ready, until ctx ends. Ids
// that are ready are returned even if ctx has ended. So with a context that has ended,
// Claim returns what is ready, and never waits. An error then counts as no failed call.
func (c claims) Claim(ctx context.Context, limit int64) (Run, error) {
	if limit < 1 {
		return Run{}, fmt.Errorf("%w: Claim: limit is %d, want 1 or more", ErrConfig, limit)
	}
	return c(ctx, limit, true)
}

// NextN is Next for many ids, as [Generator] says. It claims as many consecutive ids at
// once as there are, so most of the cost of an id is writing it.
func (c claims) NextN(ids []ID) (int, error) { return c.fill(context.Background(), ids, false) }

// Wait is Next, but blocks until ctx ends where Next would fail because no id is ready.
// An id that is ready is returned even if ctx has ended.
func (c claims) Wait(ctx context.Context) (ID, error) {
	run, err := c(ctx, 1, true)
	return run.First, err
}

// WaitN is NextN, but waits as Wait does.
func (c claims) WaitN(ctx context.Context, ids []ID) (int, error) { return c.fill(ctx, ids, true) }

func (c claims) fill(ctx context.Context, ids []ID, wait bool) (int, error) {
	n := 0
	for n < len(ids) {
		run, err := c(ctx, int64(len(ids)-n), wait)
		if err != nil {
			return n, err
		}
		fill(ids[n:n+int(run.N)], run.First)
		n += int(run.N)
	}
	return n, nil
}

// fill writes consecutive ids. Sixteen at a time, it runs at the speed of the stores.
func fill(ids []ID, first ID) {
	for ; len(ids) >= 16; first, ids = first+16, ids[16:] {
		to := (*[16]ID)(ids)
		to[0], to[1], to[2], to[3] = first, first+1, first+2, first+3
		to[4], to[5], to[6], to[7] = first+4, first+5, first+6, first+7
		to[8], to[9], to[10], to[11] = first+8, first+9, first+10, first+11
		to[12], to[13], to[14], to[15] = first+12, first+13, first+14, first+15
	}
	for i := range ids {
		ids[i] = first + ID(i)
	}
}

const (
	mostAhead = 1024             // ids that a loop claims at once, at most
	aheadFor  = time.Millisecond // for how long a loop's claim is meant to last
)

// All returns ids without end, for a range loop. It waits as Wait does; the error that
// ends the loop comes with id 0.
//
//	for id, err := range gen.All(ctx) {
//
// Each loop claims several ids at once: 1, 2, 4, … up to 1,024, but no more than the body
// has used in a millisecond. So loops on several cores do not slow each other down, and a
// loop that takes more than a millisecond per id claims one. Ids ascend within one loop
// where they ascend within the generator; there is no order between loops. If a loop
// breaks, its claimed ids are lost. Otherwise it yields them all, even if ctx ends, the
// generator is closed, or the ids grow older than MaxAge.
func (c claims) All(ctx context.Context) iter.Seq2[ID, error] {
	return func(yield func(ID, error) bool) {
		limit := int64(1)
		for {
			began := time.Now()
			if ctx.Err() != nil {
				yield(0, waitError(ctx))
				return
			}
			run, err := c(ctx, limit, true)
			if err != nil {
				yield(0, err)
				return
			}
			for id, end := run.First, run.First+ID(run.N); id < end; id++ {
				if !yield(id, nil) {
					return
				}
			}
			if time.Since(began) < aheadFor {
				limit = min(2*limit, mostAhead)
			} else {
				limit = max(limit/2, 1)
			}
		}
	}
}
