package uidclient

import (
	"errors"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
)

// Ids continue with another server, and no call fails.
func TestFailover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newFake("a", 1), newFake("b", 1_000_000)
		c := open(t, Config{}, one, two)
		take(t, c, 1, 10)
		one.set(func(f *fake) { f.unavailable = true })
		var lower int
		for range 5000 {
			id, err := c.Next()
			if err != nil {
				t.Fatal(err)
			}
			if id < 1_000_000 {
				lower++
			}
		}
		if lower != 128-10 {
			t.Errorf("%d more ids of the first server, want %d: all that were fetched", lower, 128-10)
		}
		if s := c.Stats(); s.Loads.Changes != 1 || s.Loads.Instance != "b" || s.Issued != 5010 || s.RejectedTakes != 0 {
			t.Errorf("Stats() = %+v", s)
		}
	})
}

// A server that hangs is hedged by another, which is asked first from then on.
func TestHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newFake("a", 1), newFake("b", 1_000_000)
		c := open(t, Config{Hedge: 200 * time.Millisecond}, one, two)
		one.set(func(f *fake) { f.hangs = true })
		take(t, c, 1, 128)
		began := time.Now()
		if id, err := c.Next(); id != 1_000_000 || err != nil {
			t.Errorf("Next() = %d, %v, want the first of the second server", id, err)
		}
		if took := time.Since(began); took != 200*time.Millisecond {
			t.Errorf("the id took %v, want 200 ms", took)
		}
		began = time.Now()
		take(t, c, 1_000_001, 5000)
		if took := time.Since(began); took != 0 {
			t.Errorf("the next ids took %v: the hung server was asked first", took)
		}
		if s := c.Stats(); s.Waited != 200*time.Millisecond {
			t.Errorf("Waited = %v, want 200 ms", s.Waited)
		}
	})
}

// lingering is a network whose requests take a second to end after they are cancelled.
type lingering struct {
	network
	requests *atomic.Int64 // under way
}

func (l lingering) RoundTrip(r *http.Request) (*http.Response, error) {
	defer l.requests.Add(-1)
	l.requests.Add(1)
	response, err := l.network.RoundTrip(r)
	if r.Context().Err() != nil {
		time.Sleep(time.Second)
	}
	return response, err
}

// When a client has an answer, no other request is under way.
func TestHedgedRequestEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newFake("a", 1), newFake("b", 1_000_000)
		one.set(func(f *fake) { f.hangs = true })
		n, urls := hosts(one, two)
		var requests atomic.Int64
		began := randomly
		defer func() { randomly = began }()
		randomly = func(int) int { return 0 }
		c, err := New(t.Context(), urls, "orders", Config{Hedge: 200 * time.Millisecond, transport: lingering{n, &requests}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if n := requests.Load(); n != 0 || one.requests() != 0 || two.requests() != 1 {
			t.Errorf("%d requests are under way after the answer, want none", n)
		}
	})
}

// Each server that hangs is hedged by the next.
func TestHedgeOfHedge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two, three := newFake("a", 1), newFake("b", 1_000_000), newFake("c", 2_000_000)
		c := open(t, Config{}, one, two, three)
		one.set(func(f *fake) { f.hangs = true })
		two.set(func(f *fake) { f.hangs = true })
		take(t, c, 1, 128)
		began := time.Now()
		take(t, c, 2_000_000, 1)
		if took := time.Since(began); took != 2*DefaultHedge {
			t.Errorf("the id took %v, want %v", took, 2*DefaultHedge)
		}
	})
}

// Clients begin with any of the servers.
func TestSpread(t *testing.T) {
	began := map[int]bool{}
	for range 1000 {
		began[newServers([]string{"a", "b", "c"}).at] = true
	}
	if len(began) != 3 {
		t.Errorf("clients begin with %d of 3 servers", len(began))
	}
}

// The only URL, of a balancer, is asked again over another connection.
func TestHedgeOfOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake("a", 1)
		c := open(t, Config{}, server)
		server.set(func(f *fake) { f.hangs = true })
		time.AfterFunc(300*time.Millisecond, func() { server.set(func(f *fake) { f.hangs = false }) })
		began := time.Now()
		take(t, c, 1, 200)
		if took := time.Since(began); took != DefaultHedge {
			t.Errorf("200 ids took %v, want %v", took, DefaultHedge)
		}
	})
}

// The ids of an instance are all issued, in order, though another has answered.
func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newFake("a", 1), newFake("b", 1_000_000)
		c := open(t, Config{}, one, two)
		one.set(func(f *fake) { f.unavailable = true })
		take(t, c, 1, 65)
		synctest.Wait()
		if s := c.Stats(); s.Loads.Changes != 1 || s.Loads.Instance != "b" || s.Remaining < 128 {
			t.Fatalf("Stats() = %+v, want ids of both", s)
		}
		o := c.orders[0]
		if o.successor(errMoved) != o.Dealer {
			t.Error("a call that found nothing just before the last run was put does not look again")
		}
		take(t, c, 66, 63)
		for _, err := range []error{errMoved, uid.ErrClosed} {
			if next := o.successor(err); next != o.next.Load().Dealer {
				t.Errorf("a call that failed with %v is not taken over by the next order", err)
			}
		}
		if next, s := o.successor(errRefused), c.Stats(); next != nil || s.RejectedTakes != 1 {
			t.Errorf("a call that failed is taken over, or not counted: %+v", s)
		}
		take(t, c, 1_000_000, 100)
	})
}

// An instance may lie lower than the one before, and its ids are issued after those.
func TestLowerInstance(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake("a", 5000)
		c := open(t, Config{}, server)
		server.set(func(f *fake) { f.instance, f.number, f.next = "b", 0, 100 })
		take(t, c, 5000, 128)
		take(t, c, 100, 100)
	})
}

// An instance that repeats or goes back is refused for good; a new one is used.
func TestRewound(t *testing.T) {
	for name, back := range map[string]func(f *fake){
		"number": func(f *fake) { f.number-- },
		"ids":    func(f *fake) { f.next-- },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newFake("a", 1)
				c := open(t, Config{}, server)
				server.set(back)
				last, err := drain(t, c)
				if last != 128 || !errors.Is(err, ErrRewound) || errors.Is(err, ErrUnavailable) {
					t.Fatalf("after %d ids: %v, want ErrRewound after 128", last, err)
				}
				if _, err := c.Wait(t.Context()); !errors.Is(err, ErrRewound) {
					t.Errorf("Wait() = %v, want ErrRewound", err)
				}
				server.set(func(f *fake) { f.number, f.next = 1000, 100_000 })
				time.Sleep(time.Minute)
				if _, err := c.Next(); !errors.Is(err, ErrRewound) {
					t.Errorf("Next() = %v once the instance is above, want ErrRewound", err)
				}
				server.set(func(f *fake) { f.instance = "b" })
				time.Sleep(time.Minute)
				if id, err := c.Next(); id < 100_000 || err != nil {
					t.Errorf("Next() = %d, %v of a new instance", id, err)
				}
			})
		})
	}
}

// With another server, a rewound one is no failure.
func TestRewoundBesideAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newFake("a", 1), newFake("b", 1_000_000)
		c := open(t, Config{}, one, two)
		one.set(func(f *fake) { f.next = 1 })
		take(t, c, 1, 128)
		take(t, c, 1_000_000, 5000)
	})
}

// A balancer sends each request to another instance. Each id is issued once, and the
// rings that were used up do not pile up, nor when nobody draws.
func TestBalancer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, turn := newFake("a", 1), 0
		numbers := [3]int64{}
		c := open(t, Config{MaxIDs: 200}, server)
		change := func() {
			server.set(func(f *fake) {
				turn = (turn + 1) % 3
				numbers[turn]++
				f.instance, f.number, f.next = string(rune('a'+turn)), 1000*numbers[turn], int64(turn)*1_000_000_000_000+numbers[turn]*1_000_000
			})
		}
		seen := map[uid.ID]bool{}
		for range 3000 {
			change()
			for range 100 {
				id, err := c.Next()
				if err != nil || seen[id] {
					t.Fatalf("Next() = %d, %v; issued before: %v", id, err, seen[id])
				}
				seen[id] = true
			}
		}
		rings := func() int {
			synctest.Wait()
			c.mu.Lock()
			defer c.mu.Unlock()
			return len(c.orders)
		}
		for rings() < 2 { // until an instance answers while ids of another are left
			change()
			id, err := c.Next()
			if err != nil || seen[id] {
				t.Fatalf("Next() = %d, %v; issued before: %v", id, err, seen[id])
			}
			seen[id] = true
		}
		for range 100 { // idle
			change()
			time.Sleep(time.Minute)
		}
		if open := rings(); open > 3 {
			t.Errorf("%d rings, want 3 at most", open)
		}
		if s := c.Stats(); s.Issued != int64(len(seen)) || s.Loads.Changes < 100 {
			t.Errorf("Stats() = %+v, want %d issued", s, len(seen))
		}
	})
}
