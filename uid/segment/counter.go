package segment

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// Counter is a [uid.Generator] that draws the ids of one counter in a store. Counters in other
// processes may share the tag. Make one with [New] and share it: all methods are safe for
// concurrent use. The zero value is not usable.
//
// Order: within one Counter, a later call returns a larger id.
type Counter struct {
	claimer
	dealer *deal.Dealer
	ring   *ringbuffer.Ring // of dealer
	loader *loader
}

var _ uid.Generator = (*Counter)(nil)

// New returns a generator for tag's counter in store, and loads its first range. ctx bounds
// only this call. Stop the generator with Close or Shutdown, which return unused ids to the
// store. New fails if the store is a [Lister] and has counters that [Striped] uses for tag.
//
// Errors match [uid.ErrConfig], [ErrUnknownTag], [ErrUsedUp], [ErrUnusable], [uid.ErrRewound] or
// [uid.ErrUnavailable].
func New(ctx context.Context, store Store, tag string, config Config) (*Counter, error) {
	faults := config.prepare()
	if store == nil {
		faults.Add("store", "nil", "one such as segmentsql.NewLeafAlloc(db, segmentsql.Config{})")
	}
	if err := errors.Join(checkPlain(tag), faults.Err()); err != nil {
		return nil, err
	}
	counters, err := listed(ctx, store, tag, config.LoadTimeout)
	if err != nil {
		return nil, err
	}
	if found := countersOf(counters)[tag]; found != "" && found != tag {
		return nil, besideStripe(store, tag, found)
	}
	g, err := open(ctx, store, tag, config)
	if err == nil {
		g.loader.logStart("Counter")
	}
	return g, err
}

// open is New for a tag that no store has striped.
func open(ctx context.Context, store Store, tag string, config Config) (*Counter, error) {
	if err := create(ctx, store, tag, 1, config); err != nil {
		return nil, err
	}
	return start(ctx, newLoader(store, tag, whole, config), (*loader).next)
}

// start returns a generator of the runs that source cuts from the ranges of l.
func start(ctx context.Context, l *loader, source func(*loader, context.Context) (ringbuffer.Run, error)) (*Counter, error) {
	d, err := deal.New(func(ctx context.Context) (ringbuffer.Run, error) { return source(l, ctx) }, deal.Config{
		Runs:          runs,
		RunLen:        runLen,
		PaddingFactor: 99, // the ring signals whenever it begins to deal a run
		Padding:       padding.Config{Blocking: true, RejectedPut: l.uncut},
		Policy:        deal.PolicyOf("segment", l.config.RejectedTake, uid.PolicyHelp),
		Ended:         l.ended.Load,
		Release:       l.release,
	})
	if err != nil {
		return nil, err
	}
	l.dealer = d
	if err := d.Start(ctx, nil); err != nil {
		l.cancel()
		return nil, errors.Join(err, d.Close())
	}
	return &Counter{claimer{deal.ClaimsOf[uid.ID, uid.Run](d)}, d, d.Ring(), l}, nil
}

// Next returns an id from memory. If none is left, Config.RejectedTake decides: by default, Next
// waits for a load in flight, and fails with a [*LoadError] while the store is unavailable.
func (c *Counter) Next() (id uid.ID, err error) {
	taken, err := c.ring.Take()
	return uid.ID(taken), err
}

// next is Next, but waits at most until ctx is done.
func (c *Counter) next(ctx context.Context) (uid.ID, error) {
	if id, err := c.ring.TryTake(); err == nil {
		return uid.ID(id), nil
	}
	run, err := c.dealer.Claim(ctx, 1, deal.Next)
	return uid.ID(run.First), err
}

// claimer has the methods of a [uid.Generator] that follow from how it claims ids. godoc shows them as those of [Counter]
// and [Striped].
type claimer struct {
	claims deal.Claims[uid.ID, uid.Run]
}

// NextN is Next for many ids: see [uid.Generator].
func (c *claimer) NextN(ids []uid.ID) (int, error) { return c.claims.NextN(ids) }

// Wait is like Next, but blocks until an id is ready or ctx is done.
func (c *claimer) Wait(ctx context.Context) (uid.ID, error) { return c.claims.Wait(ctx) }

// WaitN is like NextN, but waits as Wait does.
func (c *claimer) WaitN(ctx context.Context, ids []uid.ID) (int, error) {
	return c.claims.WaitN(ctx, ids)
}

// Claim returns up to limit consecutive ids: see [uid.Generator].
func (c *claimer) Claim(ctx context.Context, limit int64) (uid.Run, error) {
	return c.claims.Claim(ctx, limit)
}

// TryClaim returns up to limit consecutive ids that are ready: see [uid.Generator].
func (c *claimer) TryClaim(limit int64) (uid.Run, error) { return c.claims.TryClaim(limit) }

// All returns an endless sequence of ids for a range loop: see [uid.Generator].
func (c *claimer) All(ctx context.Context) iter.Seq2[uid.ID, error] { return c.claims.All(ctx) }

// Close is [Counter.Shutdown] with a timeout of [uid.CloseTimeout].
func (c *Counter) Close() error { return c.dealer.Close() }

// Shutdown unblocks every waiting call and returns unused ids to the store. ctx bounds how long it
// waits for the store. Later calls for ids return [uid.ErrClosed].
func (c *Counter) Shutdown(ctx context.Context) error { return c.dealer.Shutdown(ctx) }

// Stats returns the Counter's counts and state. It never waits for the store.
func (c *Counter) Stats() uid.Stats {
	l := c.loader
	d, name := l.dealer.Stats(), l.store.String()
	l.mu.Lock()
	defer l.mu.Unlock()
	s := uid.Stats{
		Issued:        d.Taken,
		Starved:       d.Starved,
		RejectedTakes: d.Rejected,
		Waited:        d.Waited,
		Remaining:     d.Remaining + l.left(l.rest) + l.left(l.ready),
		Closed:        d.Closed,
		LastError:     l.refused,
	}
	s.Loads = &uid.LoadStats{
		From:     name,
		Tag:      l.tag,
		InUse:    l.last.run(),
		LastSize: l.pace.Size,
		Requests: l.loads,
		Failures: l.failures,
		LoadTime: l.took,
		Returned: l.returned,
	}
	if s.Closed {
		s.Remaining = 0
	} else if s.Remaining > l.left(l.last) {
		s.Loads.InUse, s.Loads.Next = l.before.run(), l.last.run()
	}
	if l.load != nil && !l.load.Done() {
		s.Loads.Loading = time.Since(l.load.began)
	}
	return s
}
