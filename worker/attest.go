package worker

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/worker/lease"
)

// Response says what a generator does when its row is gone or changed.
type Response int

// The responses.
const (
	// ResponseLogOnly logs an error once; the generator continues.
	ResponseLogOnly Response = iota

	// ResponseStopIssuing stops the generator: Next fails with an error that
	// matches lease.ErrRewound.
	ResponseStopIssuing

	// ResponseReregister stops the generator, and waits for one interval, so that
	// other processes find their rows gone too. Then it registers again, and the
	// generator continues under the new number.
	ResponseReregister
)

// Attested is a Registry that checks rows again while their numbers are in use. See Attest.
type Attested struct {
	registry *Registry
	every    time.Duration
	then     Response
}

// Attest makes generators check their row in registry's table at the interval every,
// a second or more. If the row is gone or changed, they carry out then: the table was
// restored from an old copy, or edited, and may give numbers that are in use.
//
// Attest bounds how long that goes unnoticed, but ids can still repeat. A process that
// starts after the restore may get a number in use before the next check. It may also
// get the number of a stopped process that had stamped ids ahead of the clock. While
// the database does not answer, generators continue. Attest logs to the registry's
// logger. Lease reports wrong arguments, in an error that matches lease.ErrConfig.
func Attest(registry *Registry, every time.Duration, then Response) *Attested {
	return &Attested{registry, every, then}
}

// String names the table, for logs.
func (a *Attested) String() string { return a.registry.String() }

// Lease registers as Assign does and starts the checks. ctx bounds the start only.
func (a *Attested) Lease(ctx context.Context, request lease.Request) (lease.Lease, error) {
	faults := invalid.Of("worker", lease.ErrConfig)
	if a.registry == nil {
		faults.Add("registry", "nil", "one of NewRegistry")
	}
	if a.every < time.Second {
		faults.Add("every", a.every, "1s or more")
	}
	if a.then < ResponseLogOnly || a.then > ResponseReregister {
		faults.Add("then", int(a.then), "ResponseLogOnly, ResponseStopIssuing or ResponseReregister")
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	e, err := a.registry.register(ctx, request)
	if err != nil {
		return nil, err
	}
	request.Granted(e.grant())
	running, stop := context.WithCancel(context.Background())
	w := &witness{Registry: a.registry, every: a.every, then: a.then, request: request, stop: stop, done: make(chan struct{})}
	go w.run(running, e)
	return w, nil
}

type witness struct {
	*Registry
	every   time.Duration
	then    Response
	request lease.Request
	stop    context.CancelFunc
	done    chan struct{} // closed when run has ended
}

// Use implements lease.Lease: there is nothing to reserve.
func (w *witness) Use(_, _ time.Time) {}

// Release ends the checks. If ctx ends first, a check goes on until the database's client
// returns, and grants nothing.
func (w *witness) Release(ctx context.Context, _ time.Time) error {
	w.stop()
	select {
	case <-w.done:
	case <-ctx.Done():
	}
	return nil
}

func (w *witness) grant(ctx context.Context, g lease.Grant) {
	if ctx.Err() == nil {
		w.request.Granted(g)
	}
}

// wait waits for one interval, unless Release was called.
func (w *witness) wait(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(w.every):
		return true
	}
}

func (w *witness) run(ctx context.Context, e evidence) {
	defer close(w.done)
	var failed error
	for w.wait(ctx) {
		err := w.look(ctx, e)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, lease.ErrRewound):
			w.log().Error("worker: the number may be given again", "number", e.number, "table", w.name, "error", err)
			if e, err = w.respond(ctx, e, err); err != nil {
				return
			}
		case err != nil && failed == nil:
			w.log().Warn("worker: cannot read the number's row; ids continue", "number", e.number, "table", w.name, "error", err)
		}
		failed = err
	}
}

// look reads the row. The error matches lease.ErrRewound if the row is gone or changed.
func (w *witness) look(ctx context.Context, e evidence) error {
	created, err := w.confirm(ctx, e.number, e.node)
	switch {
	case err != nil && !errors.Is(err, ErrKey):
		return err
	case err != nil:
		return fmt.Errorf("%w: number %d: %w", lease.ErrRewound, e.number, err)
	case !created.Equal(e.created):
		return fmt.Errorf("%w: number %d: its row was created at %s, want %s", lease.ErrRewound, e.number, created, e.created)
	}
	return nil
}

// respond carries out the Response. It returns the row to check from then on, or an error.
func (w *witness) respond(ctx context.Context, e evidence, found error) (evidence, error) {
	if w.then == ResponseLogOnly {
		return e, found
	}
	w.grant(ctx, lease.Grant{Err: found})
	if w.then == ResponseStopIssuing {
		return e, found
	}
	if !w.wait(ctx) {
		return e, found
	}
	e, err := backoff.Retry(ctx, func() (evidence, error) {
		e, err := w.register(ctx, w.request)
		if errors.Is(err, lease.ErrExhausted) {
			err = backoff.Permanent(err)
		}
		return e, err
	}, backoff.WithMaxElapsedTime(0), backoff.WithNotify(func(err error, _ time.Duration) {
		w.grant(ctx, lease.Grant{Err: err})
	}))
	if err != nil {
		w.grant(ctx, lease.Grant{Err: err})
		return e, err
	}
	w.grant(ctx, e.grant())
	w.log().InfoContext(ctx, "worker: registered anew", "number", e.number, "table", w.name)
	return e, nil
}
