package lease_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

type number struct {
	n   int64
	err error
}

func (n number) Assign(context.Context, int64) (int64, error) { return n.n, n.err }

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
	away := errors.New("away")
	if held, err := lease.Forever(number{err: away}).Lease(context.Background(), lease.Request{Limit: 1023, Clock: time.Now, Granted: granted}); held != nil || !errors.Is(err, away) {
		t.Errorf("Lease = %v, %v", held, err)
	}
	if held, err := lease.Forever(nil).Lease(context.Background(), lease.Request{Limit: 1023, Clock: time.Now, Granted: granted}); held != nil || err == nil {
		t.Errorf("Lease of no assigner = %v, %v", held, err)
	}
	if grants != nil {
		t.Errorf("granted %+v", grants)
	}
}

// The number that WithNumber asks for lies within the range and the limit, both ends
// included. Nothing is written for any other.
func TestWithNumberOutOfRange(t *testing.T) {
	for n, refused := range map[int64]bool{-1: true, 2: true, 3: false, 5: false, 7: false, 8: true} {
		store := new(leasetest.Memory)
		held, err := lease.New(store, lease.Range(3, 9), lease.WithNumber(number{n: n})).Lease(t.Context(), lease.Request{Limit: 7, Clock: time.Now, Granted: func(lease.Grant) {}})
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

// Each method reports all faults of the options and the store at once.
func TestFaultsAtOnce(t *testing.T) {
	leaser := lease.New(nil, lease.WithWindow(time.Second), lease.WithExpiry(time.Minute), lease.WithMaxSkew(time.Millisecond),
		lease.Range(5, 3), lease.WithNumber(nil), lease.WithNode(lease.Node{Port: "1", Type: lease.NodeActual}))
	_, err := leaser.Lease(t.Context(), lease.Request{Limit: -1})
	_, listed := leaser.Leases(t.Context(), 1)
	freed := leaser.Free(t.Context(), 1, true)
	for method, err := range map[string]error{"Lease": err, "Leases": listed, "Free": freed} {
		for _, want := range []string{"the store is nil", "WithWindow: 1s is shorter than the expiry, 1m0s", "WithMaxSkew: 1ms, want 100ms to ",
			"Range: 5 to 3", "WithNumber: the assigner is nil", `Node.Host ""`} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v; want %q in it", method, err, want)
			}
		}
	}
	for _, want := range []string{"Limit -1: want 0 or more", "want Clock and Granted"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("Lease: %v; want %q in it", err, want)
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
	_, err := lease.New(own{new(leasetest.Memory)}).Leases(ended, 0)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "operation aborted") {
		t.Errorf("%v; want both the end of the context and what the client says", err)
	}
	if _, err := lease.New(own{new(leasetest.Memory)}).Leases(t.Context(), 0); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("%v; want what the client says alone", err)
	}
}
