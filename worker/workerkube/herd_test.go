//go:build linux

package workerkube_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/rest"

	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// fleet is holders whose API server is a fake.
type fleet struct {
	holdertest.Fleet
	fake
	expiry time.Duration
}

// start starts n holders at the same time. It returns how long the last took, and how many
// requests each sent.
func (f *fleet) start(n int, store func() leasestore.Store) (last time.Duration, each float64) {
	f.Helper()
	before := f.requests.Load()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	last = f.Start(ctx, n, func(int) *lease.Leaser {
		return leaser(store(), lease.Config{Expiry: f.expiry, Window: f.expiry})
	})
	return last, float64(f.requests.Load()-before) / float64(n)
}

// stop stops all holders.
func (f *fleet) stop() { f.Stop(len(f.Holders)) }

func newFleet(t *testing.T, expiry time.Duration) *fleet {
	return &fleet{Fleet: holdertest.Fleet{TB: t}, expiry: expiry}
}

// own returns the Store of another process, whose client has no limit.
func (f *fleet) own() leasestore.Store { return f.open(rest.Config{QPS: -1}) }

// Many processes that start at the same time all have a number soon, on an API server that serves
// 1,000 requests a second. If all restart, they use nearly the same numbers.
func TestHerd(t *testing.T) {
	for _, test := range []struct {
		starts, restarts int
		within           time.Duration
	}{
		{50, 0, 10 * time.Second},
		{100, 10, 20 * time.Second},
		{1000, 0, 30 * time.Second},
	} {
		if testing.Short() && test.starts > 100 {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 10*time.Minute)
			_, alone := f.start(1, f.own)
			last, each := f.start(test.starts, f.own)
			t.Logf("%d first starts: %.1f requests each, %.1f alone, the last after %v", test.starts, each, alone, last)
			if alone > 9 || each > 1.3*alone || last > test.within {
				t.Errorf("want 9 requests alone, 11.7 each, and the last after %v", test.within)
			}
			for range test.restarts {
				f.stop()
				if last, each = f.start(test.starts, f.own); each > 1.5*9 || last > test.within {
					t.Errorf("restarted: %.1f requests each, the last after %v", each, last)
				}
			}
			f.stop()
			if used := float64(f.Most+1) / float64(test.starts); used > 1.1 {
				t.Errorf("%.2f numbers used for each that is held; want 1.1", used)
			}
		})
	}
}

// Many generators share a Store whose client has the default rate: all start, and the limit
// holds.
func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, time.Hour) // longer than all starts take, at this rate
		store, began := f.open(rest.Config{}), time.Now()
		last, each := f.start(300, func() leasestore.Store { return store })
		t.Logf("the last after %v, %.1f requests each", last, each)
		if allowed := 10 + 5*time.Since(began).Seconds(); float64(f.requests.Load()) > 1.1*allowed {
			t.Errorf("%d requests; want %.0f", f.requests.Load(), allowed)
		}
		f.stop()
	})
}

// Processes that restart at the same time stay within the rates of their clients, however often
// another process is faster.
func TestRateOfRestarts(t *testing.T) {
	for _, c := range []rest.Config{{QPS: 1, Burst: 5}, {QPS: rest.DefaultQPS, Burst: rest.DefaultBurst}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 10*time.Minute)
			f.start(100, f.own)
			f.stop()
			began := time.Now()
			last, each := f.start(100, func() leasestore.Store {
				var sent atomic.Int64
				count := new(faults)
				count.set(func(r *http.Request, send sender) (*http.Response, error) {
					n, passed := sent.Add(1), time.Since(began)+time.Millisecond
					if allowed := int64(c.Burst) + int64(passed.Seconds()*float64(c.QPS)); n > allowed {
						t.Errorf("%s %s is request %d of a process after %v; want at most %d", r.Method, r.URL.Path, n, passed, allowed)
					}
					return send(r)
				})
				return f.open(c, count)
			})
			if t.Logf("the last after %v, %.1f requests each", last, each); each < 6.5 {
				t.Error("no process lost a race; want some")
			}
			f.stop()
		})
	}
}
