package segment

import (
	"context"
	"errors"
	"fmt"

	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// Generator makes ids from a counter. Make one with [New] and share it: all
// methods may be called from any number of goroutines. The zero value is not
// usable. All methods except Stats are those of [uid.Dealer].
//
// Next returns an id from memory. If the next range is still being loaded, Next
// waits for it. If the store is away and all loaded ids are used, Next fails with a
// [*LoadError], or waits if Config.RejectedTake is [uid.Wait].
//
// Order: within one Generator, a call that ends before another call begins returns
// smaller ids.
type Generator struct {
	*uid.Dealer
	loader *loader
}

var _ uid.Generator = (*Generator)(nil)

// New returns a generator of the ids of the counter tag in store, and loads its
// first range. ctx bounds the start only. End the generator with Close or
// Shutdown, which return unused ids to the store.
//
// Errors match [ErrConfig], [ErrTag], [ErrUnknownTag], [ErrUsedUp], [ErrRewound] or
// [ErrAway].
func New(ctx context.Context, store Store, tag string, config Config) (*Generator, error) {
	if err := errors.Join(CheckTag(tag), config.prepare()); err != nil {
		return nil, err
	}
	if store == nil {
		return nil, fmt.Errorf("%w: store is nil", ErrConfig)
	}
	if _, of := stripeOf(tag); of != tag {
		return nil, fmt.Errorf("%w: %q is a counter that Stripe has for %q", ErrTag, tag, of)
	}
	if config.Create {
		if err := create(ctx, store, tag, config.Step); err != nil {
			return nil, err
		}
	}
	return start(ctx, newLoader(store, tag, stripe{}, config), (*loader).next)
}

// start returns a generator of the runs that source cuts from the ranges of l.
func start(ctx context.Context, l *loader, source func(*loader, context.Context) (ringbuffer.Run, error)) (*Generator, error) {
	d, err := uid.NewDealer(func(ctx context.Context) (ringbuffer.Run, error) { return source(l, ctx) }, uid.DealerConfig{
		Runs:          runs,
		RunLen:        runLen,
		PaddingFactor: 99, // the ring signals whenever it begins to deal a run
		Padding:       padding.Config{Blocking: true, RejectedPut: l.uncut},
		RejectedTake:  l.config.RejectedTake,
		Ended:         l.ended.Load,
		Release:       l.release,
	})
	if err != nil {
		return nil, err
	}
	l.dealer = d
	if err := d.Start(ctx); err != nil {
		l.cancel()
		return nil, errors.Join(err, d.Close())
	}
	return &Generator{d, l}, nil
}

func create(ctx context.Context, store Store, tag string, step int64) error {
	creator, can := store.(Creator)
	if !can {
		return fmt.Errorf("%w: Create is true, and %s cannot create a counter", ErrConfig, store)
	}
	if step == 0 {
		step = DefaultStep
	}
	if err := creator.Create(ctx, tag, 1, step); err != nil && !errors.Is(err, ErrTagExists) {
		return fmt.Errorf("segment: create %q in %s: %w", tag, store, err)
	}
	return nil
}
