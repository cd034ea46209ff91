package segment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/uid"
)

// steps open a shard.
var steps = []func(*shard, context.Context) error{(*shard).check, (*shard).create, (*shard).reserve, (*shard).open}

// start opens all stores at once. It fails if a store was not made for this generator,
// or if no store has ids. It opens the others when they have ids again. It looks into
// each store before it creates the first counter.
func (s *Striped) start(ctx context.Context) error {
	for _, step := range steps {
		var taking sync.WaitGroup
		for _, h := range s.shards {
			taking.Go(func() { h.do(ctx, step) })
		}
		taking.Wait()
		if err := s.refused(); err != nil {
			return err
		}
	}
	for _, h := range s.shards {
		if h.gen.Load() == nil {
			s.opening.Go(func() { h.reopen(s.ctx) })
		}
	}
	return nil
}

// refused returns why the stores cannot be used together, or why none of them has ids.
func (s *Striped) refused() error {
	var empty, wrong []error
	for _, h := range s.shards {
		switch err := h.failure(); {
		case isAny(err, uid.ErrUnavailable, ErrUsedUp, uid.ErrRewound, ErrUnusable) && !errors.Is(err, uid.ErrConfig):
			empty = append(empty, err)
		case err != nil:
			wrong = append(wrong, err)
		}
	}
	switch {
	case len(wrong) > 0: // what an operator has to mend first; the others may match uid.ErrUnavailable
		return errors.Join(wrong...)
	case len(empty) < len(s.shards):
		return nil
	}
	return errors.Join(empty...)
}

// do takes a step, unless the shard has failed before.
func (h *shard) do(ctx context.Context, step func(*shard, context.Context) error) {
	if h.failure() == nil {
		h.note(step(h, ctx))
	}
}

// note records why the shard has no generator, or nil.
func (h *shard) note(err error) {
	err = asLoadError(h.store, h.tag, err, 0)
	h.err.Store(&err)
}

func (h *shard) failure() error {
	if err := h.err.Load(); err != nil {
		return *err
	}
	return nil
}

// check looks for counters whose ids would repeat those of the shard.
func (h *shard) check(ctx context.Context) error {
	if _, can := h.store.(Lister); !can && h.config.Create {
		return invalid.Of("segment").Add("Create", true, fmt.Sprintf("false: %s cannot list its counters", h.store)).Err()
	}
	counters, err := listed(ctx, h.store, h.tag, h.config.LoadTimeout)
	if err != nil {
		return err
	}
	return h.checkAlone(counters, h.config.Create)
}

func (h *shard) create(ctx context.Context) error { return create(ctx, h.store, h.tag, 1, h.config) }

// reserve makes a counter of the plain tag that is spent, beside the shard's. Whoever makes
// that counter first, New or Striped, has the tag.
func (h *shard) reserve(ctx context.Context) error {
	if err := create(ctx, h.store, h.plain, spent, h.config); err != nil || !h.config.Create {
		return err
	}
	return h.check(ctx)
}

func (h *shard) open(ctx context.Context) error {
	gen, err := start(ctx, newLoader(h.store, h.tag, h.stripe, h.config), (*loader).next)
	if err == nil {
		gen.loader.logStart("Striped")
		h.gen.Store(gen)
	}
	return err
}

func (h *shard) reopen(ctx context.Context) {
	for h.gen.Load() == nil {
		wait := time.Second + rand.N(time.Second)
		if !errors.Is(h.failure(), uid.ErrUnavailable) { // the store has answered
			wait = keepError
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return
		}
		var err error
		for _, step := range steps {
			if err == nil {
				err = step(h, ctx)
			}
		}
		h.note(err)
	}
}
