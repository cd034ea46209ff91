package uidclient

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// Ids continue with another server, and no call fails. A server that goes back is left, too.
func TestFailover(t *testing.T) {
	for _, fault := range []func(f *fake){(*fake).down, func(f *fake) { f.set(func(f *fake) { f.next = 1 }) }} {
		bubble(t, Config{}, 2, func(t *testing.T, c *Client, servers []*fake) {
			take(t, c, 1, 10)
			fault(servers[0])
			take(t, c, 11, 128-10) // all that were fetched
			take(t, c, 1_000_000, 5000)
			if s := c.Stats(); s.Loads.Changes != 1 || s.Loads.Instance != "b" || s.Issued != 5128 || s.RejectedTakes != 0 {
				t.Errorf("Stats() = %+v", s)
			}
		})
	}
}

// After a time-out the next server is asked, which is asked first from then on. The only URL,
// of a balancer, is asked again.
func TestTimeout(t *testing.T) {
	const timeout = 200 * time.Millisecond
	for n, first := range []uid.ID{129, 1_000_000, 2_000_000} {
		bubble(t, Config{Timeout: timeout}, n+1, func(t *testing.T, c *Client, servers []*fake) {
			want := time.Duration(max(n, 1)) * timeout
			for _, s := range servers[:max(n, 1)] {
				s.hang()
			}
			if n == 0 {
				time.AfterFunc(timeout/2, servers[0].up)
			}
			take(t, c, 1, 128)
			began := time.Now()
			take(t, c, first, 1)
			if took := time.Since(began); took != want {
				t.Errorf("the id took %v, want %v", took, want)
			}
			time.Sleep(time.Second) // the pause of the hung servers is over
			took := time.Since(began)
			take(t, c, first+1, 5000)
			if took = time.Since(began) - took; took != 0 {
				t.Errorf("the next ids took %v: a hung server was asked first", took)
			}
			if s := c.Stats(); s.Waited != want {
				t.Errorf("Waited = %v, want %v", s.Waited, want)
			}
		})
	}
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

// The ids of an instance are all issued, in order, though another has answered.
func TestOrder(t *testing.T) {
	bubble(t, Config{}, 2, func(t *testing.T, c *Client, servers []*fake) {
		servers[0].down()
		take(t, c, 1, 65)
		synctest.Wait()
		if s := c.Stats(); s.Loads.Changes != 1 || s.Loads.Instance != "b" || s.Remaining < 128 {
			t.Fatalf("Stats() = %+v, want ids of both", s)
		}
		o := c.sessions[0]
		if o.successor(errMoved) != o.Dealer {
			t.Error("a call that found nothing just before the last run was put does not look again")
		}
		take(t, c, 66, 63)
		for _, err := range []error{errMoved, uid.ErrClosed} {
			if next := o.successor(err); next != o.next.Load().Dealer {
				t.Errorf("a call that failed with %v is not taken over by the next session", err)
			}
		}
		if next := o.successor(errRefused); next != nil {
			t.Error("a call that failed is taken over")
		}
		if len(c.sessions) != 1 {
			t.Errorf("%d sessions; want that the one without ids is left", len(c.sessions))
		}
		take(t, c, 1_000_000, 100)
	})
}

// An instance that goes back or repeats another's ids is refused for good; a new one is used.
func TestRewound(t *testing.T) {
	for name, back := range map[string]func(f *fake){
		"number":         func(f *fake) { f.number-- },
		"ids":            func(f *fake) { f.next-- },
		"restored store": func(f *fake) { f.instance, f.number, f.next = "b", 0, 64 },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, Config{MaxAge: uid.Unlimited}, 1, func(t *testing.T, c *Client, servers []*fake) {
				server := servers[0]
				server.set(back)
				last, err := drain(t, c)
				if last != 128 || !errors.Is(err, uid.ErrRewound) || errors.Is(err, uid.ErrUnavailable) {
					t.Fatalf("after %d ids: %v, want uid.ErrRewound after 128", last, err)
				}
				_, err = c.Wait(t.Context())
				need.Error(t, err, uid.ErrRewound)
				server.set(func(f *fake) { f.number, f.next = 1000, 100_000 })
				time.Sleep(time.Minute)
				_, err = c.Next() // once the instance is above
				need.Error(t, err, uid.ErrRewound)
				server.set(func(f *fake) { f.instance = "c" })
				time.Sleep(time.Minute)
				if id, err := c.Next(); id < 100_000 || err != nil {
					t.Errorf("Next() = %d, %v of a new instance", id, err)
				}
			})
		})
	}
}

// A balancer sends each request to another instance. Rings that were used up do not pile up,
// nor do others when nobody draws.
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
		issued := 0
		draw := func(n int) {
			t.Helper()
			change()
			got, err := c.NextN(make([]uid.ID, n))
			need.Must(t, err)
			issued += got
		}
		for range 3000 {
			draw(100)
		}
		rings := func() int { synctest.Wait(); return len(c.sessions) }
		for rings() < 2 { // until an instance answers while ids of another are left
			draw(1)
		}
		for range 100 { // idle
			change()
			time.Sleep(time.Minute)
		}
		if open := rings(); open > 3 {
			t.Errorf("%d rings, want 3 at most", open)
		}
		if s := c.Stats(); s.Issued != int64(issued) || s.Loads.Changes < 100 {
			t.Errorf("Stats() = %+v, want %d issued", s, issued)
		}
	})
}
