package uidclient

import (
	"context"
	"errors"
	"time"

	"github.com/uidring/uidring/internal/deal"
)

func (c *Client) refill(ctx context.Context) (*answer, error) {
	for {
		s := c.Stats()
		usage := deal.Usage{Now: time.Now(), Issued: s.Issued, Starved: s.Starved}
		n := min(c.pace.Next(usage), c.allowed.n)
		answer, err := c.fetch(ctx, n)
		if ctx.Err() != nil {
			return nil, ctx.Err() // no failure of the servers
		}
		if errors.Is(err, errTooMany) {
			continue
		}
		if err == nil {
			c.pace.Fetched(usage, n, answer.count)
			c.allowed.answered(n)
		}
		c.note(answer, err)
		return answer, err
	}
}

// note records the result of a fetch for Stats, and logs when fetches begin to fail and when
// they succeed again. It does not log a failure that New returns.
func (c *Client) note(a *answer, err error) {
	if refused, ok := errors.AsType[*deal.Refused](err); ok {
		err = refused.Err
	}
	c.mu.Lock()
	before, began := c.past.LastError, c.loads.Requests > 0
	c.past.LastError = err
	if err == nil {
		c.loads.Requests++
		c.loads.LastSize = c.pace.Size
		c.loads.LoadTime = time.Since(a.sent)
		c.loads.From, c.loads.Instance = c.servers.all[c.servers.at].url, a.Instance
	}
	c.mu.Unlock()
	switch {
	case began && before == nil && err != nil:
		c.config.Logger.Warn("uidclient: cannot fetch ids", "name", c.name, "error", err)
	case began && before != nil && err == nil:
		c.config.Logger.Info("uidclient: fetching ids again", "name", c.name)
	}
}
