package segment

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/uidring/uidring/internal/guard"
	"github.com/uidring/uidring/internal/invalid"
)

// spent is the value of a counter that has no id left.
const spent = math.MaxInt64

// listed returns the counters of store, or none if it cannot list them or has no table
// yet. It returns after timeout, whatever the store does.
func listed(ctx context.Context, store Store, tag string, timeout time.Duration) ([]Counter, error) {
	lister, can := store.(Lister)
	if !can {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	counters, err := guard.Await(ctx, "segment", "Store.List", func() ([]Counter, error) { return lister.List(ctx) })
	if errors.Is(err, ErrUnknownTag) {
		return nil, nil
	}
	return counters, unanswered(store, tag, err, 0)
}

// create makes a counter unless there is one.
func create(ctx context.Context, store Store, tag string, next int64, config Config) error {
	creator, can := store.(Creator)
	if !can {
		return invalid.Of("segment", ErrConfig).Add("Create", true, fmt.Sprintf("false: %s cannot create a counter", store)).Err()
	}
	if config.Step == 0 {
		config.Step = DefaultStep
	}
	ctx, cancel := context.WithTimeout(ctx, config.LoadTimeout)
	defer cancel()
	_, err := guard.Await(ctx, "segment", "Store.Create", func() (struct{}, error) {
		return struct{}{}, creator.Create(ctx, tag, next, config.Step)
	})
	if err != nil && !errors.Is(err, ErrTagExists) {
		return fmt.Errorf("segment: create %q in %s: %w", tag, store, err)
	}
	return nil
}

// unanswered returns err as it is if the store answered, and as a [*LoadError] otherwise.
func unanswered(store Store, tag string, err error, retry time.Duration) error {
	panicked := (*guard.PanicError)(nil)
	switch {
	case errors.As(err, &panicked):
		return fmt.Errorf("%w: %q in %s: %w", ErrUnusable, tag, store, err)
	case err == nil || isAny(err, ErrConfig, ErrTag, ErrStripe, ErrUnknownTag, ErrUsedUp, ErrRewound, ErrUnusable, ErrUnavailable):
		return err
	}
	return &LoadError{store.String(), tag, err, retry}
}

func isAny(err error, targets ...error) bool {
	return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
}
