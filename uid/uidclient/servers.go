package uidclient

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// server is a URL, and why the client does not ask it.
type server struct {
	url   string // of requests
	pause *backoff.ExponentialBackOff
	err   error // why the client does not ask before until; nil once the server has answered
	until time.Time
}

// servers chooses the server of each request. One goroutine at a time uses it.
type servers struct {
	all []*server
	at  int // index of the server that answered last
}

// randomly chooses the server to begin with. Tests replace it.
var randomly = rand.IntN

func newServers(urls []string) *servers {
	s := &servers{at: randomly(len(urls))}
	for _, url := range urls {
		pause := backoff.NewExponentialBackOff()
		pause.InitialInterval, pause.MaxInterval = 100*time.Millisecond, 10*time.Second
		s.all = append(s.all, &server{url: url, pause: pause})
	}
	return s
}

// turn returns the servers in the order in which to ask them, beginning with the
// last that answered.
func (s *servers) turn() (list []*server) {
	now := time.Now()
	for i := range s.all {
		if next := s.all[(s.at+i)%len(s.all)]; !now.Before(next.until) {
			list = append(list, next)
		}
	}
	if len(s.all) == 1 { // ask it twice: another connection may lead to another server
		list = append(list, list...)
	}
	return list
}

// answered notes that a server answered.
func (s *servers) answered(by *server) {
	s.at = slices.Index(s.all, by)
	by.err, by.until = nil, time.Time{}
	by.pause.Reset()
}

func (s *server) failed(err error) {
	pause := s.pause.NextBackOff()
	if status, ok := errors.AsType[*StatusError](err); ok {
		pause = max(pause, status.retry)
	}
	s.err, s.until = err, time.Now().Add(pause)
}

// failure returns why no server has answered, and how long to wait before asking again.
func (s *servers) failure() (refused bool, pause time.Duration, err error) {
	var list serverErrors
	refused = true
	for _, server := range s.all {
		if left := time.Until(server.until); len(list) == 0 || left < pause {
			pause = left
		}
		list = append(list, server.err)
		refused = refused && refuses(server.err)
	}
	return refused, max(pause, time.Millisecond), list
}

// reply is the result of a request.
type reply struct {
	from   *server
	answer *answer
	err    error
}

// fetch asks one server after another for n ids, until one answers. If a server refuses
// that many, the error is errTooMany. When fetch returns, no request is under way.
func (c *Client) fetch(ctx context.Context, n int64) (*answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	var requests sync.WaitGroup
	defer requests.Wait()
	defer cancel() // the requests that are not needed any more

	turn, pending, slow := c.servers.turn(), 0, false
	replies := make(chan reply, len(turn))
	hedge := time.NewTimer(c.config.Hedge)
	defer hedge.Stop()
	send := func() {
		if len(turn) == 0 {
			return
		}
		s := turn[0]
		turn = turn[1:]
		pending++
		requests.Go(func() {
			a, err := c.request(ctx, s, n)
			replies <- reply{s, a, err}
		})
		hedge.Reset(c.config.Hedge)
	}
	for send(); pending > 0; {
		select {
		case r := <-replies:
			pending--
			if r.err == nil {
				r.err = c.judge.accept(r.from, r.answer)
			}
			switch {
			case r.err == nil:
				c.servers.answered(r.from)
				return r.answer, nil
			case tooMany(r.err, n):
				c.allowed.failed(n)
				return nil, errTooMany
			case ctx.Err() != nil:
				return nil, r.err
			}
			slow = slow || tooSlow(r.err)
			c.failures.Add(1)
			r.from.failed(r.err)
			send()
		case <-hedge.C:
			send()
		}
	}
	if slow {
		c.allowed.failed(n)
	}
	refused, pause, err := c.servers.failure()
	if refused {
		c.wakeAfter(pause)
		return nil, fmt.Errorf("uidclient: every server refuses %q: %w", c.name, err)
	}
	return nil, &UnavailableError{c.name, err, pause}
}
