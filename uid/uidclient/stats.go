package uidclient

import "github.com/uidring/uidring/uid"

func add(sum *uid.Stats, o *session) {
	s := o.Stats()
	sum.Issued += s.Taken
	sum.Dropped += s.Dropped
	sum.Starved += s.Starved
	sum.Waited += s.Waited
	sum.RejectedTakes += s.Rejected
}

// Stats returns the client's counts and state. It never waits for a server.
func (c *Client) Stats() uid.Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, loads := c.past, c.loads
	if c.left != nil {
		add(&sum, c.left)
	}
	for _, o := range c.sessions {
		add(&sum, o)
		sum.Remaining += o.remaining()
	}
	sum.Closed = c.closed
	loads.Failures = c.failures.Load()
	loads.Requests += loads.Failures
	loads.Changes += int64(len(c.sessions)) - 1
	sum.Loads = &loads
	return sum
}
