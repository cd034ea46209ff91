package uidclient

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// pausing is a balancer that sends each request to the next of its servers, and later ones to the
// last. When a response from a server before the last has arrived, the client's process stands
// still for pause, as in a frozen cgroup.
type pausing struct {
	servers []*fake
	pause   time.Duration
	sent    atomic.Int64
	inside  atomic.Int64 // requests in flight
	most    atomic.Int64 // requests in flight at once
}

func (p *pausing) RoundTrip(r *http.Request) (*http.Response, error) {
	n := int(p.sent.Add(1))
	p.most.Store(max(p.most.Load(), p.inside.Add(1)))
	time.Sleep(5 * time.Millisecond)
	w := httptest.NewRecorder()
	p.servers[min(n, len(p.servers))-1].ServeHTTP(w, r)
	p.inside.Add(-1)
	if n > 1 && n < len(p.servers) {
		time.Sleep(p.pause)
	}
	return w.Result(), nil
}

// A process that is paused while another instance's response arrives, once or several times in a
// row, still has one session that fetches. For a day, the last server is asked one request at a
// time and is never refused, and its ids ascend.
func TestPausedMove(t *testing.T) {
	for instances := 3; instances <= 5; instances++ {
		for _, pause := range []time.Duration{55 * time.Second, 65 * time.Second} { // too old soon, and at once
			t.Run(fmt.Sprintf("%d/%v", instances, pause), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testPausedMove(t, instances, pause) })
			})
		}
	}
}

func testPausedMove(t *testing.T, instances int, pause time.Duration) {
	lb := &pausing{pause: pause}
	first := uid.ID(0)
	for i := range instances {
		first = 1 + uid.ID(i)*1_000_000_000
		lb.servers = append(lb.servers, newFake(string(rune('a'+i)), int64(first)))
	}
	c, err := New(t.Context(), []string{"http://lb"}, "orders", Config{transport: lb})
	need.Must(t, err)
	defer c.Close()
	_, err = c.NextN(make([]uid.ID, 65)) // more than half of a's 128 ids: a fetch begins
	need.Must(t, err)
	time.Sleep(time.Duration(instances) * pause)
	synctest.Wait()
	_, err = c.TryClaim(1) // ids were fetched ahead
	need.Must(t, err)
	last := uid.ID(0)
	for began := time.Now(); time.Since(began) < 24*time.Hour; time.Sleep(50 * time.Millisecond) {
		id, err := c.Next()
		switch {
		case errors.Is(err, uid.ErrRewound):
			t.Fatalf("Next() = %v after %v, though the server is healthy", err, time.Since(began))
		case err == nil && id <= last:
			t.Fatalf("Next() = %d after %d", id, last)
		case err == nil:
			last = id
		}
	}
	synctest.Wait()
	if last < first {
		t.Errorf("the last id is %d, want an id of the last instance, %d or more", last, first)
	}
	idle := func(s *session) bool { return s.fetcher.Load() == nil }
	if n := len(slices.DeleteFunc(slices.Clone(c.sessions), idle)); n != 1 || lb.most.Load() != 1 {
		t.Errorf("%d sessions fetch, with up to %d requests at once; want 1 and 1", n, lb.most.Load())
	}
}

// A session that ran low before it could fetch does so once it can.
func TestHandOver(t *testing.T) {
	bubble(t, Config{}, 1, func(t *testing.T, c *Client, _ []*fake) {
		next := c.newSession()
		need.Must(t, next.Start(t.Context(), nil))
		synctest.Wait()
		if left := next.remaining(); left != 0 {
			t.Fatalf("%d ids of a session that may not fetch", left)
		}
		c.add(next)
		c.sessions[0].handOver(next)
		synctest.Wait()
		if left := next.remaining(); left == 0 {
			t.Error("the session fetched no ids")
		}
	})
}
