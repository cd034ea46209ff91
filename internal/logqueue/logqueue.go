// Package logqueue writes log lines for code that must not wait for the log handler.
package logqueue

import (
	"context"
	"sync"
)

// Queue writes log lines in order from a goroutine of its own. Whoever adds a line does
// not wait for the log handler, so a handler may wait for an id. The goroutine ends when
// no line is left. The zero Queue is ready for use.
type Queue struct {
	mu      sync.Mutex
	lines   []func()
	written chan struct{} // closed by the goroutine when it ends; nil while there is none
}

// pending is how many lines may wait. Beyond it, Add discards the oldest line.
const pending = 64

// Add has line called, after the lines before it.
func (q *Queue) Add(line func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.lines = append(q.lines, line); len(q.lines) > pending {
		q.lines = q.lines[1:]
	}
	if q.written == nil {
		q.written = make(chan struct{})
		go q.write()
	}
}

func (q *Queue) write() {
	for {
		q.mu.Lock()
		if len(q.lines) == 0 {
			close(q.written)
			q.written = nil
			q.mu.Unlock()
			return
		}
		line := q.lines[0]
		q.lines = q.lines[1:]
		q.mu.Unlock()
		line()
	}
}

// Flush waits until all lines are written, or ctx ends.
func (q *Queue) Flush(ctx context.Context) {
	q.mu.Lock()
	written := q.written
	q.mu.Unlock()
	if written == nil {
		return
	}
	select {
	case <-written:
	case <-ctx.Done():
	}
}
