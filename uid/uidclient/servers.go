package uidclient

import (
	"errors"
	"math/rand/v2"
	"slices"
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

// servers chooses the server of each request. Only a fetcher uses it.
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

// available returns the servers in the order in which to ask them, beginning with the
// last that answered.
func (s *servers) available() (list []*server) {
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
