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
		if i := slices.IndexFunc(counters, func(c Counter) bool { return c.Tag == tag }); i >= 0 {
			found = true
			c := &counters[i]
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
			if _, err := h.raise(ctx, h.tag, next); err != nil {
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
		now, err := h.raise(ctx, h.plain, 0) // which only reads
		switch {
		case err != nil:
			return false, err
		case now == spent:
			return true, nil
		case now > above && now < spending:
			return false, nil
		}
		if _, _, err = h.store.Reserve(ctx, h.plain, spent-now); err == nil {
			_, err = h.raise(ctx, h.plain, spent) // a counter that a Return had lowered has ids left
			return true, err
		}
		if !errors.Is(err, ErrUsedUp) {
			return false, unanswered(h.store, h.plain, err, 0)
		}
	}
}

func (h *shard) raise(ctx context.Context, tag string, next int64) (int64, error) {
	now, err := h.store.(Raiser).Raise(ctx, tag, next)
	return now, unanswered(h.store, tag, err, 0)
}
