package lease

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A client that does not return when its context ends holds up later requests, so that no
// more than one is under way. Nobody waits for it longer than for an answer.
func TestOneRequestUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTimeout(time.Second, time.Minute)
		underWay, most, answer := 0, 0, make(chan struct{})
		ask := func() error {
			_, err := withTimeout(t.Context(), &b, func(context.Context) (int, error) {
				underWay++
				most = max(most, underWay)
				<-answer
				underWay--
				return 0, nil
			})
			return err
		}
		for _, wait := range []time.Duration{time.Second + grace, 2 * time.Second, 4 * time.Second} {
			begun := time.Now()
			if err := ask(); !errors.Is(err, context.DeadlineExceeded) || !transient(err) || time.Since(begun) != wait {
				t.Errorf("%v after %v, want no answer after %v", err, time.Since(begun), wait)
			}
		}
		close(answer)
		synctest.Wait()
		if err := ask(); err != nil || most != 1 {
			t.Errorf("%v, with %d requests at once; want 1", err, most)
		}
		ctx, cancel := context.WithCancel(t.Context())
		var given context.Context
		request := func(ctx context.Context) (int, error) { given = ctx; return 0, ctx.Err() }
		if _, err := withTimeout(ctx, &b, request); err != nil || given.Err() == nil {
			t.Errorf("%v; want that the context of a request ends with the request", err)
		}
		before := b.now
		cancel()
		if _, err := withTimeout(ctx, &b, request); !errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || transient(err) || b.now != before {
			t.Errorf("%v, and a bound of %v; want the end of the caller's context alone, and %v", err, b.now, before)
		}
	})
}
