package uidclient

import (
	"context"
	"errors"
	"time"

	"github.com/uidring/uidring/internal/pace"
)

// refill fetches as many ids as are due.
func (c *Client) refill(ctx context.Context) (*answer, error) {
	for {
		usage, n := c.size()
		answer, err := c.fetch(ctx, n)
		if ctx.Err() != nil {
			return nil, ctx.Err() // no failure of the servers
		}
		if errors.Is(err, errTooMany) {
			continue
		}
		c.note(usage, n, answer, err)
		return answer, err
	}
}

// size returns how many ids to ask for.
func (c *Client) size() (pace.Usage, int64) {
	s := c.Stats()
	c.mu.Lock()
	defer c.mu.Unlock()
	usage := pace.Usage{Now: time.Now(), Issued: s.Issued, Starved: s.Starved}
	return usage, min(c.pace.Next(usage), c.allowed.n)
}

// fewer notes that a server may answer a request for fewer than asked ids.
func (c *Client) fewer(asked int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.allowed.failed(asked)
}

// note records the result of a fetch, and logs when fetches begin to fail and when
// they succeed again. It does not log a failure that New returns.
func (c *Client) note(usage pace.Usage, asked int64, a *answer, err error) {
	c.mu.Lock()
	before, began := c.failure, c.pace.Size > 0
	c.failure = err
	if err == nil {
		c.fetches++
		c.pace.Fetched(usage, asked, a.count)
		c.allowed.answered(asked)
		c.took = time.Since(a.sent)
		c.server, c.instance = c.servers.all[c.servers.at].url, a.Instance
	}
	c.mu.Unlock()
	switch {
	case began && before == nil && err != nil:
		c.config.Logger.Warn("uidclient: no ids are fetched", "name", c.name, "error", err)
	case began && before != nil && err == nil:
		c.config.Logger.Info("uidclient: ids are fetched again", "name", c.name)
	}
}

// wakeAfter asks the servers again after a pause. Without it, a refusal would end fetching
// for good.
func (c *Client) wakeAfter(pause time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.closed:
	case c.wake == nil:
		c.wake = time.AfterFunc(pause, c.wakeLast)
	default:
		c.wake.Reset(pause)
	}
}

func (c *Client) wakeLast() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.orders[len(c.orders)-1].Wake()
}
