package uidtest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

// WorkerSource gives worker numbers in memory: 1 to the first generator, 2 to the next, and so
// on, each without end. The zero value is ready for use.
type WorkerSource struct {
	mu   sync.Mutex
	last int64
	err  error
	held map[*held]bool
}

// held is a number that a generator has, or has lost.
type held struct {
	of      *WorkerSource
	request lease.Request
}

// Lease implements [uid.WorkerSource].
func (l *WorkerSource) Lease(_ context.Context, request lease.Request) (lease.Lease, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return nil, l.err
	}
	if l.held == nil {
		l.held = map[*held]bool{}
	}
	h := &held{l, request}
	if err := l.give(h); err != nil {
		return nil, err
	}
	l.held[h] = true
	return h, nil
}

// give gives a number that no generator had. The lock is held.
func (l *WorkerSource) give(h *held) error {
	if l.last++; l.last > h.request.Limit {
		return fmt.Errorf("%w: %d were given, which are all of the layout", lease.ErrExhausted, l.last-1)
	}
	h.request.Granted(lease.Grant{Held: true, Number: l.last, Fresh: true})
	return nil
}

// Fail makes further starts fail with err, until Fail is called with nil.
func (l *WorkerSource) Fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

// Lose takes the numbers of all generators away: they fail with [uid.ErrReservation], and
// their error wraps err, such as [lease.ErrLost].
func (l *WorkerSource) Lose(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for h := range l.held {
		h.request.Granted(lease.Grant{Err: err})
	}
}

// Renew gives each generator another number. The error matches [lease.ErrExhausted].
func (l *WorkerSource) Renew() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for h := range l.held {
		if err := l.give(h); err != nil {
			return err
		}
	}
	return nil
}

// String names the WorkerSource in logs.
func (l *WorkerSource) String() string { return "uidtest.WorkerSource" }

// Use implements [lease.Lease]. It does nothing: numbers have no end.
func (*held) Use(_, _ time.Time) {}

// Release implements [lease.Lease].
func (h *held) Release(context.Context, time.Time) error {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	delete(h.of.held, h)
	return nil
}
