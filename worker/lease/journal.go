package lease

import (
	"context"
	"sync"
)

// journal writes log lines in order from a goroutine of its own. The keeper does not
// wait for the log handler, so a handler may wait for an id. The goroutine ends when no
// line is left.
type journal struct {
	mu      sync.Mutex
	lines   []func()
	written chan struct{} // closed by the goroutine when it ends; nil while there is none
}

// pending is how many lines may wait. Beyond it, journal discards the oldest line.
const pending = 64

func (j *journal) add(line func()) {
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

func (j *journal) write() {
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

// flush waits until all lines are written, or ctx ends.
func (j *journal) flush(ctx context.Context) {
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
