package lease

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/uidring/uidring/worker/lease/internal/protocol"
)

// start takes a number and starts the goroutine.
func (k *keeper) start(ctx context.Context) error {
	err := k.acquire(ctx)
	k.started = true
	if err != nil && !k.prepared {
		return err
	}
	if err != nil {
		// Give back what a write without an answer may have taken.
		cleanup, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = k.giveBack(cleanup, 0)
		return k.leaser.fail(ctx, "take a number from", err)
	}
	k.bound.most = max(k.bound.most, min(k.leaser.config.Expiry/2, k.leaser.config.Window/4))
	k.publish(nil)
	running, stop := context.WithCancel(context.Background())
	k.stop = stop
	go k.run(running)
	return nil
}

// acquire takes a number. It retries for acquireFor when requests collide or
// have no answer in time, and returns every other error.
func (k *keeper) acquire(ctx context.Context) error {
	return k.retry(ctx, acquireFor, transient, func() error {
		if err := k.prepare(ctx); err != nil {
			return err
		}
		return k.round(ctx)
	})
}

// retry calls f until it succeeds, again(err) is false, ctx ends, or limit has passed; 0
// is no limit. It returns the error of the last call.
func (k *keeper) retry(ctx context.Context, limit time.Duration, again func(error) bool, f func() error) (last error) {
	_, _ = backoff.Retry(ctx, func() (struct{}, error) {
		if last = f(); again(last) {
			return struct{}{}, last
		}
		return struct{}{}, nil // no further call
	}, backoff.WithBackOff(k.retries()), backoff.WithMaxElapsedTime(limit))
	return last
}

// prepare makes the store ready, and compares the layouts, once.
func (k *keeper) prepare(ctx context.Context) (err error) {
	if k.prepared {
		return nil
	}
	doing := "prepare"
	if p, ok := k.leaser.store.(Preparer); ok {
		_, err = within(ctx, &k.bound, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, p.Prepare(ctx, k.leaser.log())
		})
	}
	if err == nil {
		doing = "compare the layout with that of"
		_, err = within(ctx, &k.bound, func(ctx context.Context) (struct{}, error) {
			return struct{}{}, k.request.Agree(ctx, k.leaser.store.SwapLayout)
		})
	}
	k.prepared = err == nil
	if err == nil || strings.Contains(err.Error(), k.leaser.store.String()) {
		return err // complete by itself
	}
	return k.leaser.fail(ctx, doing, err)
}

// acquireFor is how long a start retries.
const acquireFor = 30 * time.Second

// transient reports whether to make a request again.
func transient(err error) bool { return isTransient(err) || errors.Is(err, protocol.ErrNotDone) }
