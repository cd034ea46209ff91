package gen

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"time"

	"golang.org/x/time/rate"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
)

// generator is what gen needs of either.
type generator interface {
	NextN(ids []uid.ID) (int, error)
	WaitN(ctx context.Context, ids []uid.ID) (int, error)
	Close() error
}

// stream writes ids as they are made. Whatever it has is written before it waits.
type stream struct {
	made     generator
	lines    func(b []byte, id uid.ID) ([]byte, error) // appends an id's line
	sequence int64                                     // the greatest of a tick
	flushes  bool                                      // made waits in NextN when a tick is full
	pace     *rate.Limiter                             // nil is as fast as possible
	out      *bufio.Writer
	logger   *slog.Logger

	left  int64    // ids to make
	batch []uid.ID // room for those that are made at once
	last  uid.ID   // that was made
	text  []byte   // of the lines being written
	vain  int      // waits in a row for a database
}

// run writes count ids, or with an error those that were made until then.
func (s *stream) run(ctx context.Context, count int64) error {
	s.batch, s.left = make([]uid.ID, 1024), count
	s.last = uid.ID(s.sequence) // as if a tick were full
	for s.left > 0 {
		want := min(s.left, int64(len(s.batch)))
		if s.flushes {
			room := s.sequence - int64(s.last)&s.sequence // of the last id's tick, or of one that follows
			if room == 0 {
				if err := s.out.Flush(); err != nil {
					return err
				}
			}
			want = min(want, max(1, room))
		}
		if s.pace != nil {
			want = min(want, int64(s.pace.Burst()))
			if err := s.out.Flush(); err != nil {
				return err
			}
			if err := s.pace.WaitN(ctx, int(want)); err != nil {
				return err
			}
		}
		err := s.took(s.made.NextN(s.batch[:want]))
		if refused(err) {
			err = s.took(s.wait(ctx, err))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// took writes the first n ids of the batch. It returns err if that works.
func (s *stream) took(n int, err error) error {
	if n == 0 {
		return err
	}
	s.left, s.last, s.vain = s.left-int64(n), s.batch[n-1], 0
	s.text = s.text[:0]
	for _, id := range s.batch[:n] {
		var failed error
		if s.text, failed = s.lines(s.text, id); failed != nil {
			return failed
		}
	}
	if _, failed := s.out.Write(s.text); failed != nil {
		return failed
	}
	return err
}

// helpOnly is a policy for an empty ring: the generator refills it, and does not wait
// for the clock or the database. [stream.wait] does, after a flush.
func helpOnly(r uid.Refusal) error {
	if errors.Is(r.Err, uid.ErrRingEmpty) {
		return nil
	}
	return r.Err
}

// refused reports whether there may be ids later.
func refused(err error) bool {
	return errors.Is(err, uid.ErrBorrowLimit) || errors.Is(err, uid.ErrReservation) ||
		errors.Is(err, uid.ErrRingEmpty) || errors.Is(err, segment.ErrUnavailable)
}

// wait flushes, and waits for an id for a tenth of a second. If no time is reserved, it
// logs a warning on the third wait in a row: a change of number takes less.
func (s *stream) wait(ctx context.Context, cause error) (int, error) {
	if err := s.out.Flush(); err != nil {
		return 0, err
	}
	if errors.Is(cause, uid.ErrReservation) {
		if s.vain++; s.vain == 3 {
			s.logger.Warn("waiting: no time is reserved for the next id; an interrupt ends gen", "error", cause)
		}
	}
	limited, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	n, err := s.made.WaitN(limited, s.batch[:1])
	if limited.Err() != nil && ctx.Err() == nil || refused(err) {
		err = nil // try again
	}
	return n, err
}
