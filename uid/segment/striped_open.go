package segment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/uidring/uidring/internal/guard"
)

// start opens all stores at once. It fails if a store was not made for this generator,
// or if no store has ids. It opens the others when they have ids again.
func (s *Striped) start(ctx context.Context, tag string, config Config) error {
	var opening sync.WaitGroup
	for _, h := range s.shards {
		opening.Go(func() { h.open(ctx, tag, config) })
	}
	opening.Wait()
	var empty, wrong []error
	for _, h := range s.shards {
		switch err := h.failure(); {
		case isAny(err, ErrAway, ErrUsedUp, ErrRewound) && !errors.Is(err, ErrStripe):
			empty = append(empty, err)
		case err != nil:
			wrong = append(wrong, err)
		}
	}
	if len(wrong) > 0 || len(empty) == len(s.shards) {
		return errors.Join(append(wrong, empty...)...)
	}
	for _, h := range s.shards {
		if h.gen.Load() == nil {
			s.opening.Go(func() { s.reopen(h, tag, config) })
		}
	}
	return nil
}

// open makes the generator of a shard, or records why it cannot.
func (h *shard) open(ctx context.Context, tag string, config Config) {
	err := guard.Call("store", func() error { return h.check(ctx, tag, config) })
	if err == nil && config.Create {
		err = create(ctx, h.store, h.tag, config.Step)
	}
	var gen *Generator
	if err == nil {
		gen, err = start(ctx, newLoader(h.store, h.tag, h.stripe, config), (*loader).next)
	}
	if err != nil && !isAny(err, ErrConfig, ErrStripe, ErrUnknownTag, ErrUsedUp, ErrRewound, ErrAway) {
		err = &LoadError{h.store.String(), h.tag, err, 0}
	}
	h.err.Store(&err)
	if err == nil {
		h.gen.Store(gen)
	}
}

// check looks for counters of the tag that belong to other stripes. Beside those, none
// is created.
func (h *shard) check(ctx context.Context, tag string, config Config) error {
	lister, can := h.store.(Lister)
	switch {
	case !can && config.Create:
		return fmt.Errorf("%w: Create is true, and %s cannot list its counters", ErrConfig, h.store)
	case !can:
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, config.LoadTimeout)
	defer cancel()
	counters, err := lister.List(ctx)
	if errors.Is(err, ErrUnknownTag) { // no table yet
		return nil
	}
	for _, c := range counters {
		if _, of := stripeOf(c.Tag); of == tag && c.Tag != h.tag && c.Tag != tag {
			return fmt.Errorf("%w: %s has %q, want %q", ErrStripe, h.store, c.Tag, h.tag)
		}
	}
	return err
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
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
		if !errors.Is(h.failure(), ErrAway) { // the store has answered
			wait = again
		}
		select {
		case <-time.After(wait):
			h.open(s.ctx, tag, config)
		case <-s.ctx.Done():
			return
		}
	}
}
