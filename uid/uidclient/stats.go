package uidclient

import (
	"time"

	"github.com/uidring/uidring/uid"
)

// totals are what Stats says of the orders before the last closed one, and of fetches.
type totals struct {
	issued, starved, dropped, ended int64
	waited                          time.Duration

	fetches          int64
	took             time.Duration
	server, instance string
	failure          error
}

// add adds what an order has done.
func (t *totals) add(o *order) {
	s := o.Stats()
	t.issued += s.Issued
	t.dropped += s.Dropped
	t.starved += s.Starved
	t.waited += s.Waited
}

// Stats returns the client's counts and state. It never waits for a server.
func (c *Client) Stats() uid.Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, remaining := c.totals, int64(0)
	if c.left != nil {
		sum.add(c.left)
	}
	for _, o := range c.orders {
		sum.add(o)
		remaining += o.remaining()
	}
	failures := c.failures.Load()
	return uid.Stats{
		Issued:        sum.issued,
		Starved:       sum.starved,
		RejectedTakes: c.rejected.Load(),
		Waited:        sum.waited,
		Remaining:     remaining,
		Dropped:       sum.dropped,
		Closed:        c.closed,
		LastError:     sum.failure,
		Loads: &uid.LoadStats{
			From:     sum.server,
			Tag:      c.name,
			Instance: sum.instance,
			Changes:  sum.ended + int64(len(c.orders)) - 1,
			Step:     c.pace.Size,
			Loads:    sum.fetches + failures,
			Failures: failures,
			LoadTime: sum.took,
		},
	}
}
