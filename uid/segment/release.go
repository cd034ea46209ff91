package segment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// closeWait is how long release waits for a load, to return its range too.
const closeWait = time.Second

// release returns the unused end of the last range to the store, and earlier unused ids that are
// adjacent. rest are the runs that were in the ring. release calls Return once: see [Returner].
// It returns when ctx is done, whatever the store does.
func (l *loader) release(ctx context.Context, rest []ringbuffer.Run) error {
	defer l.journal.Flush(ctx)
	left := l.shut(ctx, rest)
	store, can := l.store.(Returner)
	if !can || left.next >= left.end {
		return nil
	}
	done, err := calls.Await(ctx, "segment", "Store.Return", func() (bool, error) {
		return store.Return(ctx, l.tag, left.next, left.end)
	})
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

// shut stops the source, and returns the ids at the end of the loaded ranges that
// were not issued and will not be.
func (l *loader) shut(ctx context.Context, rest []ringbuffer.Run) span {
	l.mu.Lock()
	l.closed = true
	running, wake := l.load, l.wake
	l.mu.Unlock()
	if wake != nil {
		wake.Stop()
	}
	if running != nil {
		ctx, cancel := context.WithTimeout(ctx, closeWait)
		_ = running.wait(ctx)
		cancel()
	}
	l.cancel()

	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.rest // no load can change it any more
	for _, run := range slices.Backward(rest) {
		first := l.stripe.count(run.First)
		left = left.after(span{first, first + run.N})
	}
	if !l.ready.empty() {
		left = l.ready.after(left)
	}
	if running != nil && running.Done() {
		if errors.Is(running.Err, uid.ErrRewound) {
			l.rewound = true
		} else if running.Err == nil {
			left = running.Value.after(left)
		}
	}
	if l.rewound {
		return span{} // other processes may hold ids of these ranges
	}
	return left
}

// after returns s with the ids of earlier before it, if the two are adjacent.
func (s span) after(earlier span) span {
	switch {
	case s.next == s.end: // s is empty
		if earlier.end == s.end {
			return earlier
		}
	case earlier.end == s.next:
		return span{earlier.next, s.end}
	}
	return s
}
