// Package journal writes log lines for code that must not wait for the log handler.
package journal

import (
	"context"
	"sync"
)

// Journal writes log lines in order from a goroutine of its own. Whoever adds a line does
// not wait for the log handler, so a handler may wait for an id. The goroutine ends when
// no line is left. The zero Journal is ready for use.
type Journal struct {
	mu      sync.Mutex
	lines   []func()
	written chan struct{} // closed by the goroutine when it ends; nil while there is none
}

// pending is how many lines may wait. Beyond it, Add discards the oldest line.
const pending = 64

// Add has line called, after the lines before it.
func (j *Journal) Add(line func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.lines = append(j.lines, line); len(j.lines) > pending {
		j.lines = j.lines[1:]
	}
	if j.written == nil {
		j.written = make(chan struct{})
		go j.write()
	}
}

func (j *Journal) write() {
	for {
		j.mu.Lock()
		if len(j.lines) == 0 {
			close(j.written)
			j.written = nil
			j.mu.Unlock()
			return
		}
		line := j.lines[0]
		j.lines = j.lines[1:]
		j.mu.Unlock()
		line()
	}
}

// Flush waits until all lines are written, or ctx ends.
func (j *Journal) Flush(ctx context.Context) {
	j.mu.Lock()
	written := j.written
	j.mu.Unlock()
	if written == nil {
		return
	}
	select {
	case <-written:
	case <-ctx.Done():
	}
}
