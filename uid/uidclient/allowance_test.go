package uidclient

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// A server's own limit, told by a refusal or by taking too long, costs few requests.
func TestLimit(t *testing.T) {
	for _, over := range []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusServiceUnavailable} {
		t.Run(http.StatusText(over), func(t *testing.T) {
			const most = 10_000
			bubble(t, Config{MaxIDs: most}, 1, func(t *testing.T, c *Client, servers []*fake) {
				server, refused := servers[0], 0
				server.set(func(f *fake) { f.limit, f.over = 100, over })
				for range 100_000 {
					_, err := c.Wait(t.Context())
					need.Must(t, err)
				}
				synctest.Wait() // no fetch is under way
				for _, n := range server.asked {
					if n > 128 { // 128 were answered before
						refused++
					}
				}
				if n := server.requests(); n > 1700 || refused > 70 {
					t.Errorf("%d requests for 100,000 ids and %d refusals, want 1,700 and 70 at most", n, refused)
				}
				s := c.Stats()
				if s.RejectedTakes != 0 || over != http.StatusServiceUnavailable && s.Loads.Failures != 0 {
					t.Errorf("Stats() = %+v", s)
				}
				server.set(func(f *fake) { f.limit = 0 })
				for range 100_000 {
					_, _ = c.Next()
				}
				if s := c.Stats(); s.Loads.LastSize != most {
					t.Errorf("LastSize = %d without the limit, want %d", s.Loads.LastSize, most)
				}
			})
		})
	}
}

// A server that refused earlier, and is left out now, does not make the client ask at once.
func TestEarlierRefusal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one, two := newFake("a", 1), newFake("b", 1)
		one.status = http.StatusBadRequest
		c := open(t, Config{}, one, two)
		take(t, c, 1, 20)
		two.down()
		before := two.requests()
		if _, err := drain(t, c); !errors.Is(err, uid.ErrUnavailable) || two.requests() > before {
			t.Errorf("%v after %d requests, want uid.ErrUnavailable", err, two.requests()-before)
		}
	})
}

// A failure that passes while a limit is known leads back to the limit at once.
func TestLimitIsRemembered(t *testing.T) {
	a, asked := newAllowance(10_000), []int64(nil)
	const limit = 100
	ask := func(limit int64) bool {
		asked = append(asked, a.n)
		if n := a.n; n > limit {
			a.failed(n)
			return false
		}
		a.answered(a.n)
		return true
	}
	for range 20 {
		ask(limit)
	}
	if want := []int64{10_000, 5000, 2500, 1250, 625, 312, 156, 78, 156, 78, 78, 156, 78, 78, 78, 78, 156, 78, 78, 78}; !slices.Equal(asked, want) {
		t.Errorf("the client asked for %v ids, want %v", asked, want)
	}
	for range 10_000 {
		ask(limit)
	}
	if a.wait != mostGood {
		t.Errorf("the size doubles after %d answers, want %d", a.wait, mostGood)
	}
	before := a
	if a.answered(a.n - 1); a != before {
		t.Errorf("an answer to a request for fewer ids changes %+v to %+v", before, a)
	}
	for a.n > 1 {
		ask(0)
	}
	for n := range 7 {
		if !ask(limit) {
			t.Errorf("answer %d of 7 after a failure that passed: refused", n)
		}
	}
	if a.n <= limit/4 {
		t.Errorf("the client asks for %d ids, want more than a quarter of the limit, %d", a.n, limit)
	}
	for range 2 * mostGood {
		ask(limit)
	}
	if a.n <= limit/2 {
		t.Errorf("the client asks for %d ids, want more than half of the limit, %d", a.n, limit)
	}
	for range 10 * mostGood {
		ask(10_000)
	}
	if a != newAllowance(10_000) {
		t.Errorf("%+v without a limit, want that of the start", a)
	}
}
