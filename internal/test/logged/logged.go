// Package logged keeps what tests log.
package logged

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
)

// Text is a writer that keeps what is written. It is safe for concurrent use. The zero
// Text is empty.
type Text struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Logger returns a logger that writes to t.
func (t *Text) Logger() *slog.Logger { return slog.New(slog.NewTextHandler(t, nil)) }

// Write implements io.Writer.
func (t *Text) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.Write(p)
}

// String returns all that was written.
func (t *Text) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

// Reset discards all that was written.
func (t *Text) Reset() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Reset()
}

// Count returns how many lines contain all the parts.
func (t *Text) Count(parts ...string) (n int) {
next:
	for line := range strings.Lines(t.String()) {
		for _, part := range parts {
			if !strings.Contains(line, part) {
				continue next
			}
		}
		n++
	}
	return n
}
