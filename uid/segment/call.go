package segment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/internal/calls"
)

// hangsAfter is how long a call may go on after its time-out before it counts as hanging.
const hangsAfter = time.Second

// A call is one call of a store's method, in a goroutine of its own.
type call[T any] struct {
	*calls.Pending[T]
	began time.Time
	late  time.Time     // from when on the call counts as hanging
	took  time.Duration // written before the call is done
}

func begin[T any](ctx context.Context, timeout time.Duration, method string, f func(context.Context) (T, error)) *call[T] {
	began := time.Now()
	c := &call[T]{began: began, late: began.Add(timeout + hangsAfter)}
	c.Pending = calls.Go("segment", method, func() (T, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		defer func() { c.took = time.Since(began) }()
		answer, err := f(ctx)
		if ended := ctx.Err(); err != nil && ended != nil && !errors.Is(err, ended) {
			err = fmt.Errorf("%w: %w", ended, err)
		}
		return answer, err
	})
	return c
}

// wait waits for the store's answer. It returns an error only if there is none.
func (c *call[T]) wait(ctx context.Context) error {
	hanging, cancel := context.WithDeadline(ctx, c.late)
	defer cancel()
	err := c.Wait(hanging)
	if err != nil && ctx.Err() == nil {
		return fmt.Errorf("no answer for %v: %w", time.Since(c.began).Round(time.Second), err)
	}
	return err
}
