package uidclient

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/uidring/uidring/uid"
)

// Ids come in order, whichever method draws them, and however many runs answers have.
func TestIds(t *testing.T) {
	for _, runs := range []int64{1, 3, 1000} {
		t.Run(fmt.Sprint(runs), func(t *testing.T) {
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
						if err != nil {
							t.Fatal(err)
						}
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
				if n := len(c.orders[0].ages); n != 1 {
					t.Errorf("%d ages of answers that all came at once, want 1", n)
				}
				s := c.Stats()
				if s.Issued < 6000 || s.RejectedTakes != 0 || s.LastError != nil || s.Loads.Instance != "a" || s.Loads.From != "http://ids-1/v1/orders/runs" || s.Loads.Loads != int64(server.requests()) {
					t.Errorf("Stats() = %+v", s)
				}
				if s.Issued+s.Remaining != server.made {
					t.Errorf("%d ids issued and %d remaining of %d", s.Issued, s.Remaining, server.made)
				}
			})
		})
	}
}

// Stats have what the servers answered, and what was done with the ids.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake("a", 1)
		server.takes = 50 * time.Millisecond
		c := open(t, Config{}, server)
		loads := uid.LoadStats{From: "http://ids-1/v1/orders/runs", Tag: "orders", Instance: "a", Step: 128, Loads: 1, LoadTime: 50 * time.Millisecond}
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
		want.Issued, want.Remaining, loads.Step, loads.Loads = 70, 58+second, second, 2
		check()
		server.set(func(f *fake) { f.unavailable = true })
		_, _ = drain(t, c)
		want.Issued, want.Remaining, want.Starved, want.RejectedTakes, want.LastError = 128+second, 0, 1, 1, errRefused
		loads.Loads, loads.Failures = 4, 2
		check()
		server.set(func(f *fake) { f.unavailable = false })
		time.Sleep(time.Minute)
		if _, err := c.Next(); err != nil {
			t.Fatal(err)
		}
		before := c.Stats()
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if after := c.Stats(); !after.Closed || after.Remaining != 0 || after.Dropped != before.Dropped+before.Remaining || after.Loads.Changes != 0 {
			t.Errorf("Stats() = %+v after Close, and %+v before", after, before)
		}
	})
}

// Ids continue to the end of what was fetched. Then calls fail, or wait.
func TestUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, log := newFake("a", 1), new(strings.Builder)
		c := open(t, Config{Logger: slog.New(slog.NewTextHandler(log, nil))}, server)
		server.set(func(f *fake) { f.unavailable = true })
		last, err := drain(t, c)
		unavailable := (*UnavailableError)(nil)
		if last != 128 || !errors.Is(err, ErrUnavailable) || !errors.Is(err, errRefused) || !errors.As(err, &unavailable) || unavailable.Name != "orders" || unavailable.RetryAfter() != unavailable.Retry {
			t.Fatalf("after %d ids: %v, want ErrUnavailable after 128", last, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := c.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Wait() = %v, want the end of its context", err)
		}
		for _, err := range c.All(ctx) {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("All() = %v, want the end of its context", err)
			}
		}
		if n := c.Stats().Loads.Failures; n < 10 || n > 40 {
			t.Errorf("%d requests in a minute, want a few: it backs off", n)
		}
		before := c.Stats().Loads.Failures
		ctx, cancel = context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_, _ = c.Wait(ctx)
		if n := c.Stats().Loads.Failures - before; n < 500 {
			t.Errorf("%d requests in an hour, want 2 every 10 s", n)
		}
		server.set(func(f *fake) { f.unavailable = false })
		if id, err := c.Wait(t.Context()); id != 129 || err != nil {
			t.Errorf("Wait() = %d, %v, want 129", id, err)
		}
		synctest.Wait()
		if lines := strings.Count(log.String(), "\n"); lines != 2 || !strings.Contains(log.String(), "connection refused") {
			t.Errorf("the log is %q, want a line when fetches begin to fail and one when they no longer do", log)
		}
		server.set(func(f *fake) { f.unavailable = true })
		_, err = drain(t, c)
		if !errors.As(err, &unavailable) || unavailable.Retry > time.Second {
			t.Errorf("Next() = %+v, want a short pause: the server had answered", err)
		}
	})
}

// A burst of takers finds nothing ready. None fails, and their ids are fetched
// together.
func TestBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake("a", 1)
		server.takes = 50 * time.Millisecond
		c := open(t, Config{MaxIDs: 100_000}, server)
		time.Sleep(time.Hour)
		before := server.requests()
		var takers sync.WaitGroup
		var mu sync.Mutex
		seen := map[uid.ID]bool{}
		for range 100 {
			takers.Go(func() {
				for range 1000 {
					id, err := c.Next()
					mu.Lock()
					if err != nil || seen[id] {
						t.Errorf("Next() = %d, %v; issued before: %v", id, err, seen[id])
					}
					seen[id] = true
					mu.Unlock()
				}
			})
		}
		takers.Wait()
		if n := server.requests() - before; n > 12 {
			t.Errorf("%d requests for 100,000 ids, want a few", n)
		}
	})
}

// Close ends requests and waits at once.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, log := newFake("a", 1), new(strings.Builder)
		c := open(t, Config{Timeout: time.Minute, Logger: slog.New(slog.NewTextHandler(log, nil))}, server)
		server.set(func(f *fake) { f.hangs = true })
		take(t, c, 1, 128)
		failed := make(chan error)
		go func() { _, err := c.Wait(t.Context()); failed <- err }()
		go func() { _, err := c.Next(); failed <- err }()
		synctest.Wait()
		began := time.Now()
		if err := c.Close(); err != nil {
			t.Errorf("Close() = %v", err)
		}
		for range 2 {
			if err := <-failed; !errors.Is(err, uid.ErrClosed) {
				t.Errorf("a call failed with %v, want ErrClosed", err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("Close took %v", took)
		}
		if _, err := c.Next(); !errors.Is(err, uid.ErrClosed) {
			t.Errorf("Next() = %v, want ErrClosed", err)
		}
		if s := c.Stats(); !s.Closed || s.Remaining != 0 || s.LastError != nil || log.Len() > 0 {
			t.Errorf("Stats() = %+v, and the log is %q", s, log)
		}
		if err := c.Close(); err != nil {
			t.Errorf("a second Close() = %v", err)
		}
	})
}

// Close waits for the orders that have no ids left and are closing.
func TestCloseWaitsForOrders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, began := open(t, Config{}, newFake("a", 1)), time.Now()
		c.running.Go(func() { time.Sleep(time.Second) }) // as leave starts one
		if err := c.Close(); err != nil || time.Since(began) != time.Second {
			t.Errorf("Close() = %v after %v, want when the order is closed", err, time.Since(began))
		}
	})
}

// A start that fails logs nothing: its error says it.
func TestFailedStartIsNotLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, log := newFake("a", 1), new(strings.Builder)
		server.unavailable = true
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		c, err := tryOpen(ctx, Config{Logger: slog.New(slog.NewTextHandler(log, nil))}, server)
		if !errors.Is(err, ErrUnavailable) || log.Len() > 0 {
			t.Errorf("New() = %v, %v, and logged %s", c, err, log)
		}
	})
}

// With Reject, a call that finds nothing fails at once.
func TestReject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake("a", 1)
		c := open(t, Config{RejectedTake: uid.Reject}, server)
		server.set(func(f *fake) { f.takes = time.Second })
		take(t, c, 1, 128)
		if _, err := c.Next(); !errors.Is(err, uid.ErrRingEmpty) {
			t.Errorf("Next() = %v, want ErrRingEmpty", err)
		}
	})
}

// An id costs one call: Take of the ring is inlined into Next.
func TestTakeIsInlined(t *testing.T) {
	if strconv.IntSize == 32 {
		t.Skip("32-bit machines have no 64-bit add that is inlined")
	}
	out, err := exec.Command("go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "./client.go:") && strings.HasSuffix(line, "inlining call to ringbuffer.deal\n") {
			return
		}
	}
	t.Error("the compiler does not inline Take into Next")
}

// A loop goes on from one instance to the next.
func TestAllGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := newFake("a", 50_000)
		c := open(t, Config{}, server)
		n := 0
		for id, err := range c.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			switch n++; {
			case n == 1:
				server.set(func(f *fake) { f.instance, f.number, f.next = "b", 0, 100 })
			case n <= 128 && id != uid.ID(49_999+n), n > 128 && id != uid.ID(100+n-129):
				t.Fatalf("id %d is the loop's number %d", id, n)
			}
			if n == 5000 {
				break
			}
		}
	})
}

// A call allocates nothing.
func TestAllocations(t *testing.T) {
	server := newFake("a", 1)
	c := open(t, Config{MaxAge: -1, MaxIDs: GreatestMaxIDs}, server)
	var ids [256]uid.ID
	for range 20_000 { // the steps grow
		_, _ = c.NextN(ids[:])
	}
	if n := len(c.orders[0].ages); n != 0 {
		t.Errorf("%d ages without a MaxAge", n)
	}
	if n := testing.AllocsPerRun(1000, func() { _, _ = c.Next() }); n != 0 {
		t.Errorf("Next allocates %v times", n)
	}
}
