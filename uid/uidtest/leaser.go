package uidtest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

// Leaser gives worker numbers in memory: 1 to the first generator, 2 to the next, and so
// on, each without end. The zero value is ready for use.
type Leaser struct {
	mu   sync.Mutex
	last int64
	err  error
	held map[*held]bool
}

// held is a number that a generator has, or has lost.
type held struct {
	of      *Leaser
	request lease.Request
}

// Lease implements [uid.Leaser].
func (l *Leaser) Lease(_ context.Context, request lease.Request) (lease.Lease, error) {
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
func (l *Leaser) give(h *held) error {
	if l.last++; l.last > h.request.Limit {
		return fmt.Errorf("%w: %d were given, which are all of the layout", lease.ErrExhausted, l.last-1)
	}
	h.request.Granted(lease.Grant{Held: true, Number: l.last, Fresh: true})
	return nil
}

// Fail makes further starts fail with err, until Fail is called with nil.
func (l *Leaser) Fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

// Lose takes the numbers of all generators away: they fail with [uid.ErrReservation], and
// their error wraps err, such as [lease.ErrLost].
func (l *Leaser) Lose(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for h := range l.held {
		h.request.Granted(lease.Grant{Err: err})
	}
}

// Renew gives each generator another number. The error matches [lease.ErrExhausted].
func (l *Leaser) Renew() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for h := range l.held {
		if err := l.give(h); err != nil {
			return err
		}
	}
	return nil
}

// String names the Leaser in logs.
func (l *Leaser) String() string { return "uidtest.Leaser" }

// Use implements [lease.Lease]. It does nothing: numbers have no end.
func (*held) Use(_, _ time.Time) {}

// Release implements [lease.Lease].
func (h *held) Release(context.Context, time.Time) error {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	delete(h.of.held, h)
	return nil
}
