package segment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/uidring/uidring/internal/invalid"
)

// Split changes a tag from [New] or [Tags] to [Stripe]. Call Split once, with the stores
// and the config of Stripe, then start processes with Stripe. Each store has to be a
// [Creator], a [Raiser] and a [Lister].
//
// Split makes the counters of Stripe, above the counter that tag has in any of the
// stores. Then Split spends that counter for ever. Processes that use it may run
// meanwhile: their calls fail with [ErrUsedUp] once the ranges that they reserved are
// used. If Split fails, call it again.
//
// Errors match [ErrConfig], [ErrTag], [ErrUnknownTag], [ErrStripe] or [ErrUnavailable].
func Split(ctx context.Context, stores []Store, tag string, config StripeConfig) error {
	shards, err := shardsOf(stores, tag, &config)
	if err != nil {
		return err
	}
	for _, h := range shards {
		_, creates := h.store.(Creator)
		_, raises := h.store.(Raiser)
		if _, lists := h.store.(Lister); !creates || !raises || !lists {
			return invalid.Of("segment", ErrConfig).Add("stores", h.store, "a Creator, Raiser and Lister each").Err()
		}
	}
	for slack := int64(0); ; slack = 4*slack + 1000 {
		if done, err := split(ctx, shards, tag, slack); done || err != nil {
			return err
		}
	}
}

// spending is what no counter reaches unless a Split that failed has begun to spend it.
const spending = math.MaxInt64 / 2

// split makes the counters of Stripe above the highest counter of tag and slack more ids.
// Then it spends the counters of tag. It is not done if one of them passed the value
// where Stripe begins.
func split(ctx context.Context, shards []*shard, tag string, slack int64) (done bool, err error) {
	above, found := int64(0), false
	var open []*shard // whose counter of tag is not spent
	var missing error
	for _, h := range shards {
		counters, err := listed(ctx, h.store, tag, h.config.LoadTimeout)
		if err != nil {
			return false, err
		}
		if c := find(counters, tag); c != nil {
			found = true
			if c.Next != spent {
				open = append(open, h)
			}
			if c.Next < spending {
				above = max(above, c.Next+slack)
			}
			c.Next = spent
		}
		if err := h.alone(counters, false); err != nil {
			return false, err
		}
		missing = errors.Join(missing, h.alone(counters, true))
	}
	switch {
	case !found:
		return false, fmt.Errorf("%w: %q in %d stores", ErrUnknownTag, tag, len(shards))
	case above == 0 && missing != nil:
		return false, missing
	case above > 0:
		for _, h := range shards {
			next := NextFor(h.tag, above)
			if err := create(ctx, h.store, h.tag, next, h.config); err != nil {
				return false, err
			}
			if err := h.raise(ctx, h.tag, next); err != nil {
				return false, err
			}
		}
	}
	for _, h := range open {
		if done, err := h.spend(ctx, above); !done || err != nil {
			return false, err
		}
	}
	return true, nil
}

// spend spends the counter of the plain tag, unless the counter has passed above.
// It reserves all ids that are left, which fails if the counter has moved meanwhile.
func (h *shard) spend(ctx context.Context, above int64) (done bool, err error) {
	for {
		counters, err := listed(ctx, h.store, h.plain, h.config.LoadTimeout)
		if err != nil {
			return false, err
		}
		c := find(counters, h.plain)
		switch {
		case c == nil:
			return false, fmt.Errorf("%w: %q in %s", ErrUnknownTag, h.plain, h.store)
		case c.Next == spent:
			return true, nil
		case c.Next > above && c.Next < spending:
			return false, nil
		}
		_, _, err = h.store.Reserve(ctx, h.plain, spent-c.Next)
		if errors.Is(err, ErrUsedUp) {
			continue
		} else if err != nil {
			return false, unanswered(h.store, h.plain, err, 0)
		}
		return true, h.raise(ctx, h.plain, spent) // a counter that a Return had lowered has ids left
	}
}

func (h *shard) raise(ctx context.Context, tag string, next int64) error {
	_, err := h.store.(Raiser).Raise(ctx, tag, next)
	return unanswered(h.store, tag, err, 0)
}

// find returns the counter of tag, or nil.
func find(counters []Counter, tag string) *Counter {
	at := slices.IndexFunc(counters, func(c Counter) bool { return c.Tag == tag })
	if at < 0 {
		return nil
	}
	return &counters[at]
}
