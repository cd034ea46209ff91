package lease_test

import (
	"context"
	"errors"
	"fmt"
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

type number struct {
	n   int64
	err error
}

func (n number) Assign(context.Context, int64) (int64, error) { return n.n, n.err }

// assigner is an Assigner in a function.
type assigner func(ctx context.Context, limit int64) (int64, error)

func (a assigner) Assign(ctx context.Context, limit int64) (int64, error) { return a(ctx, limit) }

// canceled returns a context that has ended.
func canceled(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestForever(t *testing.T) {
	h := holdertest.Take(t, lease.NewPermanent(number{n: 7}), 1023)
	if grants := h.History(); len(grants) != 1 || grants[0] != (lease.Grant{Held: true, Number: 7}) {
		t.Fatalf("granted %+v", grants)
	}
	h.Use(time.Now(), time.Now())
	if err := h.Release(t.Context(), time.Now()); err != nil {
		t.Error(err)
	}
	asked := assigner(func(ctx context.Context, limit int64) (int64, error) {
		return 0, fmt.Errorf("asked for %d: %w", limit, ctx.Err())
	})
	for want, none := range map[string]lease.Assigner{
		"connection refused":                       number{err: errUnavailable},
		"asked for 1023: context canceled":         asked,
		"lease: NewPermanent: the Assigner is nil": nil,
	} {
		if h, err := holdertest.Try(canceled(t), t, lease.NewPermanent(none), 1023, time.Now); fmt.Sprint(err) != want || len(h.History()) > 0 {
			t.Errorf("granted %+v, %v; want %s", h.History(), err, want)
		}
	}
}

// The number that an Assigner asks for lies within the range and the limit, both ends
// included. Nothing is written for any other.
func TestAssignedNumberOutOfRange(t *testing.T) {
	for n, refused := range map[int64]bool{-1: true, 2: true, 3: false, 5: false, 9: false, 10: true} {
		store := new(leasetest.Memory)
		_, err := try(t, store, lease.Config{Numbers: &lease.Range{From: 3, To: 20}, Assigner: number{n: n}})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), fmt.Sprintf("number is %d, want 3 to 9", n)) {
			t.Errorf("number %d: %v", n, err)
		}
		if rows, err := store.List(t.Context(), 0, time.Minute); len(rows) > 0 == refused || err != nil {
			t.Errorf("number %d: %+v, %v; want a row only for a number that may be given", n, rows, err)
		}
	}
}

// Each method reports all faults of the config, the store and the call at once.
func TestFaultsAtOnce(t *testing.T) {
	leaser := lease.New(nil, lease.Config{Window: time.Second, MaxSkew: time.Millisecond, Numbers: &lease.Range{From: 5, To: 3},
		Node: lease.Node{Port: "1", Type: lease.NodeActual}})
	_, err := leaser.Lease(t.Context(), lease.Request{Limit: -1})
	_, listed := leaser.Leases(t.Context(), 1)
	if leaser.String() != "no store" {
		t.Errorf("%s", leaser)
	}
	for _, err := range []error{err, listed, leaser.Revoke(t.Context(), 1)} {
		need.Error(t, err, lease.ErrConfig, "store is nil", "Window is 1s, want at least Expiry (1m0s)", "MaxSkew is 1ms, want 100ms to 8760h0m0s",
			"Numbers is 5 to 3, want", `Node.Host is ""`)
	}
	need.Error(t, err, lease.ErrConfig, "Request.Limit is -1, want 0 or more", "Request.Clock is nil", "Request.Granted is nil")

	s := new(hooked)
	_, err = lease.New(s, lease.Config{Numbers: &lease.Range{From: 5, To: 20}, Assigner: number{}}).Lease(t.Context(), lease.Request{Limit: 4, Fresh: true})
	need.Error(t, err, lease.ErrConfig, "Numbers.From is 5, want at most 4", "Request.Clock is nil", "Request.Granted is nil", "Assigner is set, want nil")
	if n := s.prepared() + len(s.calls); n > 0 {
		t.Errorf("%d calls", n)
	}
	if g := hold(t, s, lease.Config{Numbers: &lease.Range{From: 9, To: 20}}).Last(); g.Number != 9 { // the last that the limit allows
		t.Errorf("granted %+v", g)
	}
}

// faulty is a store with a fault in its settings.
type faulty struct{ hooked }

func (*faulty) Check() error { return errors.New("hooked: no table") }

// The faults of a store's settings are reported too, and those of the environment.
func TestFaultsOfStore(t *testing.T) {
	leaser := lease.New(new(faulty), quiet)
	_, err := try(t, new(faulty))
	_, listed := leaser.Leases(t.Context(), 1)
	for method, err := range map[string]error{"Lease": err, "Leases": listed, "Free": leaser.Revoke(t.Context(), 1)} {
		if err == nil || err.Error() != "hooked: no table" {
			t.Errorf("%s: %v; want the store's", method, err)
		}
	}
	t.Setenv("JPAAS_HOST", "alone")
	s := new(hooked)
	if _, err := try(t, s); err == nil || !strings.Contains(err.Error(), "JPAAS_HOST") || len(s.calls) > 0 {
		t.Errorf("%v after %d calls; want what is wrong with the environment", err, len(s.calls))
	}
	if leasestore.Transient(nil) != nil || leasestore.Throttled(nil) != nil {
		t.Error("no error is transient")
	}
}

// An Assigner is asked for a number up to the greatest that may be given, and the number
// alone is held, 0 too.
func TestAssigner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(hooked)
		hold(t, s, lease.Config{Numbers: &lease.Range{To: 7}, Assigner: assigner(func(_ context.Context, limit int64) (int64, error) {
			if limit != 7 {
				t.Errorf("a number up to %d; want 7", limit)
			}
			return 0, nil
		})})
		for _, c := range s.calls {
			if c.op == "Look" || c.op == "Insert" && c.Within != (leasestore.Range{}) {
				t.Errorf("%+v; want the number 0 alone", c)
			}
		}
		asked := assigner(func(ctx context.Context, _ int64) (int64, error) { return 0, fmt.Errorf("asked: %w", ctx.Err()) })
		_, err := holdertest.Try(canceled(t), t, lease.New(s, lease.Config{Assigner: asked}), 9, time.Now)
		if err == nil || err.Error() != "asked: context canceled" {
			t.Errorf("%v; want what the Assigner says", err)
		}
	})
}

// A start whose clock is wrong writes nothing, whichever way it reads the store's clock.
func TestSkewAtStart(t *testing.T) {
	for _, config := range []lease.Config{quiet, holdertest.Merge(quiet, lease.Config{Assigner: number{n: 5}})} {
		for ahead, side := range map[time.Duration]string{2 * time.Minute: "ahead of", -2 * time.Minute: "behind"} {
			synctest.Test(t, func(t *testing.T) {
				s := new(hooked)
				_, err := holdertest.Try(t.Context(), t, lease.New(s, config), 9, func() time.Time { return time.Now().Add(ahead) })
				var skew *lease.SkewError
				if !errors.As(err, &skew) || *skew != (lease.SkewError{Ahead: ahead, Max: time.Minute, StoreTime: time.Now().UTC()}) || !errors.Is(err, lease.ErrSkew) ||
					!strings.HasSuffix(err.Error(), fmt.Sprintf("the clock is wrong: it is 2m0s %s the store's, which shows 2000-01-01T00:00:00Z; want at most 1m0s either way", side)) {
					t.Errorf("%v; want a SkewError", err)
				}
				if rows, err := s.List(t.Context(), 0, time.Minute); len(rows) > 0 || err != nil {
					t.Errorf("%+v, %v; want no row", rows, err)
				}
			})
		}
	}
}

// Durations are refused one by one, and where they do not fit each other.
func TestConfig(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for name, tt := range map[string]struct {
		config lease.Config
		faults []string
	}{
		"zero":            {lease.Config{}, nil},
		"shortest":        {lease.Config{Window: 100 * time.Millisecond, Expiry: 100 * time.Millisecond, MaxSkew: 100 * time.Millisecond}, nil},
		"longest":         {lease.Config{Window: year, Expiry: year, MaxSkew: year}, nil},
		"too short":       {lease.Config{Window: 99 * time.Millisecond, Expiry: -1, MaxSkew: -1}, []string{"Window is 99ms, want 100ms to 8760h0m0s", "Expiry is -1ns", "MaxSkew is -1ns"}},
		"too long":        {lease.Config{Window: year + 1, Expiry: year + 1, MaxSkew: year + 1}, []string{"Window is 8760", "Expiry is 8760", "MaxSkew is 8760"}},
		"a short window":  {lease.Config{Window: time.Minute, Expiry: time.Minute + 1}, []string{"Window is 1m0s, want at least Expiry (1m0.000000001s)"}},
		"a long expiry":   {lease.Config{Window: time.Minute, Expiry: year + 1}, []string{"Expiry is 8760"}},
		"one number":      {lease.Config{Numbers: &lease.Range{}}, nil},
		"negative number": {lease.Config{Numbers: &lease.Range{From: -1, To: 3}}, []string{"Numbers is -1 to 3"}},
		"node":            {lease.Config{Node: lease.Node{Host: strings.Repeat("ä", 65), Port: "a\x00", Type: 3}}, []string{"Node.Host", "Node.Port", "Node.Type is 3"}},
	} {
		err := tt.config.Validate()
		if err == nil && tt.faults == nil {
			continue
		}
		need.Error(t, err, lease.ErrConfig, tt.faults...)
		if n := strings.Count(err.Error(), "\n") + 1; n != len(tt.faults) {
			t.Errorf("%s: %d faults, want %d: %v", name, n, len(tt.faults), err)
		}
	}
}

// A client may report the end of a context in words of its own.
func TestEndOfContextIsMatched(t *testing.T) {
	leaser := lease.New(&told{reads: errUnavailable, rows: make([]leasestore.Row, 1)}, lease.Config{})
	_, err := leaser.Leases(canceled(t), 0)
	for _, err := range []error{err, leaser.Revoke(canceled(t), 0),
		lease.New(&told{writes: errUnavailable, rows: []leasestore.Row{{Token: "a"}}}, lease.Config{}).Revoke(canceled(t), 0)} {
		need.Error(t, err, context.Canceled)
		need.Error(t, err, errUnavailable)
	}
	if _, err := leaser.Leases(t.Context(), 0); !errors.Is(err, errUnavailable) || errors.Is(err, context.Canceled) {
		t.Errorf("%v; want what the client says alone", err)
	}
}
