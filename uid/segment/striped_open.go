package segment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/uidring/uidring/internal/invalid"
)

// start opens all stores at once. It fails if a store was not made for this generator,
// or if no store has ids. It opens the others when they have ids again. It looks into
// each store before it creates the first counter.
func (s *Striped) start(ctx context.Context, tag string, config Config) error {
	s.each(func(h *shard) error { return h.check(ctx, tag, config) })
	if err := s.refused(); err != nil {
		return err
	}
	if config.Create {
		s.each(func(h *shard) error { return create(ctx, h.store, h.tag, 1, config) })
		for _, h := range s.shards { // one after the other, since stores may have a table in common
			h.do(func(h *shard) error { return h.reserve(ctx, tag, config) })
		}
	}
	s.each(func(h *shard) error { return h.open(ctx, config) })
	if err := s.refused(); err != nil {
		return err
	}
	for _, h := range s.shards {
		if h.gen.Load() == nil {
			s.opening.Go(func() { s.reopen(h, tag, config) })
		}
	}
	return nil
}

// each calls f for all stores at once, except for those that have failed.
func (s *Striped) each(f func(h *shard) error) {
	var calls sync.WaitGroup
	for _, h := range s.shards {
		calls.Go(func() { h.do(f) })
	}
	calls.Wait()
}

// do calls f and records why the shard has no generator, unless it has failed before.
func (h *shard) do(f func(h *shard) error) {
	if h.failure() == nil {
		h.note(f(h))
	}
}

// note records why the shard has no generator, or nil.
func (h *shard) note(err error) {
	err = unanswered(h.store, h.tag, err, 0)
	h.err.Store(&err)
}

// refused returns why the stores cannot be used together, or why none of them has ids.
func (s *Striped) refused() error {
	var empty, wrong []error
	for _, h := range s.shards {
		switch err := h.failure(); {
		case isAny(err, ErrUnavailable, ErrUsedUp, ErrRewound, ErrUnusable) && !errors.Is(err, ErrStripe):
			empty = append(empty, err)
		case err != nil:
			wrong = append(wrong, err)
		}
	}
	if len(wrong) == 0 && len(empty) < len(s.shards) {
		return nil
	}
	return errors.Join(append(wrong, empty...)...)
}

// check looks for counters whose ids would repeat those of the shard.
func (h *shard) check(ctx context.Context, tag string, config Config) error {
	if _, can := h.store.(Lister); !can && config.Create {
		return invalid.Of("segment", ErrConfig).Add("Create", true, fmt.Sprintf("false: %s cannot list its counters", h.store)).Err()
	}
	counters, err := listed(ctx, h.store, h.tag, config.LoadTimeout)
	if err != nil {
		return err
	}
	return h.alone(counters, tag, config.Create)
}

// reserve makes a counter of tag that is spent, beside the shard's. Whoever makes that
// counter first, New or Stripe, has the tag.
func (h *shard) reserve(ctx context.Context, tag string, config Config) error {
	if err := create(ctx, h.store, tag, spent, config); err != nil {
		return err
	}
	return h.check(ctx, tag, config)
}

// open makes the generator of a shard that was checked.
func (h *shard) open(ctx context.Context, config Config) error {
	gen, err := start(ctx, newLoader(h.store, h.tag, h.stripe, config), (*loader).next)
	if err == nil {
		gen.loader.started("Striped")
		h.gen.Store(gen)
	}
	return err
}

func (h *shard) failure() error {
	if err := h.err.Load(); err != nil {
		return *err
	}
	return nil
}

// reopen opens a store that had no ids at the start.
func (s *Striped) reopen(h *shard, tag string, config Config) {
	for h.gen.Load() == nil {
		wait := time.Second + rand.N(time.Second)
		if !errors.Is(h.failure(), ErrUnavailable) { // the store has answered
			wait = again
		}
		select {
		case <-time.After(wait):
			err := h.check(s.ctx, tag, config)
			if err == nil && config.Create {
				err = create(s.ctx, h.store, h.tag, 1, config)
			}
			if err == nil && config.Create {
				err = h.reserve(s.ctx, tag, config)
			}
			if err == nil {
				err = h.open(s.ctx, config)
			}
			h.note(err)
		case <-s.ctx.Done():
			return
		}
	}
}
