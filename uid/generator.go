package uid

import (
	"context"
	"iter"

	"github.com/uidring/uidring/internal/deal"
)

// Generator makes ids. [Cached], [Default], [Slots], segment.Counter,
// segment.Striped and uidclient.Client implement it. A Generator is safe for concurrent use, never
// issues 0, and never issues an id twice.
//
// Code that draws ids should declare only the method that it calls, such as Next. It then accepts
// every generator and, in a test, any type with that one method. Package uidtest has generators
// for tests.
//
//	type Orders struct {
//		ids interface{ Next() (uid.ID, error) }
//	}
//
// Later versions may add methods. If your type implements all of Generator, embed a Generator so
// that the type keeps compiling.
type Generator interface {
	// Next returns an id, or an error if none may be issued. Some generators wait a short time
	// first: see their Next methods.
	Next() (ID, error)

	// NextN fills ids and returns how many it filled. If it fills only some of them, it returns the
	// error that Next would return, and the filled ids are valid. For an empty slice, NextN returns
	// 0, nil. It waits as Next does.
	NextN(ids []ID) (int, error)

	// Wait returns an id. Where Next would fail because no id is ready, Wait blocks until one is or
	// ctx is done; the error then wraps ctx.Err. If ids are ready, Wait returns one even if ctx is
	// already done.
	Wait(ctx context.Context) (ID, error)

	// WaitN is like NextN, but waits as Wait does.
	WaitN(ctx context.Context, ids []ID) (int, error)

	// Claim returns between 1 and limit consecutive ids, and waits for the first id as Wait does.
	// If limit is less than 1, the error matches ErrConfig.
	Claim(ctx context.Context, limit int64) (Run, error)

	// TryClaim returns between 1 and limit consecutive ids that are ready, and never waits. Where
	// Claim would wait, TryClaim returns [ErrNotReady], which does not count as a failed call.
	// Otherwise, it returns the same errors as Claim.
	TryClaim(limit int64) (Run, error)

	// All returns an endless sequence of ids for a range loop. The loop waits as Wait does, but
	// once ctx is done, it ends with an error before its next batch. If an error ends the loop, the
	// id yielded with it is 0.
	//
	//	for id, err := range gen.All(ctx) {
	//
	// Each loop claims ids in batches that double from 1 to 1,024 while the body uses up a batch
	// within a millisecond, and halve otherwise. Ids ascend within one loop if the generator's ids
	// ascend; ids of different loops are unordered. If you break out of a loop, the ids that it has
	// claimed but not yielded are lost. Otherwise, the loop yields them all, even if ctx is done,
	// the generator is closed, or the ids grow older than MaxAge.
	All(ctx context.Context) iter.Seq2[ID, error]

	// Stats returns the generator's counts and state. Use [Stats.Failing] as a health check.
	Stats() Stats

	// Close unblocks every waiting call, and releases the worker number or the ids that the
	// generator holds. Later calls for ids return [ErrClosed].
	Close() error

	// Shutdown is like Close, but bounded by ctx.
	Shutdown(ctx context.Context) error
}

// claimer has the methods of a [Generator] that follow from how it claims ids. godoc shows them as those of the types
// that embed it.
type claimer struct{ claims deal.Claims[ID, Run] }

// NextN is Next for many ids: see [Generator].
func (g *claimer) NextN(ids []ID) (int, error) { return g.claims.NextN(ids) }

// Wait is like Next, but blocks until an id is ready or ctx is done: see [Generator].
func (g *claimer) Wait(ctx context.Context) (ID, error) { return g.claims.Wait(ctx) }

// WaitN is like NextN, but waits as Wait does.
func (g *claimer) WaitN(ctx context.Context, ids []ID) (int, error) { return g.claims.WaitN(ctx, ids) }

// Claim returns up to limit consecutive ids: see [Generator].
func (g *claimer) Claim(ctx context.Context, limit int64) (Run, error) {
	return g.claims.Claim(ctx, limit)
}

// TryClaim returns up to limit consecutive ids that are ready: see [Generator].
func (g *claimer) TryClaim(limit int64) (Run, error) { return g.claims.TryClaim(limit) }

// All returns an endless sequence of ids for a range loop: see [Generator].
func (g *claimer) All(ctx context.Context) iter.Seq2[ID, error] { return g.claims.All(ctx) }

var (
	_ Generator = (*Cached)(nil)
	_ Generator = (*Default)(nil)
	_ Generator = (*Slots)(nil)
)

// Run is N consecutive ids: First, First+1 and so on. The zero Run is empty.
type Run struct {
	First ID
	N     int64
}
