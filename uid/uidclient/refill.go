package uidclient

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/internal/deal"
)

const (
	firstIDs = 128 // ids of the first request
	leastIDs = 16  // least ids of a later request
)

// fetcher asks the servers for ids. A client has one fetcher, which moves from session to
// session: only the session that holds the fetcher fetches, so its fields need no lock.
type fetcher struct {
	client  *Client
	servers *servers
	ledger  ledger
	allowed allowance
	pace    deal.Pace
}

func newFetcher(c *Client, urls []string) *fetcher {
	return &fetcher{
		client:  c,
		servers: newServers(urls),
		ledger:  ledger{instances: map[string]standing{}},
		allowed: newAllowance(c.config.MaxIDs),
		pace:    deal.Pace{First: firstIDs, Least: leastIDs, Most: c.config.MaxIDs, Ahead: c.config.Ahead},
	}
}

func (f *fetcher) refill(ctx context.Context) (*answer, error) {
	for {
		s := f.client.Stats()
		usage := deal.Usage{Now: time.Now(), Issued: s.Issued, Starved: s.Starved}
		n := min(f.pace.Next(usage), f.allowed.n)
		answer, err := f.fetch(ctx, n)
		if ctx.Err() != nil {
			return nil, ctx.Err() // no failure of the servers
		}
		if errors.Is(err, errTooMany) {
			continue
		}
		if err == nil {
			f.pace.Fetched(usage, n, answer.count)
			f.allowed.answered(n)
		}
		f.note(answer, err)
		return answer, err
	}
}

// fetch asks one server after another for n ids, until one answers. If a server refuses
// that many, the error is errTooMany.
func (f *fetcher) fetch(ctx context.Context, n int64) (*answer, error) {
	slow := false
	for _, s := range f.servers.available() {
		a, err := f.client.request(ctx, s, n)
		if err == nil {
			err = f.ledger.accept(s, a)
		}
		switch {
		case err == nil:
			f.servers.answered(s)
			return a, nil
		case tooMany(err, n):
			f.allowed.failed(n)
			return nil, errTooMany
		case ctx.Err() != nil: // the client closes: no failure of the server
			return nil, err
		}
		slow = slow || tooSlow(err)
		f.client.failures.Add(1)
		s.failed(err)
	}
	if slow {
		f.allowed.failed(n)
	}
	refused, pause, err := f.servers.failure()
	if refused {
		return nil, &deal.Refused{Err: fmt.Errorf("uidclient: every server refuses %q: %w", f.client.name, err), Retry: pause}
	}
	return nil, &UnavailableError{f.client.name, err, pause}
}

// note records the result of a fetch for Stats, and logs when fetches begin to fail and when
// they succeed again. It does not log a failure that New returns.
func (f *fetcher) note(a *answer, err error) {
	c := f.client
	if refused, ok := errors.AsType[*deal.Refused](err); ok {
		err = refused.Err
	}
	c.mu.Lock()
	before, began := c.past.LastError, c.loads.Requests > 0
	c.past.LastError = err
	if err == nil {
		c.loads.Requests++
		c.loads.LastSize = f.pace.Size
		c.loads.LoadTime = time.Since(a.sent)
		c.loads.From, c.loads.Instance = f.servers.all[f.servers.at].url, a.Instance
	}
	c.mu.Unlock()
	switch {
	case began && before == nil && err != nil:
		c.config.Logger.Warn("uidclient: cannot fetch ids", "name", c.name, "error", err)
	case began && before != nil && err == nil:
		c.config.Logger.Info("uidclient: fetching ids again", "name", c.name)
	}
}
