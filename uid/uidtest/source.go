package uidtest

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/uidring/uidring/worker/lease"
)

// WorkerSource gives out worker numbers in memory: 1 to the first generator, 2 to the next, and
// so on, each without a time limit. The zero value is ready for use.
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
func (s *WorkerSource) Lease(_ context.Context, request lease.Request) (lease.Lease, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return nil, s.err
	}
	if s.held == nil {
		s.held = map[*held]bool{}
	}
	h := &held{s, request}
	if err := s.give(h); err != nil {
		return nil, err
	}
	s.held[h] = true
	return h, nil
}

// give gives a number that no generator had. The lock is held.
func (s *WorkerSource) give(h *held) error {
	if s.last++; s.last > h.request.Limit {
		return fmt.Errorf("%w: all %d numbers of the layout have been given out", lease.ErrExhausted, s.last-1)
	}
	h.request.Granted(lease.Grant{Held: true, Number: s.last, Fresh: true})
	return nil
}

// Fail makes calls to Lease fail with err, until Fail is called with nil.
func (s *WorkerSource) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// Lose withdraws the numbers of all generators: they fail with [uid.ErrReservation], and the
// error wraps err, such as [lease.ErrLost].
func (s *WorkerSource) Lose(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.held {
		h.request.Granted(lease.Grant{Err: err})
	}
}

// Replace gives each generator an unused number, in place of the one that it holds or has lost.
// If the layout has no numbers left, the error matches [lease.ErrExhausted].
func (s *WorkerSource) Replace() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range s.held {
		if err := s.give(h); err != nil {
			return err
		}
	}
	return nil
}

// String returns the name of the WorkerSource, for logs.
func (s *WorkerSource) String() string { return "uidtest.WorkerSource" }

// Use implements [lease.Lease]. It does nothing: numbers have no end.
func (*held) Use(_, _ time.Time) {}

// Release implements [lease.Lease].
func (h *held) Release(context.Context, time.Time) error {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	delete(h.of.held, h)
	return nil
}
