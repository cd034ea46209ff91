package main

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/time/rate"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// generator is what gen needs of either.
type generator interface {
	NextN(ids []uid.ID) (int, error)
	Close() error
}

// stream writes ids as they are made. Whatever it has is written before it waits.
type stream struct {
	made    generator
	bits    bits.Allocator
	lines   *form         // nil is ids alone
	flushes bool          // made waits without a word when a tick's ids are used up
	pace    *rate.Limiter // nil is as fast as may be
	out     *bufio.Writer
	logger  *slog.Logger
	vain    int // attempts in a row that found no time reserved
}

// run writes count ids, or with an error those that were made until then.
func (s *stream) run(ctx context.Context, count int64) (err error) {
	// A tick has a power of two of ids, and so has a batch; hence no batch begins
	// in one tick and, after a wait, ends in the next.
	batch := make([]uid.ID, min(1024, s.bits.MaxSequence()+1))
	var text []byte
	for left := count; left > 0; {
		want := min(left, int64(len(batch)))
		if s.pace != nil {
			want = min(want, int64(s.pace.Burst()))
			if err := s.out.Flush(); err != nil {
				return err
			}
			if err := s.pace.WaitN(ctx, int(want)); err != nil {
				return err
			}
		}
		n, failed := s.made.NextN(batch[:want])
		left -= int64(n)
		text = text[:0]
		for _, id := range batch[:n] {
			if s.lines == nil {
				text = idOnly(text, int64(id))
			} else if text, err = s.lines.append(text, int64(id)); err != nil {
				return err
			}
		}
		if _, err := s.out.Write(text); err != nil {
			return err
		}
		if n > 0 {
			s.vain = 0
		}
		switch {
		case errors.Is(failed, uid.ErrReservation):
			if err := s.wait(ctx, failed); err != nil {
				return err
			}
		case failed != nil:
			return failed
		case s.flushes && n > 0 && int64(batch[n-1])&s.bits.MaxSequence() == s.bits.MaxSequence():
			if err := s.out.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// wait waits while no time is reserved under the leased number: for a database
// that is away, mostly. It says so, but not of the moment that a change of number
// takes, which the Leaser tells about.
func (s *stream) wait(ctx context.Context, cause error) error {
	if err := s.out.Flush(); err != nil {
		return err
	}
	if s.vain++; s.vain == 3 {
		s.logger.Warn("waiting: no time is reserved for the next id; an interrupt ends this", "error", cause)
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(100 * time.Millisecond):
		return nil
	}
}
