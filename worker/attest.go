package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// Response is what is done when the row of a number is no longer what its start
// wrote.
type Response int

// The responses.
const (
	// LogOnly says so in the log, once, and goes on.
	LogOnly Response = iota

	// StopIssuing has the generator make no further ids: Next fails with an error
	// that matches ErrRewound.
	StopIssuing

	// Reregister stops, waits for one interval, so that whoever else runs under a
	// number that the table has forgotten can find out too, then registers anew
	// and goes on under the number that it gets.
	Reregister
)

// Attested is a Registry whose rows are looked at again while their numbers are in
// use. Make one with Attest.
type Attested struct {
	*Registry
	every time.Duration
	then  Response
}

// Attest has generators look at their row in registry's table again and again,
// every so often from a second up, and respond when it is gone or not what their
// start wrote: then the table was restored from an old copy, or edited, and may
// give numbers that are in use.
//
// It bounds how long that goes unnoticed, and cannot make it safe: a start after
// the restore may get the number of a process that has not looked yet, or of one
// that has stamped ids ahead of the clock and stopped. A database that does not
// answer is no evidence, and ids go on.
func Attest(registry *Registry, every time.Duration, then Response) *Attested {
	return &Attested{registry, every, then}
}

// Lease registers as Assign does and starts to look. What is granted has no end,
// until the row is found wrong. ctx bounds the start only.
func (a *Attested) Lease(ctx context.Context, limit int64, _ func() time.Time,
	granted func(number int64, from, until time.Time, err error)) (Lease, error) {
	if a.Registry == nil {
		return nil, errors.New("worker: Attest: the registry is nil")
	}
	if a.every < time.Second {
		return nil, fmt.Errorf("worker: Attest: every is %v, want %v or more", a.every, time.Second)
	}
	if a.then < LogOnly || a.then > Reregister {
		return nil, fmt.Errorf("worker: Attest: response is %d, want LogOnly, StopIssuing or Reregister", a.then)
	}
	e, err := a.register(ctx, limit)
	if err != nil {
		return nil, err
	}
	granted(e.number, time.Time{}, time.Time{}, nil)
	running, stop := context.WithCancel(context.Background())
	w := &witness{Attested: a, limit: limit, granted: granted, stop: stop}
	w.done.Go(func() { w.run(running, e) })
	return w, nil
}

// witness looks at one row.
type witness struct {
	*Attested
	limit   int64
	granted func(number int64, from, until time.Time, err error)
	stop    context.CancelFunc
	done    sync.WaitGroup
}

// Use implements Lease: there is nothing to reserve.
func (w *witness) Use(_, _ time.Time) {}

// Release implements Lease: it ends the looking. The number is used up.
func (w *witness) Release(context.Context, time.Time) error {
	w.stop()
	w.done.Wait()
	return nil
}

func (w *witness) run(ctx context.Context, e evidence) {
	ticker := time.NewTicker(w.every)
	defer ticker.Stop()
	var failed error
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		err := w.look(ctx, e)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, ErrRewound):
			w.log().Error("worker: the number may be given again", "number", e.number, "table", w.name, "error", err)
			if e, err = w.respond(ctx, e, err); err != nil {
				return
			}
		case err != nil && failed == nil:
			w.log().Warn("worker: cannot look at the number's row; ids go on", "number", e.number, "table", w.name, "error", err)
		}
		failed = err
	}
}

// look reads the row. An error that matches ErrRewound is evidence; any other is
// none.
func (w *witness) look(ctx context.Context, e evidence) error {
	created, err := w.confirm(ctx, e.number, e.node)
	switch {
	case err != nil && !errors.Is(err, ErrKey):
		return err
	case err != nil:
		return fmt.Errorf("%w: number %d: %w", ErrRewound, e.number, err)
	case !created.Equal(e.created):
		return fmt.Errorf("%w: number %d: its row was created at %s, want %s", ErrRewound, e.number, created, e.created)
	}
	return nil
}

// respond does what was asked for. It returns what to look at from then on, or an
// error if there is nothing more to look at.
func (w *witness) respond(ctx context.Context, e evidence, found error) (evidence, error) {
	if w.then == LogOnly {
		return e, found
	}
	w.granted(-1, time.Time{}, time.Time{}, found)
	if w.then == StopIssuing {
		return e, found
	}
	select {
	case <-ctx.Done():
		return e, ctx.Err()
	case <-time.After(w.every):
	}
	e, err := backoff.Retry(ctx, func() (evidence, error) {
		e, err := w.register(ctx, w.limit)
		if errors.Is(err, ErrExhausted) {
			err = backoff.Permanent(err)
		}
		return e, err
	}, backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, _ time.Duration) {
		w.granted(-1, time.Time{}, time.Time{}, err)
	}))
	if err != nil {
		w.granted(-1, time.Time{}, time.Time{}, err)
		return e, err
	}
	w.granted(e.number, time.Time{}, time.Time{}, nil)
	w.log().Log(ctx, slog.LevelInfo, "worker: registered anew", "number", e.number, "table", w.name)
	return e, nil
}
