package uidclient

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/padding"
	"github.com/uidring/uidring/ringbuffer"
	"github.com/uidring/uidring/uid"
)

// ringRuns is how many runs the ring of a session holds. Further ones wait.
const ringRuns = 256

// session deals the ids of one instance, which ascend, from a ring. A session ends when
// another instance answers; the next session deals that instance's ids.
type session struct {
	*deal.Dealer
	client   *Client
	instance string                  // empty before the first answer; used by the source
	next     atomic.Pointer[session] // nil until the session ends; written by the source

	// fetcher is nil until the session before has ended, and after this one has. Both sources
	// write it; only this session's source uses the fetcher.
	fetcher atomic.Pointer[fetcher]

	mu   sync.Mutex       // never held during I/O, nor by a taker
	runs []ringbuffer.Run // runs that are not in the ring yet
	half int64            // fetch when so many ids are left
	ages []age            // in ascending order
	old  int64            // ids up to it are too old
}

// age says when ids were fetched: the ids up to last that lie above the earlier age's last.
type age struct {
	last int64
	at   time.Time
}

func (c *Client) newSession() *session {
	s := &session{client: c}
	config := padding.Config{Blocking: true}
	if c.config.MaxAge > 0 {
		config.Stale, config.StaleEvery = s.stale, c.config.MaxAge/8
	}
	s.Dealer, _ = deal.New(s.source, deal.Config{
		Runs:          ringRuns,
		RunLen:        MaxIDs,
		PaddingFactor: 99, // the ring asks whenever it begins to deal a run
		Padding:       config,
		Policy:        deal.PolicyOf("uidclient", c.config.RejectedTake, uid.PolicyHelp),
		Ended:         func() bool { return s.next.Load() != nil },
		Successor:     s.successor,
	}) // it refuses none of these
	return s
}

// successor returns the dealer that takes over a call that failed here, or nil if the
// failure ends the call.
func (s *session) successor(err error) *deal.Dealer {
	next := s.next.Load()
	switch {
	case next == nil || !errors.Is(err, errMoved) && !errors.Is(err, uid.ErrClosed):
		return nil
	case s.Ring().Remaining() > 0: // a run was put meanwhile
		return s.Dealer
	}
	s.client.leave()
	return next.Dealer
}

func (s *session) source(ctx context.Context) (ringbuffer.Run, error) {
	if s.next.Load() != nil {
		return ringbuffer.Run{}, errMoved
	}
	run, due := s.cut()
	fetcher := s.fetcher.Load()
	if run.N > 0 || !due || fetcher == nil {
		return run, nil
	}
	answer, err := fetcher.refill(ctx)
	switch {
	case err != nil:
		return ringbuffer.Run{}, err
	case s.instance != "" && s.instance != answer.Instance:
		return ringbuffer.Run{}, s.end(ctx, answer)
	}
	s.accept(answer)
	run, _ = s.cut()
	return run, nil
}

// end starts the next session, with another instance's answer, and hands the fetcher to it. The
// error is never nil.
func (s *session) end(ctx context.Context, a *answer) error {
	next := s.client.newSession()
	next.accept(a)
	if err := next.Start(ctx, nil); err != nil { // without a fetcher, it puts the answer's runs only
		return err
	}
	if !s.client.add(next) {
		_ = next.Close()
		return uid.ErrClosed
	}
	s.handOver(next)
	s.client.leave()
	return errMoved
}

func (s *session) handOver(next *session) {
	s.next.Store(next)
	next.fetcher.Store(s.fetcher.Swap(nil))
	next.Wake() // next may have run low already, and found that it could not fetch
}

// accept adds the runs of an answer. A run ends where half of the answer is used, so
// that the ring asks there.
func (s *session) accept(a *answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.instance = a.Instance
	s.half = a.count / 2
	left := a.count - s.half // ids until the ring has to ask
	for _, run := range a.runs {
		if 0 < left && left < run.N {
			s.runs = append(s.runs, ringbuffer.Run{First: run.First, N: left})
			run = ringbuffer.Run{First: run.First + left, N: run.N - left}
			left = 0
		}
		left -= run.N
		s.runs = append(s.runs, run)
	}
	maxAge := s.client.config.MaxAge
	switch n := len(s.ages); {
	case maxAge < 0:
	case n > 0 && a.sent.Sub(s.ages[n-1].at) < maxAge/64: // keeps the list short
		s.ages[n-1].last = a.last()
	default:
		s.ages = append(s.ages, age{a.last(), a.sent})
	}
}

// cut returns the next run for the ring, or reports whether a fetch is due.
func (s *session) cut() (run ringbuffer.Run, due bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.runs) > 0 {
		run, s.runs = s.runs[0], s.runs[1:]
		if run.Last() > s.old {
			return run, false
		}
	}
	return ringbuffer.Run{}, s.Ring().Remaining() <= s.half
}

// stale returns the greatest id that would be too old at the next check.
func (s *session) stale() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	oldest := s.client.config.MaxAge - s.client.config.MaxAge/8
	for len(s.ages) > 0 && time.Since(s.ages[0].at) >= oldest {
		s.old, s.ages = s.ages[0].last, s.ages[1:]
	}
	return s.old
}

func (s *session) remaining() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := s.Ring().Remaining()
	for _, run := range s.runs {
		left += run.N
	}
	return left
}
