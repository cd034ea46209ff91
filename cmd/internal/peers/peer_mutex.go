package main

import (
	"sync"

	"github.com/uidring/uidring/cmd/internal/bench"
)

// lockedCounter is the generator that most people write first.
type lockedCounter struct {
	mu   sync.Mutex
	last uint64
}

func (c *lockedCounter) next() uint64 {
	c.mu.Lock()
	c.last++
	id := c.last
	c.mu.Unlock()
	return id
}

var mutexCounter = impl{
	Subject: bench.Subject{Name: "mutex", Open: func() (*bench.Instance, error) {
		counter := new(lockedCounter)
		return &bench.Instance{Loop: func(n int) (uint64, error) {
			return bench.Repeat(n, func() (uint64, error) { return counter.next(), nil })
		}}, nil
	}},
	Package: "a counter under a `sync.Mutex`",
	Scales:  true,
	Kind:    handmade,
	Cap:     "none",
	GivesUp: "no time, no worker, starts again from 0 with the process",
}
