package uidclient

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// Ids come in order, whichever method draws them, and however many runs answers have.
func TestIds(t *testing.T) {
	for _, runs := range []int64{1, 3, 1000} {
		synctest.Test(t, func(t *testing.T) {
			server := newFake("a", 1)
			server.runs = runs
			c, last := open(t, Config{}, server), uid.ID(0)
			for range 300 {
				ids := make([]uid.ID, 20)
				ids[0], _ = c.Next()
				ids[1], _ = c.Wait(t.Context())
				if n, err := c.NextN(ids[2:10]); n != 8 || err != nil {
					t.Fatalf("NextN() = %d, %v", n, err)
				}
				if n, err := c.WaitN(t.Context(), ids[10:15]); n != 5 || err != nil {
					t.Fatalf("WaitN() = %d, %v", n, err)
				}
				at := 15
				for id, err := range c.All(t.Context()) {
					need.Must(t, err)
					ids[at] = id
					if at++; at == len(ids) {
						break
					}
				}
				for _, id := range ids {
					if id <= last {
						t.Fatalf("id %d after %d", id, last)
					}
					last = id
				}
			}
			synctest.Wait() // an answer is put into the ring
			if n := len(c.sessions[0].ages); n != 1 {
				t.Errorf("%d ages of answers that all came at once, want 1", n)
			}
			if s := c.Stats(); s.Issued < 6000 || s.RejectedTakes != 0 || s.Issued+s.Remaining != server.made {
				t.Errorf("runs of %d: Stats() = %+v, want %d issued or remaining", runs, s, server.made)
			}
		})
	}
}

// Stats have what the servers answered, and what was done with the ids.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake("a", 1)
		server.takes = 50 * time.Millisecond
		c := open(t, Config{}, server)
		loads := uid.LoadStats{From: "http://ids-1/v1/orders/runs", Tag: "orders", Instance: "a", LastSize: 128, Requests: 1, LoadTime: 50 * time.Millisecond}
		want := uid.Stats{Remaining: 128}
		check := func() {
			t.Helper()
			got := c.Stats()
			if *got.Loads != loads || !errors.Is(got.LastError, want.LastError) {
				t.Errorf("Stats() = %+v, %v\nwant      %+v, %v", *got.Loads, got.LastError, loads, want.LastError)
			}
			if got.Loads, got.LastError = nil, want.LastError; got != want {
				t.Errorf("Stats() = %+v\nwant      %+v", got, want)
			}
		}
		check()
		take(t, c, 1, 70)
		time.Sleep(time.Second)
		var second int64
		server.set(func(f *fake) { second = f.asked[1] })
		want.Issued, want.Remaining, loads.LastSize, loads.Requests = 70, 58+second, second, 2
		check()
		server.down()
		_, _ = drain(t, c)
		want.Issued, want.Remaining, want.Starved, want.RejectedTakes, want.LastError = 128+second, 0, 1, 1, errRefused
		loads.Requests, loads.Failures = 4, 2
		check()
		server.up()
		time.Sleep(time.Minute)
		_, err := c.Next()
		need.Must(t, err)
		before := c.Stats()
		need.Must(t, c.Close())
		if after := c.Stats(); !after.Closed || after.Remaining != 0 || after.Dropped != before.Dropped+before.Remaining || after.Loads.Changes != 0 {
			t.Errorf("Stats() = %+v after Close, and %+v before", after, before)
		}
	})
}

// Ids continue to the end of what was fetched. Then calls fail, or wait.
func TestUnavailable(t *testing.T) {
	log := new(strings.Builder)
	config := Config{Logger: slog.New(slog.NewTextHandler(log, nil))}
	bubble(t, config, 1, func(t *testing.T, c *Client, servers []*fake) {
		servers[0].down()
		last, err := drain(t, c)
		unavailable, ok := errors.AsType[*UnavailableError](err)
		if last != 128 || !errors.Is(err, uid.ErrUnavailable) || !errors.Is(err, errRefused) || !ok || unavailable.Name != "orders" || unavailable.RetryAfter() != unavailable.Retry {
			t.Fatalf("after %d ids: %v, want uid.ErrUnavailable after 128", last, err)
		}
		wait := func(d time.Duration) (failures int64) {
			before := c.Stats().Loads.Failures
			defer time.AfterFunc(2*d, servers[0].up).Stop() // ends a call that has not ended with its context
			ctx, cancel := context.WithTimeout(t.Context(), d)
			defer cancel()
			for call, draw := range waits {
				if err := draw(ctx, c); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("%s() = %v, want the end of its context", call, err)
				}
			}
			return c.Stats().Loads.Failures - before
		}
		if n := wait(time.Minute); n < 10 || n > 40 {
			t.Errorf("%d requests in a minute, want a few: it backs off", n)
		}
		if n := wait(time.Hour); n < 500 {
			t.Errorf("%d requests in an hour, want 2 every 10 s", n)
		}
		servers[0].up()
		if id, err := c.Wait(t.Context()); id != 129 || err != nil {
			t.Errorf("Wait() = %d, %v, want 129", id, err)
		}
		synctest.Wait()
		if lines := strings.Count(log.String(), "\n"); lines != 2 || !strings.Contains(log.String(), "connection refused") {
			t.Errorf("the log is %q, want a line when fetches begin to fail and one when they no longer do", log)
		}
		servers[0].down()
		_, err = drain(t, c)
		if again, ok := errors.AsType[*UnavailableError](err); !ok || again.Retry > time.Second {
			t.Errorf("Next() = %+v, want a short pause: the server had answered", err)
		}
	})
}

// Close ends requests and waits at once.
func TestClose(t *testing.T) {
	log := new(strings.Builder)
	config := Config{Timeout: 30 * time.Second, Logger: slog.New(slog.NewTextHandler(log, nil))}
	bubble(t, config, 1, func(t *testing.T, c *Client, servers []*fake) {
		servers[0].hang()
		take(t, c, 1, 128)
		failed := make(chan error)
		go func() { _, err := c.Wait(t.Context()); failed <- err }()
		go func() { _, err := c.Next(); failed <- err }()
		synctest.Wait()
		began := time.Now()
		need.Must(t, c.Close())
		_, after := c.Next()
		for _, err := range []error{<-failed, <-failed, after} {
			need.Error(t, err, uid.ErrClosed)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("Close took %v", took)
		}
		if s := c.Stats(); !s.Closed || s.Remaining != 0 || s.LastError != nil || s.Loads.Failures != 0 || log.Len() > 0 {
			t.Errorf("Stats() = %+v with %+v, and the log is %q", s, s.Loads, log)
		}
		need.Must(t, c.Close()) // a second time
	})
}

// Close waits for the sessions that have no ids left and are closing.
func TestCloseWaitsForOrders(t *testing.T) {
	bubble(t, Config{}, 1, func(t *testing.T, c *Client, _ []*fake) {
		began := time.Now()
		c.running.Go(func() { time.Sleep(time.Second) }) // as leave starts one
		if err := c.Close(); err != nil || time.Since(began) != time.Second {
			t.Errorf("Close() = %v after %v, want when the session is closed", err, time.Since(began))
		}
	})
}

// Shutdown ends with its context, although a request under way does not.
func TestShutdownEndsWithItsContext(t *testing.T) {
	bubble(t, Config{}, 1, func(t *testing.T, c *Client, _ []*fake) {
		hang := func(*http.Request) (*url.URL, error) { time.Sleep(time.Hour); return nil, errRefused }
		c.http.Transport = &http.Transport{Proxy: hang}
		take(t, c, 1, 128)
		synctest.Wait() // a request is under way
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := c.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("Shutdown() = %v after %v, want DeadlineExceeded after 1s", err, time.Since(began))
		}
		time.Sleep(2 * time.Hour) // the request ends
		need.Must(t, c.Close())
	})
}

// The context of New bounds the start, and Timeout each request: an answer that would be too old when it
// comes is none. A start that fails logs nothing: its error says it.
func TestStartFails(t *testing.T) {
	for _, tt := range []struct {
		fault          func(*fake)
		maxAge         time.Duration
		within, wanted time.Duration
		want           error
	}{
		{(*fake).hang, 0, time.Second, time.Second, context.DeadlineExceeded},
		{(*fake).hang, 0, time.Minute, 2 * defaultTimeout, uid.ErrUnavailable},
		{(*fake).down, 0, time.Minute, 0, uid.ErrUnavailable},
		{func(f *fake) { f.takes = 700 * time.Millisecond }, time.Second, time.Minute, time.Second, uid.ErrUnavailable},
	} {
		synctest.Test(t, func(t *testing.T) {
			server, log := newFake("a", 1), new(strings.Builder)
			tt.fault(server)
			ctx, cancel := context.WithTimeout(t.Context(), tt.within)
			defer cancel()
			began := time.Now()
			_, err := tryOpen(ctx, Config{MaxAge: tt.maxAge, Logger: slog.New(slog.NewTextHandler(log, nil))}, server)
			if took := time.Since(began); !errors.Is(err, tt.want) || took > tt.wanted || log.Len() > 0 {
				t.Errorf("New() = %v after %v, want %v after %v; it logged %s", err, took, tt.want, tt.wanted, log)
			}
		})
	}
}

// What calls, Stats and Close do while a server takes 50 ms, 5 s, or for ever.
func TestSlowServer(t *testing.T) {
	calls := maps.Clone(waits)
	calls["Next"] = func(_ context.Context, c *Client) error { _, err := c.Next(); return err }
	calls["NextN"] = func(_ context.Context, c *Client) error { _, err := c.NextN(make([]uid.ID, 1)); return err }
	for _, takes := range []time.Duration{50 * time.Millisecond, 5 * time.Second, forever} {
		for name, policy := range map[string]uid.TakePolicy{"help": nil, "reject": uid.PolicyReject, "wait": uid.PolicyWait} {
			for call, draw := range calls {
				bubble(t, Config{RejectedTake: policy, Timeout: forever, MaxAge: uid.Unlimited}, 1, func(t *testing.T, c *Client, servers []*fake) {
					servers[0].set(func(f *fake) { f.takes = takes })
					take(t, c, 1, 128)
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					defer time.AfterFunc(time.Hour, func() { _ = c.Close() }).Stop()
					began := time.Now()
					err := draw(ctx, c)
					took := time.Since(began)
					want, lasts := error(nil), takes // until the answer
					switch {
					case name == "reject" && waits[call] == nil:
						want, lasts = uid.ErrNotReady, 0
					case takes == forever && waits[call] == nil:
						want, lasts = uid.ErrClosed, time.Hour
					case takes == forever:
						want, lasts = context.DeadlineExceeded, time.Minute
					}
					if !errors.Is(err, want) || took != lasts {
						t.Errorf("%v, %s: %s: %v after %v, want %v after %v", takes, name, call, err, took, want, lasts)
					}
					if want == context.DeadlineExceeded {
						need.Error(t, err, want, "uid: wait for an id: ")
					}
					if s := c.Stats(); s.Starved != 1 || (s.RejectedTakes == 0) != (err == nil) || s.Waited != took || (s.Issued == 128) != (err != nil) {
						t.Errorf("%v, %s: %s: Stats() = %+v", takes, name, call, s)
					}
					if err := c.Close(); err != nil || time.Since(began) != took {
						t.Errorf("%v, %s: Close() = %v after %v, want nil at once", takes, name, err, time.Since(began)-took)
					}
				})
			}
		}
	}
}

// A loop goes on from one instance to the next, though that lies lower.
func TestAllGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake("a", 50_000)
		c := open(t, Config{}, server)
		server.set(func(f *fake) { f.instance, f.number, f.next = "b", 0, 100 })
		n := 0
		for id, err := range c.All(t.Context()) {
			want := uid.ID(50_000 + n)
			if n >= 128 {
				want = uid.ID(100 + n - 128)
			}
			if id != want || err != nil {
				t.Fatalf("id %d, %v, want %d", id, err, want)
			}
			if n++; n == 5000 {
				break
			}
		}
	})
}

// A call allocates nothing.
func TestAllocations(t *testing.T) {
	server := newFake("a", 1)
	c := open(t, Config{MaxAge: uid.Unlimited, MaxIDs: MaxIDs}, server)
	var ids [256]uid.ID
	for range 20_000 { // the steps grow
		_, _ = c.NextN(ids[:])
	}
	if n := len(c.sessions[0].ages); n != 0 {
		t.Errorf("%d ages without a MaxAge", n)
	}
	if n := testing.AllocsPerRun(1000, func() { _, _ = c.Next() }); n != 0 {
		t.Errorf("Next allocates %v times", n)
	}
}
