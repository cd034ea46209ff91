package lease_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

var errUnavailable = errors.New("connection refused")

// hooked is a store in memory that records its calls, and does what a test wants.
type hooked struct {
	leasetest.Memory

	mu        sync.Mutex
	calls     []call
	before    func(ctx context.Context, c call) error          // may fail a call that then has no effect
	after     func(c call, done bool, err error) (bool, error) // changes the answer of a write
	view      func(view lease.View) lease.View                 // changes the answer of Look
	prepare   func(ctx context.Context, number int) error      // with the number of the call
	ready     int                                              // calls of Prepare
	unbounded bool                                             // one of them had no deadline
}

// call is one call of Look, Read, Insert or Swap.
type call struct {
	op string
	lease.Write
	at      time.Time
	bounded bool // its context has a deadline
}

func (c call) writes() bool { return c.op == "Insert" || c.op == "Swap" }

// change sets hooks while no call reads them.
func (h *hooked) change(f func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f()
}

func (h *hooked) fail(err error) {
	h.change(func() { h.before = func(context.Context, call) error { return err } })
}

// failOf makes calls of one method fail.
func (h *hooked) failOf(op string, err error) {
	h.change(func() {
		h.before = func(_ context.Context, c call) error {
			if c.op == op {
				return err
			}
			return nil
		}
	})
}

func (h *hooked) heal() { h.change(func() { h.before, h.after = nil, nil }) }

// prepared returns how often Prepare was called.
func (h *hooked) prepared() (n int) {
	h.change(func() { n = h.ready })
	return n
}

// since returns the calls from t on.
func (h *hooked) since(t time.Time) []call {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(h.calls), func(c call) bool { return c.at.Before(t) })
}

func (h *hooked) begin(ctx context.Context, op string, w lease.Write) (call, error) {
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
	h.change(func() { h.ready++; h.unbounded = h.unbounded || !bounded })
	if h.prepare != nil {
		return h.prepare(ctx, h.ready)
	}
	return nil
}

func (h *hooked) SwapLayout(ctx context.Context, old, layout string) (string, error) {
	if _, err := h.begin(ctx, "SwapLayout", lease.Write{}); err != nil {
		return "", err
	}
	return h.Memory.SwapLayout(ctx, old, layout)
}

func (h *hooked) Look(ctx context.Context, within lease.Bounds, expiry time.Duration) (lease.View, error) {
	if _, err := h.begin(ctx, "Look", lease.Write{Within: within}); err != nil {
		return lease.View{}, err
	}
	view, err := h.Memory.Look(ctx, within, expiry)
	if h.view != nil {
		view = h.view(view)
	}
	return view, err
}

func (h *hooked) Read(ctx context.Context, number int64, expiry time.Duration) (*lease.Row, int64, error) {
	if _, err := h.begin(ctx, "Read", lease.Write{Number: number}); err != nil {
		return nil, 0, err
	}
	return h.Memory.Read(ctx, number, expiry)
}

func (h *hooked) Insert(ctx context.Context, w lease.Write) (bool, error) {
	c, err := h.begin(ctx, "Insert", w)
	if err != nil {
		return false, err
	}
	done, err := h.Memory.Insert(ctx, w)
	return h.end(c, done, err)
}

func (h *hooked) Swap(ctx context.Context, old string, w lease.Write) (bool, error) {
	c, err := h.begin(ctx, "Swap", w)
	if err != nil {
		return false, err
	}
	done, err := h.Memory.Swap(ctx, old, w)
	return h.end(c, done, err)
}
