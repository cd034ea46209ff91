package segmenttest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/uidring/uidring/uid/segment"
)

// Memory is a [segment.Store] that keeps its counters in memory, for tests. The zero value is
// ready for use. All methods are safe for concurrent use.
type Memory struct {
	mu       sync.Mutex
	counters map[string]segment.CounterInfo
}

// String returns "memory".
func (m *Memory) String() string { return "memory" }

// Reserve implements [segment.Store].
func (m *Memory) Reserve(ctx context.Context, tag string, n int64) (first, count int64, err error) {
	err = m.change(ctx, tag, func(c *segment.CounterInfo) error {
		if n == 0 {
			n = c.Step
		}
		if n < 1 || n > math.MaxInt64-c.Next {
			return fmt.Errorf("%w: %d of %q", segment.ErrUsedUp, n, tag)
		}
		first, count = c.Next, n
		c.Next += n
		return nil
	})
	return first, count, err
}

// Return implements [segment.Returner].
func (m *Memory) Return(ctx context.Context, tag string, first, next int64) (done bool, err error) {
	err = m.change(ctx, tag, func(c *segment.CounterInfo) error {
		if done = c.Next == next; done {
			c.Next = first
		}
		return nil
	})
	return done, err
}

// Create implements [segment.Creator].
func (m *Memory) Create(ctx context.Context, tag string, next, step int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, found := m.counters[tag]; found {
		return fmt.Errorf("%w: %q", segment.ErrTagExists, tag)
	}
	if m.counters == nil {
		m.counters = map[string]segment.CounterInfo{}
	}
	m.counters[tag] = segment.CounterInfo{Tag: tag, Next: next, Step: step, Updated: time.Now()}
	return nil
}

// Raise implements [segment.Raiser].
func (m *Memory) Raise(ctx context.Context, tag string, next int64) (now int64, err error) {
	err = m.change(ctx, tag, func(c *segment.CounterInfo) error {
		c.Next = max(c.Next, next)
		now = c.Next
		return nil
	})
	return now, err
}

// List implements [segment.Lister].
func (m *Memory) List(ctx context.Context) ([]segment.CounterInfo, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var counters []segment.CounterInfo
	for _, c := range m.counters {
		counters = append(counters, c)
	}
	slices.SortFunc(counters, func(a, b segment.CounterInfo) int { return strings.Compare(a.Tag, b.Tag) })
	return counters, ctx.Err()
}

// Set sets a counter to any value, even a lower one, for tests.
func (m *Memory) Set(tag string, next int64) {
	_ = m.change(context.Background(), tag, func(c *segment.CounterInfo) error { c.Next = next; return nil })
}

func (m *Memory) change(ctx context.Context, tag string, f func(*segment.CounterInfo) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	c, found := m.counters[tag]
	if !found {
		return fmt.Errorf("%w: %q", segment.ErrUnknownTag, tag)
	}
	if err := f(&c); err != nil {
		return err
	}
	c.Updated = time.Now()
	m.counters[tag] = c
	return nil
}
