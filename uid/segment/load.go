package segment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/internal/guard"
	"github.com/uidring/uidring/internal/pace"
)

// A load is one request to the store, in a goroutine of its own.
type load struct {
	asked int64      // ids; 0 is the store's own step
	usage pace.Usage // when the load was sent
	done  chan struct{}

	// Written before done is closed.
	first, count int64
	err          error
	took         time.Duration
}

func startLoad(ctx context.Context, store Store, tag string, timeout time.Duration, asked int64, u pace.Usage) *load {
	l := &load{asked: asked, usage: u, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		l.err = guard.Call("segment", "Store.Reserve", func() (err error) {
			l.first, l.count, err = store.Reserve(ctx, tag, asked)
			return err
		})
		panicked := (*guard.PanicError)(nil)
		switch ended := ctx.Err(); {
		case l.err == nil:
			l.err = l.check(store, tag)
		case errors.As(l.err, &panicked):
			l.err = fmt.Errorf("%w: %q in %s: %w", ErrUnusable, tag, store, l.err)
		case ended != nil && !errors.Is(l.err, ended):
			l.err = fmt.Errorf("%w: %w", ended, l.err)
		}
		l.took = time.Since(u.Now)
	}()
	return l
}

// check returns an error for an answer that is no range.
func (l *load) check(store Store, tag string) error {
	if l.first < 0 || l.count < 1 || l.first+l.count < 0 {
		return fmt.Errorf("%w: %q in %s: Reserve returned %d ids from %d, want 1 or more from 0 or above",
			ErrUnusable, tag, store, l.count, l.first)
	}
	return nil
}

// finished reports whether the store has answered.
func (l *load) finished() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// grace is how long a load may go on after its time-out before it counts as hanging.
const grace = time.Second

// wait waits for the store's answer. It returns an error only if there is none.
func (l *load) wait(ctx context.Context, timeout time.Duration) error {
	timer := time.NewTimer(timeout + grace)
	defer timer.Stop()
	select {
	case <-l.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return fmt.Errorf("it has not answered for %v: %w", time.Since(l.usage.Now).Round(time.Second), context.DeadlineExceeded)
	}
}
