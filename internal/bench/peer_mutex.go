package bench

import "sync"

// lockedCounter is what most people write first.
type lockedCounter struct {
	mu   sync.Mutex
	last int64
}

func (c *lockedCounter) next() int64 {
	c.mu.Lock()
	c.last++
	id := c.last
	c.mu.Unlock()
	return id
}

var mutexCounter = Impl{
	Name:    "mutex",
	Package: "a counter under a `sync.Mutex`",
	Kind:    Handmade,
	Cap:     "none",
	GivesUp: "no time, no worker, starts again from 0 with the process",
	New: func() (*Instance, error) {
		counter := new(lockedCounter)
		return &Instance{
			Batch: func(n int) (uint64, error) {
				var last uint64
				for range n {
					last = uint64(counter.next())
				}
				return last, nil
			},
			One: func() (any, error) { return counter.next(), nil },
		}, nil
	},
}
