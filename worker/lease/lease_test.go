package lease_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/worker/internal/holding"
	"github.com/uidring/uidring/worker/lease"
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

func TestForever(t *testing.T) {
	var grants []lease.Grant
	granted := func(g lease.Grant) { grants = append(grants, g) }
	held, err := lease.Forever(number{n: 7}).Lease(context.Background(), lease.Request{Limit: 1023, Clock: time.Now, Granted: granted})
	if err != nil || len(grants) != 1 || grants[0] != (lease.Grant{Held: true, Number: 7}) {
		t.Fatalf("granted %+v, %v", grants, err)
	}
	held.Use(time.Now(), time.Now())
	if err := held.Release(context.Background(), time.Now()); err != nil {
		t.Error(err)
	}

	grants = nil
	unavailable := errors.New("unavailable")
	if held, err := lease.Forever(number{err: unavailable}).Lease(context.Background(), lease.Request{Limit: 1023, Clock: time.Now, Granted: granted}); held != nil || !errors.Is(err, unavailable) {
		t.Errorf("Lease = %v, %v", held, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	asked := assigner(func(ctx context.Context, limit int64) (int64, error) {
		return 0, fmt.Errorf("%w below %d", ctx.Err(), limit)
	})
	if held, err := lease.Forever(asked).Lease(ended, lease.Request{Limit: 1023, Clock: time.Now, Granted: granted}); held != nil || !errors.Is(err, context.Canceled) || !strings.HasSuffix(err.Error(), "1023") {
		t.Errorf("Lease = %v, %v", held, err)
	}
	if held, err := lease.Forever(nil).Lease(context.Background(), lease.Request{Limit: 1023, Clock: time.Now, Granted: granted}); held != nil || err == nil {
		t.Errorf("Lease of no assigner = %v, %v", held, err)
	}
	if grants != nil {
		t.Errorf("granted %+v", grants)
	}
}

// The number that an Assigner asks for lies within the range and the limit, both ends
// included. Nothing is written for any other.
func TestAssignedNumberOutOfRange(t *testing.T) {
	for n, refused := range map[int64]bool{-1: true, 2: true, 3: false, 5: false, 7: false, 8: true} {
		store := new(leasetest.Memory)
		held, err := lease.New(store, lease.Config{Numbers: &lease.Bounds{From: 3, To: 9}, Assigner: number{n: n}}).Lease(t.Context(), lease.Request{Limit: 7, Clock: time.Now, Granted: func(lease.Grant) {}})
		if (err != nil) != refused {
			t.Errorf("number %d: %v", n, err)
		}
		if err == nil {
			if err := held.Release(t.Context(), time.Now()); err != nil {
				t.Error(err)
			}
			continue
		}
		if want := fmt.Sprintf("number is %d, want 3 to 7", n); !strings.Contains(err.Error(), want) {
			t.Errorf("number %d: %v; want %q in it", n, err, want)
		}
		if rows, err := store.List(t.Context(), 0, time.Minute); len(rows) > 0 || err != nil {
			t.Errorf("number %d: %+v, %v; want no row", n, rows, err)
		}
	}
}

// Each method reports all faults of the config, the store and the call at once.
func TestFaultsAtOnce(t *testing.T) {
	leaser := lease.New(nil, lease.Config{Window: time.Second, MaxSkew: time.Millisecond, Numbers: &lease.Bounds{From: 5, To: 3},
		Node: lease.Node{Port: "1", Type: lease.NodeActual}})
	_, err := leaser.Lease(t.Context(), lease.Request{Limit: -1})
	_, listed := leaser.Leases(t.Context(), 1)
	freed := leaser.Free(t.Context(), 1, true)
	for method, err := range map[string]error{"Lease": err, "Leases": listed, "Free": freed} {
		wantFaults(t, method, err, "store is nil", "Window is 1s, want Expiry, 1m0s, or more", "MaxSkew is 1ms, want 100ms to 8760h0m0s",
			"Numbers is 5 to 3, want", `Node.Host is ""`)
	}
	wantFaults(t, "Lease", err, "Request.Limit is -1, want 0 or more", "Request.Clock is nil", "Request.Granted is nil")
}

// faulty is a store with a fault in its settings.
type faulty struct{ hooked }

func (*faulty) Check() error { return errors.New("hooked: no table") }

// The faults of a store's settings are reported too, and those of the environment.
func TestFaultsOfStore(t *testing.T) {
	leaser, request := lease.New(new(faulty), quiet), lease.Request{Limit: 9, Clock: time.Now, Granted: func(lease.Grant) {}}
	_, err := leaser.Lease(t.Context(), request)
	_, listed := leaser.Leases(t.Context(), 1)
	for method, err := range map[string]error{"Lease": err, "Leases": listed, "Free": leaser.Free(t.Context(), 1, true)} {
		if err == nil || err.Error() != "hooked: no table" {
			t.Errorf("%s: %v; want the store's", method, err)
		}
	}
	t.Setenv("JPAAS_HOST", "alone")
	s := new(hooked)
	if _, err := lease.New(s, quiet).Lease(t.Context(), request); err == nil || !strings.Contains(err.Error(), "JPAAS_HOST") || len(s.calls) > 0 {
		t.Errorf("%v after %d calls; want what is wrong with the environment", err, len(s.calls))
	}
	if lease.Transient(nil) != nil {
		t.Error("no error is transient")
	}
}

// Numbers are the greatest and the least that a Leaser holds, whatever the limit is. A
// start without a number left says so, and leaves no row.
func TestExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, opt := new(hooked), lease.Config{Numbers: &lease.Bounds{From: 3, To: 4}}
		hold(t, s, opt)
		hold(t, s, opt)
		_, err := holding.Try(t.Context(), t, lease.New(s, holding.Merge(quiet, opt)), 9, time.Now)
		var exhausted *lease.ExhaustedError
		if !errors.As(err, &exhausted) || *exhausted != (lease.ExhaustedError{Next: 5, Max: 4, Held: 2, Store: "memory"}) || !errors.Is(err, lease.ErrExhausted) ||
			err.Error() != "lease: numbers exhausted: 2 are held in memory, the next new one would be 5, the largest that may be given is 4" {
			t.Errorf("%v; want an ExhaustedError", err)
		}
		if rows, err := s.List(t.Context(), 0, time.Minute); len(rows) != 2 || err != nil {
			t.Errorf("%+v, %v; want two rows", rows, err)
		}
	})
}

// An Assigner is asked for a number up to the greatest that may be given, and the number
// alone is held, 0 too.
func TestAssigner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(hooked)
		hold(t, s, lease.Config{Numbers: &lease.Bounds{To: 7}, Assigner: assigner(func(_ context.Context, limit int64) (int64, error) {
			if limit != 7 {
				t.Errorf("a number up to %d; want 7", limit)
			}
			return 0, nil
		})})
		for _, c := range s.calls {
			if c.op == "Look" || c.op == "Insert" && c.Within != (lease.Bounds{}) {
				t.Errorf("%+v; want the number 0 alone", c)
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := lease.New(s, holding.Merge(quiet, lease.Config{Assigner: assigner(func(ctx context.Context, _ int64) (int64, error) { return 0, fmt.Errorf("asked: %w", ctx.Err()) })})).
			Lease(ended, lease.Request{Limit: 9, Clock: time.Now, Granted: func(lease.Grant) {}})
		if err == nil || err.Error() != "asked: context canceled" {
			t.Errorf("%v; want what the Assigner says", err)
		}
	})
}

// A start whose clock is wrong writes nothing, whichever way it reads the store's clock.
func TestSkewAtStart(t *testing.T) {
	for _, config := range []lease.Config{quiet, holding.Merge(quiet, lease.Config{Assigner: number{n: 5}})} {
		for ahead, side := range map[time.Duration]string{2 * time.Minute: "ahead of", -2 * time.Minute: "behind"} {
			synctest.Test(t, func(t *testing.T) {
				s := new(hooked)
				_, err := holding.Try(t.Context(), t, lease.New(s, config), 9, func() time.Time { return time.Now().Add(ahead) })
				var skew *lease.SkewError
				if !errors.As(err, &skew) || *skew != (lease.SkewError{Ahead: ahead, Max: time.Minute, Store: time.Now().UTC()}) || !errors.Is(err, lease.ErrSkew) ||
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

func wantFaults(t *testing.T, what string, err error, faults ...string) {
	t.Helper()
	if !errors.Is(err, lease.ErrConfig) {
		t.Errorf("%s: %v; want ErrConfig", what, err)
	}
	for _, want := range faults {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q in it", what, err, want)
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
		"a short window":  {lease.Config{Window: time.Minute, Expiry: time.Minute + 1}, []string{"Window is 1m0s, want Expiry, 1m0.000000001s, or more"}},
		"one number":      {lease.Config{Numbers: &lease.Bounds{}}, nil},
		"negative number": {lease.Config{Numbers: &lease.Bounds{From: -1, To: 3}}, []string{"Numbers is -1 to 3"}},
		"node":            {lease.Config{Node: lease.Node{Host: strings.Repeat("ä", 65), Port: "a\x00", Type: 3}}, []string{"Node.Host", "Node.Port", "Node.Type is 3"}},
	} {
		err := tt.config.Validate()
		if err == nil && tt.faults == nil {
			continue
		}
		wantFaults(t, name, err, tt.faults...)
		if n := strings.Count(err.Error(), "\n") + 1; n != len(tt.faults) {
			t.Errorf("%s: %d faults, want %d: %v", name, n, len(tt.faults), err)
		}
	}
}

// own is a store whose client reports the end of a context in words of its own.
type own struct{ *leasetest.Memory }

func (own) List(context.Context, int, time.Duration) ([]lease.Row, error) {
	return nil, errors.New("operation aborted")
}

func TestEndOfContextIsMatched(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := lease.New(own{new(leasetest.Memory)}, lease.Config{}).Leases(ended, 0)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "operation aborted") {
		t.Errorf("%v; want both the end of the context and what the client says", err)
	}
	if _, err := lease.New(own{new(leasetest.Memory)}, lease.Config{}).Leases(t.Context(), 0); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("%v; want what the client says alone", err)
	}
}
