package uidclient

import "time"

// Stats are the counts and the state of a client. Ids issued meanwhile may be missing.
type Stats struct {
	Name          string        // of the server's generator
	Issued        int64         // ids issued
	Starved       int64         // calls that found no id ready
	RejectedTakes int64         // calls that failed
	Waited        time.Duration // how long calls have waited for an id, all together
	Closed        bool          // no further ids are issued

	Remaining int64 // ids that were fetched and not issued
	Dropped   int64 // ids dropped for their age or by Close
	Orders    int64 // changes of the instance that answers

	Server    string        // the server that answered last
	Instance  string        // the instance in its answer
	Step      int64         // ids of the last answer
	Fetches   int64         // answers with ids
	Failures  int64         // requests that failed
	FetchTime time.Duration // that the last answer took
	LastError error         // why no ids are fetched; nil if they are
}

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
	t.issued += s.Ring.Taken
	t.dropped += s.Ring.Dropped
	t.starved += s.Starved
	t.waited += s.Waited
}

// Stats returns the client's counts and state. It never waits for a server.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	defer c.mu.Unlock()
	sum := c.totals
	s := Stats{
		Name:          c.name,
		RejectedTakes: c.rejected.Load(),
		Closed:        c.closed,
		Orders:        sum.ended + int64(len(c.orders)) - 1,
		Server:        sum.server,
		Instance:      sum.instance,
		Step:          c.pace.Size,
		Fetches:       sum.fetches,
		Failures:      c.failures.Load(),
		FetchTime:     sum.took,
		LastError:     sum.failure,
	}
	if c.left != nil {
		sum.add(c.left)
	}
	for _, o := range c.orders {
		sum.add(o)
		s.Remaining += o.remaining()
	}
	s.Issued, s.Starved, s.Waited, s.Dropped = sum.issued, sum.starved, sum.waited, sum.dropped
	return s
}
