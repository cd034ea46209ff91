package lease_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

var (
	errUnavailable = errors.New("connection refused")
	errReset       = errors.New("connection reset")
)

// hooked is a store in memory that records its calls, and does what a test wants.
type hooked struct {
	leasetest.Memory
	clockless bool
	ahead     atomic.Int64                                // of the store's clock, in milliseconds
	prepare   func(ctx context.Context, number int) error // with the number of the call
	view      func(view leasestore.View) leasestore.View  // changes the answer of Look

	mu        sync.Mutex
	calls     []call
	before    func(ctx context.Context, c call) error          // may fail a call that then has no effect
	after     func(c call, done bool, err error) (bool, error) // changes the answer of a write
	ready     int                                              // calls of Prepare
	unbounded bool                                             // one of them had no deadline
}

// call is one call of SwapLayout, Look, Read, Insert or Swap.
type call struct {
	op string
	leasestore.Write
	at      time.Time
	bounded bool // its context has a deadline
}

func (c call) writes() bool { return c.op == "Insert" || c.op == "Swap" }

// calling sets what is done before each call from now on.
func (h *hooked) calling(before func(ctx context.Context, c call) error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.before = before
}

// answering sets what changes the answer of each write from now on.
func (h *hooked) answering(after func(c call, done bool, err error) (bool, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.after = after
}

func (h *hooked) heal() {
	h.calling(nil)
	h.answering(nil)
}

// failing makes calls fail, those of all methods unless some are named.
func failing(err error, ops ...string) func(context.Context, call) error {
	return func(_ context.Context, c call) error {
		if len(ops) == 0 || slices.Contains(ops, c.op) {
			return err
		}
		return nil
	}
}

// only has f done before the calls of one method.
func only(op string, f func(context.Context, call) error) func(context.Context, call) error {
	return func(ctx context.Context, c call) error {
		if c.op != op {
			return nil
		}
		return f(ctx, c)
	}
}

// hanging waits until a call is given up.
func hanging(ctx context.Context, _ call) error {
	<-ctx.Done()
	return ctx.Err()
}

// delaying makes each call take d.
func delaying(d time.Duration) func(context.Context, call) error {
	return func(ctx context.Context, _ call) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(d):
			return nil
		}
	}
}

// prepared returns how often Prepare was called.
func (h *hooked) prepared() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ready
}

// since returns the calls from t on.
func (h *hooked) since(t time.Time) []call {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.calls), func(c call) bool { return c.at.Before(t) })
}

func (h *hooked) begin(ctx context.Context, op string, w leasestore.Write) (call, error) {
	_, bounded := ctx.Deadline()
	c := call{op, w, time.Now(), bounded}
	h.mu.Lock()
	h.calls = append(h.calls, c)
	before := h.before
	h.mu.Unlock()
	if before != nil {
		return c, before(ctx, c)
	}
	return c, nil
}

func (h *hooked) end(c call, done bool, err error) (bool, error) {
	h.mu.Lock()
	after := h.after
	h.mu.Unlock()
	if after != nil {
		return after(c, done, err)
	}
	return done, err
}

func (h *hooked) Check() error { return nil }

func (h *hooked) Prepare(ctx context.Context, _ *slog.Logger) error {
	_, bounded := ctx.Deadline()
	h.mu.Lock()
	h.ready++
	h.unbounded = h.unbounded || !bounded
	number := h.ready
	h.mu.Unlock()
	if h.prepare != nil {
		return h.prepare(ctx, number)
	}
	return nil
}

func (h *hooked) SwapLayout(ctx context.Context, old string, terms leasestore.Terms) (string, error) {
	if _, err := h.begin(ctx, "SwapLayout", leasestore.Write{}); err != nil {
		return "", err
	}
	return h.Memory.SwapLayout(ctx, old, terms)
}

func (h *hooked) Look(ctx context.Context, within leasestore.Range, full bool, expiry time.Duration) (leasestore.View, error) {
	if _, err := h.begin(ctx, "Look", leasestore.Write{Within: within}); err != nil {
		return leasestore.View{}, err
	}
	view, err := h.Memory.Look(ctx, within, full, expiry)
	if h.clockless {
		view.Now = 0
	}
	if h.view != nil {
		view = h.view(view)
	}
	return view, err
}

func (h *hooked) Read(ctx context.Context, number int64, expiry time.Duration) (*leasestore.Row, int64, error) {
	if _, err := h.begin(ctx, "Read", leasestore.Write{Number: number}); err != nil {
		return nil, 0, err
	}
	row, now, err := h.Memory.Read(ctx, number, expiry)
	now += h.ahead.Load()
	if h.clockless {
		now = 0
	}
	return row, now, err
}

func (h *hooked) Insert(ctx context.Context, w leasestore.Write) (int64, bool, error) {
	c, err := h.begin(ctx, "Insert", w)
	if err != nil {
		return 0, false, err
	}
	number, done, err := h.Memory.Insert(ctx, w)
	done, err = h.end(c, done, err)
	return number, done, err
}

func (h *hooked) Swap(ctx context.Context, old string, w leasestore.Write) (bool, error) {
	c, err := h.begin(ctx, "Swap", w)
	if err != nil {
		return false, err
	}
	if w.Latest > 0 {
		w.Earliest, w.Latest = w.Earliest-h.ahead.Load(), w.Latest-h.ahead.Load()
	}
	done, err := h.Memory.Swap(ctx, old, w)
	return h.end(c, done, err)
}

var quiet = lease.Config{Logger: slog.New(slog.DiscardHandler)}

// hold leases a number of s from 0 to 9.
func hold(t *testing.T, s leasestore.Store, opts ...lease.Config) *holdertest.Holder {
	t.Helper()
	h, err := try(t, s, opts...)
	need.Must(t, err)
	return h
}

// try is hold for a lease that may fail.
func try(t *testing.T, s leasestore.Store, opts ...lease.Config) (*holdertest.Holder, error) {
	return holdertest.Try(t.Context(), t, lease.New(s, holdertest.Merge(append([]lease.Config{quiet}, opts...)...)), 9, time.Now)
}

// free frees a number of s under its holder.
func free(t *testing.T, s leasestore.Store, number int64) {
	t.Helper()
	need.Must(t, lease.New(s, quiet).Revoke(t.Context(), number))
}
