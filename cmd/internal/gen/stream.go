package gen

import (
	"bufio"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/uidring/uidring/uid"
)

// stream writes ids as they are made. Whatever it has is written before it waits.
type stream struct {
	made   uid.Generator
	lines  func(b []byte, id uid.ID) ([]byte, error) // appends an id's line
	out    *bufio.Writer
	logger *slog.Logger
	shown  *progressbar.ProgressBar
}

// batch is how many ids are written at once, at most.
const batch = 1024

// run writes count ids, or with an error those that were made until then.
func (s *stream) run(ctx context.Context, count int64) error {
	var text []byte
	began := time.Now()
	defer func() {
		if s.shown.State().CurrentNum > 0 {
			_ = s.shown.Finish()
		}
	}()
	for left := count; left > 0; {
		run, err := s.claim(ctx, min(left, batch))
		if err != nil {
			return err
		}
		text = text[:0]
		for id := run.First; id < run.First+uid.ID(run.N); id++ {
			if text, err = s.lines(text, id); err != nil {
				return err
			}
		}
		if _, err := s.out.Write(text); err != nil {
			return err
		}
		if left -= run.N; time.Since(began) > time.Second { // before, a bar would only flicker
			_ = s.shown.Set64(count - left)
		}
	}
	return nil
}

// patience is how long a wait lasts before it is reported: a change of the worker number
// takes less.
const patience = 300 * time.Millisecond

// claim returns the ids that are ready. If there are none, it flushes and waits.
func (s *stream) claim(ctx context.Context, limit int64) (uid.Run, error) {
	run, err := s.made.TryClaim(limit)
	if !errors.Is(err, uid.ErrNotReady) {
		return run, err
	}
	if err := s.out.Flush(); err != nil {
		return uid.Run{}, err
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if run, err = s.made.Claim(limited, limit); !errors.Is(err, context.DeadlineExceeded) {
		return run, err
	}
	if err := s.made.Stats().LastError; err != nil && !errors.Is(err, uid.ErrBorrowLimit) {
		s.logger.Warn("waiting: no id can be generated now; an interrupt stops gen", "error", err)
	}
	return s.made.Claim(ctx, limit)
}
