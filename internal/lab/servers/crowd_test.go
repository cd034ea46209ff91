//go:build linux

package servers

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/uid"
)

// crowd is the clients: one of each kind for each generator.
type crowd struct {
	timeout time.Duration // of a call
	clients []*client
	drawing sync.WaitGroup
	stop    chan struct{}
	calm    bool // no call may fail
}

// client draws, and keeps what it got.
type client struct {
	kind, generator string
	draw            draw

	ids           []uid.ID
	calls, failed int
}

const (
	leastCalls = 200 // of a client
	mostIDs    = 100 // of a call
)

// newCrowd has clients draw until stop is closed, and each of them leastCalls times.
func newCrowd(t *testing.T, balancer string, servers []string, timeout time.Duration, calm bool) *crowd {
	t.Helper()
	c := &crowd{timeout: timeout, stop: make(chan struct{}), calm: calm}
	for _, generator := range generators {
		for kind, draw := range open(t, balancer, servers, generator, timeout) {
			c.clients = append(c.clients, &client{kind: kind, generator: generator, draw: draw})
		}
	}
	for _, client := range c.clients {
		c.drawing.Go(func() { client.run(t, c) })
	}
	return c
}

func (c *client) run(t *testing.T, crowd *crowd) {
	for stopped := false; !stopped || c.calls < leastCalls; {
		n := 1
		if c.calls%10 == 0 {
			n += rand.IntN(mostIDs)
		}
		if err := c.call(crowd.timeout, n); err != nil && crowd.calm {
			t.Errorf("%s, %s: %v", c.kind, c.generator, err)
		}
		select {
		case <-crowd.stop:
			stopped = true
		case <-time.After(time.Millisecond):
		}
	}
}

// call draws n ids.
func (c *client) call(timeout time.Duration, n int) error {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	ids, err := c.draw(ctx, n)
	c.ids = append(c.ids, ids...)
	if err == nil && len(ids) != n {
		err = fmt.Errorf("%d ids, want %d", len(ids), n)
	}
	if c.calls++; err != nil {
		c.failed++
	}
	return err
}

// end stops the clients, each of which then draws once more. It fails the test if an id was issued
// twice.
func (c *crowd) end(t *testing.T) {
	t.Helper()
	close(c.stop)
	c.drawing.Wait()
	all := map[string][]uid.ID{} // by generator
	for _, client := range c.clients {
		deadline := time.Now().Add(time.Minute)
		for err := client.call(c.timeout, 1); err != nil; err = client.call(c.timeout, 1) {
			if time.Now().After(deadline) {
				t.Errorf("%s, %s: %v, a minute after all servers are back", client.kind, client.generator, err)
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Logf("%-20s %-8s %9d calls, %d failed", client.kind, client.generator, client.calls, client.failed)
		all[client.generator] = append(all[client.generator], client.ids...)
	}
	for generator, ids := range all {
		slices.Sort(ids)
		repeats := len(ids) - len(slices.Compact(slices.Clone(ids)))
		t.Logf("%-8s %9d ids, %d repeats", generator, len(ids), repeats)
		if repeats > 0 || len(ids) < leastCalls || ids[0] < 1 {
			t.Errorf("%s: %d of %d ids were issued twice, want none of more than %d", generator, repeats, len(ids), leastCalls)
		}
	}
}
