package service

import (
	"context"
	"sync"
	"time"
)

// patience is a context that ends a time after it is first asked for its end. Most
// requests find their ids ready and never ask: they pay for no timer.
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

// end ends p, for whoever still holds it.
func (p *patience) end() {
	p.once.Do(func() { p.limited, p.cancel = over, endOver })
	p.cancel()
}

// over is the end of each context that nobody asked for its end: the first call of
// endOver ends it.
var over, endOver = context.WithCancel(context.Background())
