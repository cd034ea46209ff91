package uid

import (
	"context"

	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
)

// dealer is the part of [Cached] that deals ids from a ring.
type dealer struct {
	claims
	dealt  deal.Dealt[ID, Run] // takes ids that are ready with fewer calls than claims
	engine *deal.Dealer
	ring   *ringbuffer.Ring // of engine
}

func (d *dealer) open(source padding.Source, config deal.Config) (err error) {
	if d.engine, err = deal.New(source, config); err == nil {
		d.claims, d.dealt, d.ring = newClaims(d.engine.Claim), deal.Of[ID, Run](d.engine), d.engine.Ring()
	}
	return err
}

// Next returns the next id, from memory. When the ring is empty, the policy
// RejectedTake decides. [Reject] fails at once. [Help] waits only for a reservation that
// is under way. [Wait] blocks until there is an id. After Close the error is [ErrClosed].
func (d *dealer) Next() (id ID, err error) {
	taken, err := d.ring.Take()
	return ID(taken), err
}

// Wait is Next, but blocks until ctx ends where Next would fail because no id is ready.
// An id that is ready is returned even if ctx has ended.
func (d *dealer) Wait(ctx context.Context) (id ID, err error) {
	taken := deal.Ready(deal.TakeOne, d.engine)
	if taken == 0 {
		taken, err = deal.Otherwise(deal.WaitOne, ctx, d.engine)
	}
	return ID(taken), err
}

// NextN is Next for many ids, as [Generator] says. It claims as many consecutive ids at
// once as there are, so most of the cost of an id is writing it.
func (d *dealer) NextN(ids []ID) (int, error) { return d.dealt.NextN(ids) }

// WaitN is NextN, but waits as Wait does.
func (d *dealer) WaitN(ctx context.Context, ids []ID) (int, error) { return d.dealt.WaitN(ctx, ids) }

// CloseTimeout is how long Close waits at most, for a source that blocks and
// for the release of a worker number: 5 seconds. Shutdown takes a context instead.
const CloseTimeout = deal.CloseTimeout

// Close is Shutdown with a deadline of [CloseTimeout].
func (d *dealer) Close() error { return d.engine.Close() }

// Shutdown ends every wait, stops the executor and drops the ids that were not dealt.
// It gives back a leased worker number. Afterwards calls return [ErrClosed]. Shutdown may
// be called more than once and from several goroutines: later calls wait for the first,
// whose ctx bounds it. The error says what could not be stopped or given back.
func (d *dealer) Shutdown(ctx context.Context) error { return d.engine.Shutdown(ctx) }
