// Package holding holds worker numbers in tests, and keeps all that was granted.
package holding

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/servertest"
	"github.com/uidring/uidring/worker/lease"
)

// Leaser is what leases numbers: a lease.Leaser, a lease.Permanent, a workerzk.LeafLeaser.
type Leaser interface {
	Lease(ctx context.Context, limit int64, clock func() time.Time, granted func(lease.Grant)) (lease.Lease, error)
}

// Holder is a number that is held, and all that was granted with it. It is safe for
// concurrent use.
type Holder struct {
	lease.Lease
	mu     sync.Mutex
	grants []lease.Grant
}

// Take leases a number from 0 to limit. Kill ends the holder with the test.
func Take(t testing.TB, from Leaser, limit int64) *Holder {
	t.Helper()
	h, err := Try(context.Background(), t, from, limit, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Try is Take where that may fail, with a context and a clock. A Holder that comes with
// an error has no number, only the history.
func Try(ctx context.Context, t testing.TB, from Leaser, limit int64, clock func() time.Time) (*Holder, error) {
	h := new(Holder)
	held, err := from.Lease(ctx, limit, clock, h.granted)
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

// Kill ends the holder as the end of its process does: the number is not given back.
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

// Await waits until something is granted that is so, and returns it. Earlier grants count.
func (h *Holder) Await(t testing.TB, what string, so func(lease.Grant) bool) (found lease.Grant) {
	t.Helper()
	seen := 0
	servertest.Eventually(t, what, func() bool {
		for _, g := range h.History()[seen:] {
			seen++
			if so(g) {
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

// Renew uses all that is reserved, and waits until more is.
func (h *Holder) Renew(t testing.TB) {
	t.Helper()
	until := h.Last().Until
	h.Use(until, until)
	servertest.Eventually(t, "more is reserved", func() bool { g := h.Last(); return g.Until.After(until) && g.Err == nil })
}
