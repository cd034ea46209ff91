//go:build linux

package fleet

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// crowd is the clients: one of each kind for each generator.
type crowd struct {
	kinds   []kind
	clients []*client
	drawing sync.WaitGroup
	stop    chan struct{}
	calm    bool // no call may fail
}

// client draws, and keeps what it got.
type client struct {
	kind      kind
	generator string
	draw      draw

	ids    []uid.ID
	calls  int
	failed int
	times  []time.Duration // of calls that succeeded
}

const (
	leastCalls = 200 // of a client, unless its kind has less
	mostIDs    = 100 // of a call
)

// newCrowd has clients of some kinds draw until stop is closed, and each of them leastCalls
// times.
func newCrowd(t *testing.T, balancer string, servers []string, kinds []kind, calm bool) *crowd {
	t.Helper()
	c := &crowd{kinds: kinds, stop: make(chan struct{}), calm: calm}
	for _, kind := range kinds {
		if kind.missing != nil {
			continue
		}
		for _, generator := range generators {
			c.clients = append(c.clients, &client{kind: kind, generator: generator, draw: kind.open(t, balancer, servers, generator)})
		}
	}
	for _, client := range c.clients {
		c.drawing.Go(func() { client.run(t, c) })
	}
	return c
}

func (c *client) run(t *testing.T, crowd *crowd) {
	for stopped := false; !stopped || c.calls < cmp.Or(c.kind.calls, leastCalls); c.calls++ {
		n := 1
		if c.calls%10 == 0 {
			n += rand.IntN(mostIDs)
		}
		ctx, cancel := context.WithTimeout(context.Background(), c.kind.timeout)
		began := time.Now()
		ids, err := c.draw(ctx, n)
		cancel()
		c.ids = append(c.ids, ids...)
		switch {
		case err == nil && len(ids) == n:
			c.times = append(c.times, time.Since(began))
		case crowd.calm:
			t.Errorf("%s, %s: %d ids of %d, %v", c.kind.name, c.generator, len(ids), n, err)
			fallthrough
		default:
			c.failed++
		}
		select {
		case <-crowd.stop:
			stopped = true
		case <-time.After(cmp.Or(c.kind.pause, time.Millisecond)):
		}
	}
}

// end stops the clients, each of which then draws once more, and returns all that they
// did.
func (c *crowd) end(t *testing.T) {
	t.Helper()
	close(c.stop)
	c.drawing.Wait()
	for _, client := range c.clients {
		deadline := time.Now().Add(time.Minute)
		for {
			ctx, cancel := context.WithTimeout(t.Context(), client.kind.timeout)
			ids, err := client.draw(ctx, 1)
			cancel()
			client.ids = append(client.ids, ids...)
			if err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Errorf("%s, %s: %v, a minute after all servers are back", client.kind.name, client.generator, err)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	c.judge(t)
}

// judge fails the test if an id was issued twice, and reports the rest.
func (c *crowd) judge(t *testing.T) {
	t.Helper()
	for _, generator := range generators {
		var all []uid.ID
		for _, client := range c.clients {
			if client.generator == generator {
				all = append(all, client.ids...)
			}
		}
		slices.Sort(all)
		repeats := len(all) - len(slices.Compact(all))
		t.Logf("%-8s %9d ids, %d repeats", generator, len(all), repeats)
		if repeats > 0 || len(all) < leastCalls || all[0] < 1 {
			t.Errorf("%s: %d of %d ids were issued twice, want none of more than %d", generator, repeats, len(all), leastCalls)
		}
	}
	t.Logf("%-20s %9s %8s %12s %10s %10s %10s", "client", "calls", "failed", "availability", "p50", "p99", "max")
	for _, kind := range c.kinds {
		if kind.missing == nil {
			c.report(t, kind.name)
		}
	}
	for _, kind := range c.kinds {
		t.Run(kind.name, func(t *testing.T) { c.tookPart(t, kind) })
	}
}

// report logs what the clients of a kind did.
func (c *crowd) report(t *testing.T, name string) {
	t.Helper()
	var calls, failed int
	var times []time.Duration
	for _, client := range c.clients {
		if client.kind.name == name {
			calls, failed, times = calls+client.calls, failed+client.failed, append(times, client.times...)
		}
	}
	slices.Sort(times)
	at := func(share float64) time.Duration {
		if len(times) == 0 {
			return 0
		}
		return times[int(share*float64(len(times)-1))].Round(time.Microsecond / 10)
	}
	t.Logf("%-20s %9d %8d %11.2f%% %10v %10v %10v", name, calls, failed, 100-100*float64(failed)/float64(calls), at(0.5), at(0.99), at(1))
}

// tookPart fails the test unless each client of a kind has drawn ids.
func (c *crowd) tookPart(t *testing.T, kind kind) {
	if kind.missing != nil {
		need.Skip(t, kind.missing)
	}
	for _, client := range c.clients {
		if client.kind.name == kind.name && len(client.times) == 0 {
			t.Errorf("%s: no call of %d succeeded", client.generator, client.calls)
		}
	}
}
