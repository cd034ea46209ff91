package lease_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// A store remembers the layout of its first holder. A start with another layout takes no number.
func TestLayout(t *testing.T) {
	store := new(leasetest.Memory)
	for _, layout := range []string{"A", "", "B", "A"} { // the second caller accepts any
		rows, err := store.List(t.Context(), 0, time.Minute)
		need.Must(t, err)
		held, err := lease.New(store, quiet).Lease(t.Context(), lease.Request{Limit: 1023, Clock: time.Now, Granted: func(lease.Grant) {}, Layout: layout})
		if layout != "B" {
			need.Must(t, err)
			t.Cleanup(func() { _ = held.Release(context.Background(), time.Now()) })
			continue
		}
		refused, _ := errors.AsType[*lease.LayoutError](err)
		if !errors.Is(err, lease.ErrLayout) || refused == nil || *refused != (lease.LayoutError{Layout: "B", Remembered: "A"}) {
			t.Errorf("%v, want a LayoutError", err)
		}
		if after, err := store.List(t.Context(), 0, time.Minute); err != nil || len(after) != len(rows) {
			t.Errorf("%d rows and %v, want %d: a refused start takes no number", len(after), err, len(rows))
		}
	}
}

// A layout that changes while a number is taken stops the start, which gives the number back, and a holder that has lost its
// number takes no other under it.
func TestLayoutChangesMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		compared, store := 0, new(hooked)
		store.calling(only("SwapLayout", func(ctx context.Context, _ call) (err error) {
			if compared++; compared == 2 { // a number has been taken
				_, err = store.Memory.SwapLayout(ctx, holdertest.Layout, leasestore.Terms{Layout: "B"})
			}
			return err
		}))
		_, err := holdertest.Try(t.Context(), t, lease.New(store, quiet), 9, time.Now)
		need.Error(t, err, lease.ErrLayout)
		rows, err := store.List(t.Context(), 0, time.Minute)
		if err != nil || len(rows) != 1 || rows[0].State != leasestore.StateFree {
			t.Errorf("%+v, %v; want one free number", rows, err)
		}

		store = new(hooked)
		h := holdertest.Take(t, lease.New(store, quiet), 9)
		_, err = store.Memory.SwapLayout(t.Context(), holdertest.Layout, leasestore.Terms{Layout: "B"})
		need.Must(t, err)
		need.Must(t, lease.New(store, quiet).Revoke(t.Context(), 0))
		time.Sleep(5 * time.Minute)
		if g := h.Last(); g.Held || !errors.Is(g.Err, lease.ErrLayout) {
			t.Errorf("granted %+v, want ErrLayout", g)
		}
		if rows, err := store.List(t.Context(), 0, time.Minute); err != nil || len(rows) != 1 || rows[0].State != leasestore.StateFree {
			t.Errorf("%+v, %v; want no number taken", rows, err)
		}
		_, err = store.Memory.SwapLayout(t.Context(), "B", leasestore.Terms{Layout: holdertest.Layout})
		need.Must(t, err)
		time.Sleep(5 * time.Minute)
		if g := h.Last(); !g.Held || g.Err != nil {
			t.Errorf("granted %+v, want a number once the layout is back", g)
		}
	})
}

// forgetful is a store whose record of the layout is deleted once it was compared.
type forgetful struct {
	*leasetest.Memory
	compared int
	written  string // after that
}

func (f *forgetful) SwapLayout(ctx context.Context, old string, terms leasestore.Terms) (string, error) {
	if f.compared++; f.compared == 1 {
		return f.Memory.SwapLayout(ctx, old, terms)
	}
	if f.written == old {
		f.written = terms.Layout
	}
	return f.written, ctx.Err()
}

// A start that has taken a number waits for a record that is gone meanwhile, and writes none: another start may have
// the store remember another layout.
func TestRecordIsDeletedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		store := &forgetful{Memory: new(leasetest.Memory)}
		_, err := holdertest.Try(ctx, t, lease.New(store, quiet), 9, time.Now)
		if err == nil || !strings.Contains(err.Error(), "no longer remembers the layout") || store.written != "" {
			t.Errorf("%v, and the layout %q was written; want that the record is gone", err, store.written)
		}
	})
}

// late is a store whose first answer about the layout is older than the first holder's start.
type late struct {
	*leasetest.Memory
	start func()
}

func (l *late) SwapLayout(ctx context.Context, old string, terms leasestore.Terms) (string, error) {
	if start := l.start; start != nil && terms.Layout == "" {
		l.start = nil
		defer start()
	}
	return l.Memory.SwapLayout(ctx, old, terms)
}

// A Leaser says which layout its store remembers. Of rows without a layout, it looks again, since they can be of a start
// that has just recorded one.
func TestRememberedLayout(t *testing.T) {
	memory := new(leasetest.Memory)
	leaser := lease.New(&late{memory, func() { holdertest.Take(t, lease.New(memory, quiet), 9) }}, quiet)
	if layout, stored, err := leaser.Layout(t.Context()); layout != holdertest.Layout || !stored || err != nil {
		t.Errorf("%q, %t, %v; want that of the start meanwhile", layout, stored, err)
	}
	if layout, stored, err := lease.New(new(leasetest.Memory), quiet).Layout(t.Context()); layout != "" || stored || err != nil {
		t.Errorf("%q, %t, %v; want none in a new store", layout, stored, err)
	}
	_, _, err := leaser.Layout(canceled(t))
	need.Error(t, err, context.Canceled, "read the layout of memory")
	_, _, err = lease.New(nil, lease.Config{Expiry: -1}).Layout(t.Context())
	need.Error(t, err, lease.ErrConfig)
}

// renumbering is a store whose layout changes twice, and is the same again, after a holder has taken a number for the
// second time, and before it compares the layout.
type renumbering struct {
	*leasetest.Memory
	compared int
}

func (r *renumbering) SwapLayout(ctx context.Context, old string, terms leasestore.Terms) (string, error) {
	if r.compared++; r.compared == 4 {
		if _, err := r.Memory.SwapLayout(ctx, old, leasestore.Terms{Layout: old + ",numbers=5-9"}); err != nil {
			return "", err
		}
	}
	return r.Memory.SwapLayout(ctx, old, terms)
}

// A holder that runs does not keep a number that the layout has no more, and takes one that it has.
func TestNumberIsNoMoreOfLayout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &renumbering{Memory: new(leasetest.Memory)}
		h := holdertest.Take(t, lease.New(store, quiet), 9)
		need.Must(t, lease.New(store.Memory, quiet).Revoke(t.Context(), 0))
		time.Sleep(5 * time.Minute)
		if g := h.Last(); !g.Held || g.Err != nil || g.Number < 5 {
			t.Errorf("granted %+v, want a number from 5", g)
		}
	})
}
