package service

import (
	"context"
	"sync"
	"time"
)

// patience is a context that ends when wait has passed since the first call of Done,
// Deadline or Err. Most requests find their ids ready, call none, and cost no timer.
type patience struct {
	context.Context
	wait time.Duration

	once    sync.Once
	limited context.Context
	cancel  context.CancelFunc
}

func (p *patience) begin() context.Context {
	p.once.Do(func() { p.limited, p.cancel = context.WithTimeout(p.Context, p.wait) })
	return p.limited
}

func (p *patience) Done() <-chan struct{}       { return p.begin().Done() }
func (p *patience) Deadline() (time.Time, bool) { return p.begin().Deadline() }
func (p *patience) Err() error                  { return p.begin().Err() }

// end ends p, in case somebody still holds it.
func (p *patience) end() {
	p.once.Do(func() { p.limited, p.cancel = over, endOver })
	p.cancel()
}

// over takes the place of limited where nobody called Done, Deadline or Err. The first
// call of endOver ends it.
var over, endOver = context.WithCancel(context.Background())
