package service

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// patience is the context of a request that may have to wait for ids. The first call of
// Done, Deadline or Err begins the wait: it takes one of the places for requests that
// wait, and the context ends after limit. Without a free place it has ended at once. Most
// requests find their ids ready, call none, and need neither place nor timer.
type patience struct {
	context.Context
	limit  time.Duration
	places *places

	once    sync.Once
	full    atomic.Bool // no place was free
	limited context.Context
	cancel  context.CancelFunc
}

// places counts the requests that wait.
type places struct {
	most  int64
	taken atomic.Int64
}

func (p *patience) begin() context.Context {
	p.once.Do(func() {
		limited, cancel := context.WithTimeout(p.Context, p.limit)
		p.limited, p.cancel = limited, func() { cancel(); p.places.taken.Add(-1) }
		if p.places.taken.Add(1) > p.places.most {
			p.full.Store(true)
			cancel()
		}
	})
	return p.limited
}

func (p *patience) Done() <-chan struct{}       { return p.begin().Done() }
func (p *patience) Deadline() (time.Time, bool) { return p.begin().Deadline() }
func (p *patience) Err() error                  { return p.begin().Err() }

// end ends p, in case somebody still holds it, and frees its place. It is called once.
func (p *patience) end() {
	p.once.Do(func() { p.limited, p.cancel = over, endOver })
	p.cancel()
}

// over takes the place of limited where nobody called Done, Deadline or Err. The first
// call of endOver ends it.
var over, endOver = context.WithCancel(context.Background())
