// Package holdertest leases worker numbers in tests of stores, and records the grants.
package holdertest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

// Leaser leases numbers.
type Leaser interface {
	Lease(ctx context.Context, r lease.Request) (lease.Lease, error)
}

// Holder is a lease and the history of its grants. It is safe for concurrent use.
type Holder struct {
	lease.Lease
	mu     sync.Mutex
	grants []lease.Grant
}

// Take leases a number from 0 to limit. At the end of the test it kills the holder.
func Take(t testing.TB, from Leaser, limit int64) *Holder {
	t.Helper()
	h, err := Try(context.Background(), t, from, limit, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Layout is that of all holders: a store remembers it, as it does that of generators.
const Layout = "28/22/13,epoch=2026-01-01,unit=1s"

// Try is Take with a context and a clock, where the lease may fail. With an error, the
// Holder has no number, only the history. The context ends with the start, as most do.
func Try(ctx context.Context, t testing.TB, from Leaser, limit int64, clock func() time.Time) (*Holder, error) {
	h := new(Holder)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	held, err := from.Lease(ctx, lease.Request{Limit: limit, Clock: clock, Granted: h.granted, Layout: Layout})
	if err == nil {
		h.Lease = held
		t.Cleanup(h.Kill)
	}
	return h, err
}

func (h *Holder) granted(g lease.Grant) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.grants = append(h.grants, g)
}

// Kill ends the holder as a crash of its process does, without giving the number back.
func (h *Holder) Kill() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = h.Release(ended, time.Time{})
}

// History returns all grants, the first one first.
func (h *Holder) History() []lease.Grant {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.grants)
}

// Last returns the last grant, or the zero Grant if there is none.
func (h *Holder) Last() lease.Grant {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.grants) == 0 {
		return lease.Grant{}
	}
	return h.grants[len(h.grants)-1]
}

// Lost reports whether a number was lost with an error that matches target.
func (h *Holder) Lost(target error) bool {
	return slices.ContainsFunc(h.History(), func(g lease.Grant) bool { return !g.Held && errors.Is(g.Err, target) })
}

// Kept fails the test if the first number was ever lost.
func (h *Holder) Kept(t testing.TB) {
	t.Helper()
	history := h.History()
	for _, g := range history {
		if !g.Held || g.Number != history[0].Number {
			t.Errorf("granted %+v; want number %d all the time", g, history[0].Number)
		}
	}
}

// Await waits for a grant that matches, and returns it. Earlier grants count.
func (h *Holder) Await(t testing.TB, what string, matches func(lease.Grant) bool) (found lease.Grant) {
	t.Helper()
	seen := 0
	defer func() {
		if t.Failed() {
			t.Logf("the last grant is %+v", h.Last())
		}
	}()
	Eventually(t, what, func() bool {
		for _, g := range h.History()[seen:] {
			seen++
			if matches(g) {
				found = g
				return true
			}
		}
		return false
	})
	return found
}

// Loss waits until a number is lost, and returns why.
func (h *Holder) Loss(t testing.TB) error {
	t.Helper()
	return h.Await(t, "a number is lost", func(g lease.Grant) bool { return !g.Held }).Err
}

// Renew uses all reserved time, and waits until more is reserved.
func (h *Holder) Renew(t testing.TB) {
	t.Helper()
	until := h.Last().Until
	h.Use(until, until)
	Eventually(t, "more is reserved", func() bool { g := h.Last(); return g.Until.After(until) && g.Err == nil })
}

// Eventually waits until holds returns true, for two minutes.
func Eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("this did not come true: %s", what)
		}
	}
}
