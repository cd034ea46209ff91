package lease_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// A store remembers the layout of its first holder. A start with another layout takes no
// number, unless it names the remembered one; then the store remembers the new layout.
func TestLayout(t *testing.T) {
	store := new(leasetest.Memory)
	for _, start := range []struct {
		layout, succeeds string
		remembered       string // in the error; empty is no error
	}{
		{"A", "", ""},
		{"A", "B", ""},
		{"", "", ""}, // the caller accepts any
		{"B", "", "A"},
		{"B", "C", "A"},
		{"B", "A", ""},
		{"B", "A", ""},
		{"A", "", "B"},
		{"C", "A", "B"},
	} {
		rows, err := store.List(t.Context(), 0, time.Minute)
		need.Must(t, err)
		request := lease.Request{Limit: 1023, Clock: time.Now, Granted: func(lease.Grant) {}, Layout: start.layout, PreviousLayout: start.succeeds}
		held, err := lease.New(store, quiet).Lease(t.Context(), request)
		if start.remembered == "" {
			if err != nil {
				t.Fatalf("%+v: %v", start, err)
			}
			t.Cleanup(func() { _ = held.Release(context.Background(), time.Now()) })
			continue
		}
		var refused *lease.LayoutError
		if !errors.As(err, &refused) || !errors.Is(err, lease.ErrLayout) || *refused != (lease.LayoutError{Layout: start.layout, Remembered: start.remembered}) {
			t.Errorf("%+v: %v, want a LayoutError", start, err)
		}
		if after, err := store.List(t.Context(), 0, time.Minute); err != nil || len(after) != len(rows) {
			t.Errorf("%+v: %d rows and %v, want %d: a refused start takes no number", start, len(after), err, len(rows))
		}
	}
}

// A store that fails is asked once. It is given the context of the start.
func TestLayoutOfStoreThatFails(t *testing.T) {
	calls := 0
	err := lease.Request{Layout: "A"}.CheckLayout(t.Context(), leasestore.Terms{}, func(context.Context, string, leasestore.Terms) (string, error) { calls++; return "", errUnavailable })
	if !errors.Is(err, errUnavailable) || calls != 1 {
		t.Errorf("%v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = lease.Request{Layout: "B", PreviousLayout: "A"}.CheckLayout(ctx, leasestore.Terms{}, func(given context.Context, old string, _ leasestore.Terms) (string, error) {
		if old == "A" {
			cancel()
		}
		return "A", given.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want the end of the context", err)
	}
}
