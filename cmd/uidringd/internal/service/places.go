package service

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// over is the context of a call that takes what is ready.
var over, end = context.WithCancel(context.Background())

func init() { end() }

// places counts the requests that wait.
type places struct {
	most  int64
	taken atomic.Int64
}

var errPlaces = errors.New("more requests wait for the generator than its share of limits.waiting")

// wait calls f, which may wait on its context for limit, with a place for the request. If
// there is no place, wait fails at once.
func (p *places) wait(ctx context.Context, name string, limit time.Duration, f func(context.Context) error) error {
	defer p.taken.Add(-1)
	if p.taken.Add(1) > p.most {
		return &Error{
			Kind:   Unavailable,
			Detail: fmt.Sprintf("%d requests wait for ids of generator %q already", p.most, name),
			Retry:  time.Second,
			Cause:  errPlaces,
		}
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return f(ctx)
}
