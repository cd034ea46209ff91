package segment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/internal/guard"
)

// grace is how long a call may go on after its time-out before it counts as hanging.
const grace = time.Second

// A call is one call of a store's method, in a goroutine of its own.
type call[T any] struct {
	began time.Time
	late  time.Time // from when on the call counts as hanging
	done  chan struct{}

	// Written before done is closed.
	answer T
	err    error
	took   time.Duration
}

// begin calls f with a context that ends after timeout.
func begin[T any](ctx context.Context, timeout time.Duration, method string, f func(context.Context) (T, error)) *call[T] {
	began := time.Now()
	c := &call[T]{began: began, late: began.Add(timeout + grace), done: make(chan struct{})}
	go func() {
		defer close(c.done)
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		c.err = guard.Call("segment", method, func() (err error) {
			c.answer, err = f(ctx)
			return err
		})
		if ended := ctx.Err(); c.err != nil && ended != nil && !errors.Is(c.err, ended) {
			c.err = fmt.Errorf("%w: %w", ended, c.err)
		}
		c.took = time.Since(began)
	}()
	return c
}

// finished reports whether the store has answered.
func (c *call[T]) finished() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}

// wait waits for the store's answer. It returns an error only if there is none.
func (c *call[T]) wait(ctx context.Context) error {
	if c.finished() {
		return nil
	}
	timer := time.NewTimer(time.Until(c.late))
	defer timer.Stop()
	select {
	case <-c.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return fmt.Errorf("it has not answered for %v: %w", time.Since(c.began).Round(time.Second), context.DeadlineExceeded)
	}
}
