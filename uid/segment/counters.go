package segment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/uid"
)

const spent = math.MaxInt64

// listed returns the counters of store, or none if it cannot list them or has no table
// yet. It returns after timeout, whatever the store does.
func listed(ctx context.Context, store Store, tag string, timeout time.Duration) ([]CounterInfo, error) {
	lister, can := store.(Lister)
	if !can {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	counters, err := calls.Await(ctx, "segment", "Store.List", func() ([]CounterInfo, error) { return lister.List(ctx) })
	if errors.Is(err, ErrUnknownTag) {
		return nil, nil
	}
	return counters, asLoadError(store, tag, err, 0)
}

// create makes the counter of a tag if it is missing and config has Create.
func create(ctx context.Context, store Store, tag string, next int64, config Config) error {
	if !config.Create {
		return nil
	}
	creator, can := store.(Creator)
	if !can {
		return invalid.Of("segment").Add("Create", true, fmt.Sprintf("false: %s cannot create a counter", store)).Err()
	}
	ctx, cancel := context.WithTimeout(ctx, config.LoadTimeout)
	defer cancel()
	_, err := calls.Await(ctx, "segment", "Store.Create", func() (struct{}, error) {
		return struct{}{}, creator.Create(ctx, tag, next, cmp.Or(config.Step, DefaultStep))
	})
	if err != nil && !errors.Is(err, ErrTagExists) {
		return fmt.Errorf("segment: create %q in %s: %w", tag, store, err)
	}
	return nil
}

// asLoadError returns err as it is if the store answered, and as a [*LoadError] otherwise.
func asLoadError(store Store, tag string, err error, retry time.Duration) error {
	panicked := (*calls.PanicError)(nil)
	switch {
	case errors.As(err, &panicked):
		return fmt.Errorf("%w: %q in %s: %w", ErrUnusable, tag, store, err)
	case err == nil || isAny(err, uid.ErrConfig, ErrUnknownTag, ErrUsedUp, uid.ErrRewound, ErrUnusable, uid.ErrUnavailable):
		return err
	}
	return &LoadError{store.String(), tag, err, retry}
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}

// checkPlain returns an error for a tag that New and Tags cannot use.
func checkPlain(tag string) error {
	if _, of := stripeOf(tag); of != tag {
		return invalidTag(fmt.Sprintf("%q is a counter that Striped has for %q", tag, of))
	}
	return CheckTag(tag)
}

// countersOf returns the counter of each plain tag, which is one of Striped's if there is any.
func countersOf(counters []CounterInfo) map[string]string {
	found := map[string]string{}
	for _, c := range counters {
		if _, plain := stripeOf(c.Tag); found[plain] == "" || c.Tag != plain {
			found[plain] = c.Tag
		}
	}
	return found
}

func besideStripe(store Store, tag, striped string) error {
	return fmt.Errorf("segment: %w: ids would repeat: %s has %q for Striped, so New and Tags cannot use %q", uid.ErrConfig, store, striped, tag)
}

// checkAlone returns an error if counters has one whose ids would repeat those of the shard.
// With create, that is so too for ids that New made before the shard's counter exists.
func (h *shard) checkAlone(counters []CounterInfo, create bool) error {
	made, plain := false, false
	for _, c := range counters {
		switch _, of := stripeOf(c.Tag); {
		case c.Tag == h.tag:
			made = true
		case c.Tag == h.plain && c.Next != spent:
			return fmt.Errorf("segment: %w: ids would repeat: %s has %q for New or Tags, at %d; to use Striped, split the counter as package segment documents",
				uid.ErrConfig, h.store, h.plain, c.Next)
		case c.Tag == h.plain:
			plain = true
		case of == h.plain:
			return fmt.Errorf("segment: %w: ids would repeat: %s has %q, want %q", uid.ErrConfig, h.store, c.Tag, h.tag)
		}
	}
	if create && plain && !made {
		return fmt.Errorf("segment: %w: ids would repeat: %s has %q, which is spent, but lacks %q; create that counter above the highest id in use",
			uid.ErrConfig, h.store, h.plain, h.tag)
	}
	return nil
}
