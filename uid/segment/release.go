package segment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/ringbuffer"
)

// settle is how long closing waits for a load that is under way, so that its range
// can be returned too.
const settle = time.Second

// release returns what is left of the last range, and of those before as far as
// they are adjacent. rest is what was in the ring. The store is asked once: see
// [Returner].
func (l *loader) release(ctx context.Context, rest []ringbuffer.Run) error {
	left := l.shut(ctx, rest)
	store, can := l.store.(Returner)
	if !can || left.next >= left.end {
		return nil
	}
	done, err := store.Return(ctx, l.tag, left.next, left.end)
	if err != nil {
		return fmt.Errorf("segment: return %d ids of %q to %s: %w", left.end-left.next, l.tag, l.store, err)
	}
	if done {
		l.mu.Lock()
		l.returned = left.end - left.next
		l.mu.Unlock()
	}
	return nil
}

// shut has no further run made, and returns which ids at the end of what was loaded
// were not and will not be issued.
func (l *loader) shut(ctx context.Context, rest []ringbuffer.Run) span {
	l.mu.Lock()
	l.closed = true
	running, wake := l.load, l.wake
	l.mu.Unlock()
	if wake != nil {
		wake.Stop()
	}
	if running != nil {
		ctx, cancel := context.WithTimeout(ctx, settle)
		_ = running.wait(ctx, l.config.LoadTimeout)
		cancel()
	}
	l.cancel()

	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.rest // no load can change it any more
	for i := len(rest) - 1; i >= 0; i-- {
		first := l.stripe.count(rest[i].First)
		left = left.after(span{first, first + rest[i].N})
	}
	if !l.ready.empty() {
		left = l.ready.after(left)
	}
	if running != nil && running.finished() {
		switch {
		case errors.Is(running.err, ErrRewound), running.err == nil && running.first < l.last.End:
			l.rewound = true
		case running.err == nil:
			left = span{running.first, running.first + running.count}.after(left)
		}
	}
	if l.rewound {
		return span{} // others hold what this process was given before
	}
	return left
}

// after returns s with the ids of earlier before it, if the two are adjacent.
func (s span) after(earlier span) span {
	switch {
	case s.next == s.end: // nothing: what is before it is all there is
		if earlier.end == s.end {
			return earlier
		}
	case earlier.end == s.next:
		return span{earlier.next, s.end}
	}
	return s
}
