package lease_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// A change may stop between any two of its requests, or lose an answer. Starts wait meanwhile, and take no
// number; then it is made again, or taken back.
func TestChangeStopsHalfway(t *testing.T) {
	for _, to := range []bits.Layout{bits.Fleet(), bits.Registry()} { // holdertest.Layout is the latter
		for stop := range 20 {
			calls := 0
			synctest.Test(t, func(t *testing.T) {
				store := new(hooked)
				holdertest.Take(t, lease.New(store, quiet), 9)
				ctx, cancel := context.WithCancel(t.Context())
				store.calling(func(_ context.Context, c call) error {
					if calls++; calls > stop {
						cancel() // as a kill: nothing is cleaned up
						return errUnavailable
					}
					return nil
				})
				_, err := lease.New(store, quiet).ChangeLayout(ctx, bits.Fleet())
				store.calling(nil)
				remembered, _ := store.Memory.SwapLayout(t.Context(), "", leasestore.Terms{})
				if (err == nil) != strings.HasPrefix(remembered, bits.Fleet().String()) {
					t.Fatalf("stopped at %d: %v, and the store remembers %q", stop, err, remembered)
				}
				if strings.Contains(remembered, "changing=") {
					starting, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					_, err := holdertest.Try(starting, t, lease.New(store, quiet), 9, time.Now)
					if err == nil || starting.Err() == nil || !strings.Contains(err.Error(), "has begun") {
						t.Errorf("stopped at %d: a start returned %v; want that it waits", stop, err)
					}
				}
				again, err := lease.New(store, quiet).ChangeLayout(t.Context(), to)
				if err != nil {
					t.Fatalf("stopped at %d: the change again: %v", stop, err)
				}
				if layout, _, err := lease.New(store, quiet).Layout(t.Context()); layout != to.String() || err != nil {
					t.Errorf("stopped at %d: %q, %v after %+v; want %s", stop, layout, err, again, to)
				}
			})
			if calls <= stop {
				break // the change was not stopped
			}
		}
	}
}

// A change that fails takes its mark back.
func TestChangeFails(t *testing.T) {
	store := new(hooked)
	holdertest.Take(t, lease.New(store, quiet), 9)
	store.calling(only("Look", func(ctx context.Context, _ call) error {
		if remembered, _ := store.Memory.SwapLayout(ctx, "", leasestore.Terms{}); strings.Contains(remembered, "changing=") {
			return errUnavailable
		}
		return nil
	}))
	_, err := lease.New(store, quiet).ChangeLayout(t.Context(), bits.Fleet())
	if remembered, _ := store.Memory.SwapLayout(t.Context(), "", leasestore.Terms{}); !errors.Is(err, errUnavailable) || remembered != holdertest.Layout {
		t.Errorf("%v, and the store remembers %q; want the old layout", err, remembered)
	}
}

// A change that was stopped for long writes nothing once another has ended: numbers were given meanwhile.
func TestChangeIsOvertaken(t *testing.T) {
	store := new(hooked)
	leaser := lease.New(store, quiet)
	holdertest.Take(t, leaser, 99)
	marked := false
	store.calling(only("SwapLayout", func(ctx context.Context, c call) error {
		remembered, err := store.Memory.SwapLayout(ctx, "", leasestore.Terms{})
		if !marked && strings.Contains(remembered, "changing=") {
			marked = true // this is the change's last write, which another one overtakes
			_, err = lease.New(&store.Memory, quiet).ChangeLayout(ctx, bits.Registry())
			need.Must(t, err)
			holdertest.Take(t, lease.New(&store.Memory, quiet), 99)
			_, err = store.Memory.SwapLayout(ctx, holdertest.Layout, leasestore.Terms{Layout: holdertest.Layout + ",changing=another"})
		}
		return err
	}))
	_, err := leaser.ChangeLayout(t.Context(), bits.Fleet())
	if remembered, _ := store.Memory.SwapLayout(t.Context(), "", leasestore.Terms{}); err == nil || remembered != holdertest.Layout+",changing=another" {
		t.Errorf("%v, and the store remembers %q; want the other change's mark", err, remembered)
	}
}

// Configs name numbers: those that the new layout may not have are refused.
func TestNumbersOfTheNewLayout(t *testing.T) {
	store := new(leasetest.Memory)
	config := lease.Config{Numbers: &lease.Range{From: 0, To: 99}, Node: quiet.Node, Logger: quiet.Logger}
	need.Must(t, holdertest.Take(t, lease.New(store, config), 999).Release(t.Context(), time.Now())) // its number is free
	change, err := lease.New(store, config).ChangeLayout(t.Context(), bits.LongLived())
	if err != nil || change.Numbers.From != 16 { // fewer sequences, so greater numbers
		t.Fatalf("%+v, %v; want numbers from 16", change, err)
	}
	start := func(from, to int64) (number int64, err error) {
		config.Numbers = &lease.Range{From: from, To: to}
		held, err := lease.New(store, config).Lease(t.Context(), lease.Request{
			Limit: 1 << 20, Clock: time.Now, Granted: func(g lease.Grant) { number = g.Number }, Layout: bits.LongLived().String(),
		})
		if err == nil {
			t.Cleanup(func() { _ = held.Release(context.Background(), time.Now()) })
		}
		return number, err
	}
	if number, err := start(0, 99); number != 16 || err != nil {
		t.Errorf("%d, %v; want the first number that is safe", number, err)
	}
	_, err = start(0, 15)
	need.Error(t, err, lease.ErrLayout, "16 to ", "0 to 15")
}

// What cannot be read, or does not exist, is not changed.
func TestChangeOfNoLayout(t *testing.T) {
	store := new(leasetest.Memory)
	_, err := lease.New(store, quiet).ChangeLayout(t.Context(), bits.Fleet())
	need.Error(t, err, lease.ErrLayout)
	for _, remembered := range []string{"-", "A,numbers=1", "31/16/16,after=fleet", "something"} {
		store := new(leasetest.Memory)
		_, err := store.SwapLayout(t.Context(), "", leasestore.Terms{Layout: remembered})
		need.Must(t, err)
		if _, err = lease.New(store, quiet).ChangeLayout(t.Context(), bits.Fleet()); err == nil {
			t.Errorf("the layout of a store that remembers %q was changed", remembered)
		}
	}
}
