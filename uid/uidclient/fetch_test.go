package uidclient

import (
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// lingering is a network whose requests take a while to end after their context.
type lingering struct {
	network
	running atomic.Int64
}

func (l *lingering) RoundTrip(r *http.Request) (*http.Response, error) {
	l.running.Add(1)
	defer l.running.Add(-1)
	response, err := l.network.RoundTrip(r)
	if r.Context().Err() != nil {
		time.Sleep(100 * time.Millisecond)
	}
	return response, err
}

// A fetch ends with all of its requests: none is under way once New has returned.
func TestFetchEndsItsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newFake("a", 1), newFake("b", 1_000_000)
		one.takes, two.takes = 2*time.Second, time.Millisecond
		servers, urls := hosts(one, two)
		l := &lingering{network: servers}
		c, err := New(t.Context(), urls, "orders", Config{Hedge: time.Millisecond, transport: l})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if n := l.running.Load(); n != 0 {
			t.Errorf("%d requests are under way", n)
		}
	})
}

// If any server was too slow, the next request is for half as many ids, whatever the
// servers after that one answered.
func TestOneServerIsTooSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newFake("a", 1), newFake("b", 1_000_000)
		c := open(t, Config{MaxIDs: 100}, one, two)
		one.set(func(f *fake) { f.status = http.StatusServiceUnavailable })
		two.set(func(f *fake) { f.status = http.StatusInternalServerError })
		take(t, c, 1, 60)
		synctest.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.allowed.n != 50 {
			t.Errorf("the next request is for %d ids, want 50", c.allowed.n)
		}
	})
}

// Ids without a bound of age need no record of their age.
func TestAgelessIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := open(t, Config{MaxAge: -1, MaxIDs: 10}, newFake("a", 1))
		take(t, c, 1, 1000)
		synctest.Wait()
		if n := len(c.orders[0].ages); n != 0 {
			t.Errorf("%d ages are kept, want none", n)
		}
	})
}

// Stats have the time of the last answer.
func TestFetchTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake("a", 1)
		server.takes = 7 * time.Millisecond
		if took := open(t, Config{}, server).Stats().FetchTime; took != server.takes {
			t.Errorf("FetchTime is %v, want %v", took, server.takes)
		}
	})
}

// The least Retry-After is a second.
func TestRetryAfterASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake("a", 1)
		c := open(t, Config{MaxIDs: 100}, server)
		server.set(func(f *fake) { f.status, f.header = http.StatusServiceUnavailable, http.Header{"Retry-After": {"1"}} })
		take(t, c, 1, 60)
		synctest.Wait()
		before := server.requests()
		if time.Sleep(999 * time.Millisecond); server.requests() != before {
			t.Errorf("%d requests within a second", server.requests()-before)
		}
	})
}
