package segment_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

var must = need.Must

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	goleak.VerifyTestMain(m)
}

// counter is a store in memory whose requests take their time or fail.
type counter struct {
	segmenttest.Memory
	takes       atomic.Int64          // nanoseconds of Reserve and of Return
	unavailable atomic.Bool           // both fail
	deaf        atomic.Bool           // both do not end with their context
	says        atomic.Pointer[error] // what Reserve answers, if it is set
	requests    atomic.Int64          // of Reserve
	lists       atomic.Int64
	all         bool // requests of every kind take their time or fail

	// around, if it is set, calls do for a request, or does something else.
	around func(ctx context.Context, method string, do func() error) error
}

var errUnavailable = errors.New("connection refused")

func (c *counter) Reserve(ctx context.Context, tag string, n int64) (first, count int64, err error) {
	c.requests.Add(1)
	err = c.request(ctx, "Reserve", func() (err error) {
		if says := c.says.Load(); says != nil {
			return *says
		}
		if c.deaf.Load() {
			ctx = context.WithoutCancel(ctx)
		}
		first, count, err = c.Memory.Reserve(ctx, tag, n)
		return err
	})
	return first, count, err
}

func (c *counter) Return(ctx context.Context, tag string, first, next int64) (done bool, err error) {
	err = c.request(ctx, "Return", func() (err error) { done, err = c.Memory.Return(ctx, tag, first, next); return err })
	return done, err
}

func (c *counter) Create(ctx context.Context, tag string, next, step int64) error {
	return c.request(ctx, "Create", func() error { return c.Memory.Create(ctx, tag, next, step) })
}

func (c *counter) List(ctx context.Context) (counters []segment.CounterInfo, err error) {
	c.lists.Add(1)
	err = c.request(ctx, "List", func() (err error) { counters, err = c.Memory.List(ctx); return err })
	return counters, err
}

func (c *counter) request(ctx context.Context, method string, do func() error) error {
	work := func() error {
		if c.all || method == "Reserve" || method == "Return" {
			if err := c.wait(ctx); err != nil {
				return err
			}
		}
		return do()
	}
	if c.around == nil {
		return work()
	}
	return c.around(ctx, method, work)
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
	if c.unavailable.Load() {
		return errUnavailable
	}
	return nil
}

// next returns the counter of "orders".
func (c *counter) next(t *testing.T) int64 {
	t.Helper()
	now, err := c.Memory.Raise(t.Context(), "orders", 0)
	must(t, err)
	return now
}

// plain is a store that does nothing but reserve.
type plain struct{ segment.Store }

// open returns a generator on the tag "orders" of store, which it creates, until
// the test ends.
func open(t *testing.T, store segment.Store, config segment.Config) *segment.Counter {
	t.Helper()
	config.Create = true
	g, err := segment.New(t.Context(), store, "orders", config)
	must(t, err)
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// wantErr wants an error that matches want and has the texts. It does not say that the store is unavailable, unless want does.
func wantErr(t *testing.T, err, want error, texts ...string) {
	t.Helper()
	need.Error(t, err, want, texts...)
	if want != uid.ErrUnavailable && errors.Is(err, uid.ErrUnavailable) {
		t.Errorf("%v; want that the store is not unavailable", err)
	}
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
