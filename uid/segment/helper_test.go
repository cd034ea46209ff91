package segment_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil)))
	goleak.VerifyTestMain(m)
}

// counter is a store in memory whose requests take their time or fail.
type counter struct {
	segmenttest.Memory
	takes       atomic.Int64 // nanoseconds of each request
	unavailable atomic.Bool  // requests fail
	deaf        atomic.Bool  // requests do not end with their context
	killed      atomic.Bool  // the process is dead: nothing is done
	requests    atomic.Int64
}

var errUnavailable = errors.New("connection refused")

func (c *counter) Reserve(ctx context.Context, tag string, n int64) (int64, int64, error) {
	c.requests.Add(1)
	if err := c.wait(ctx); err != nil {
		return 0, 0, err
	}
	if c.deaf.Load() {
		ctx = context.WithoutCancel(ctx)
	}
	return c.Memory.Reserve(ctx, tag, n)
}

func (c *counter) Return(ctx context.Context, tag string, first, next int64) (bool, error) {
	if err := c.wait(ctx); err != nil {
		return false, err
	}
	return c.Memory.Return(ctx, tag, first, next)
}

func (c *counter) wait(ctx context.Context) error {
	done := ctx.Done()
	if c.deaf.Load() {
		done = nil
	}
	if takes := time.Duration(c.takes.Load()); takes > 0 {
		select {
		case <-time.After(takes):
		case <-done:
			return ctx.Err()
		}
	}
	if c.unavailable.Load() || c.killed.Load() {
		return errUnavailable
	}
	return nil
}

// next returns the counter of "orders".
func (c *counter) next(t *testing.T) int64 {
	t.Helper()
	now, err := c.Raise(t.Context(), "orders", 0)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// open returns a generator on the tag "orders" of store, which it creates, until
// the test ends.
func open(t *testing.T, store segment.Store, config segment.Config) *segment.Generator {
	t.Helper()
	config.Create = true
	g, err := segment.New(t.Context(), store, "orders", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// take takes n ids, which follow first.
func take(t *testing.T, g uid.Generator, first uid.ID, n int) {
	t.Helper()
	ids := make([]uid.ID, n)
	if got, err := g.NextN(ids); got != n || err != nil {
		t.Fatalf("NextN() = %d, %v, want %d ids", got, err, n)
	}
	for i, id := range ids {
		if id != first+uid.ID(i) {
			t.Fatalf("id %d, want %d", id, first+uid.ID(i))
		}
	}
}
