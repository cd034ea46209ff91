package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// timeout is how long one request may take. A request without an answer in time doubles
// the timeout, up to most; an answer within a quarter of it halves it. While a
// number is held, most is half of the expiry, at most a quarter of the window, and 10
// seconds or more: a request on a dead connection is given up by then.
type timeout struct {
	least, now, most time.Duration
	busy             chan struct{} // holds one element while a call of the store runs
}

// firstTimeout is how long the first request may wait at most.
const firstTimeout = 5 * time.Second

func newTimeout(interval, most time.Duration) timeout {
	least := min(max(interval, time.Second), firstTimeout)
	return timeout{least, least, most, make(chan struct{}, 1)}
}

// withTimeout makes a request. If the request has no answer in time and ctx has not ended,
// the error is transient and matches context.DeadlineExceeded.
func withTimeout[T any](ctx context.Context, t *timeout, request func(context.Context) (T, error)) (T, error) {
	bounded, cancel := context.WithTimeout(ctx, t.now)
	defer cancel()
	began := time.Now()
	answer, err := call(bounded, t.busy, request)
	switch {
	case err == nil:
		if time.Since(began) < t.now/4 {
			t.now = max(t.least, t.now/2)
		}
	case calls.EndOf(ctx) == nil && calls.EndOf(bounded) != nil:
		if !errors.Is(err, context.DeadlineExceeded) { // some clients have errors of their own
			err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
		}
		err = leasestore.Transient(fmt.Errorf("no answer within %v: %w", t.now, err))
		t.now = min(t.most, 2*t.now)
	}
	return answer, err
}

// grace is how long a client may take to return after its context has ended.
const grace = 100 * time.Millisecond

// call stops waiting for request a grace after ctx ends: some clients wait for an answer even
// then. The request goes on, as if its answer were lost, and the next call waits for its end.
func call[T any](ctx context.Context, busy chan struct{}, request func(context.Context) (T, error)) (answer T, err error) {
	select {
	case busy <- struct{}{}:
	case <-ctx.Done():
		return answer, ctx.Err()
	}
	p := calls.Go("lease", "store", func() (T, error) {
		defer func() { <-busy }()
		return request(ctx)
	})
	if p.Wait(ctx) != nil {
		late, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer cancel()
		if p.Wait(late) != nil {
			return answer, ctx.Err()
		}
	}
	return p.Value, p.Err
}
