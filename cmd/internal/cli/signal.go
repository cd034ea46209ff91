package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// signalError is the cause of a context that a signal has ended.
type signalError struct{ signal syscall.Signal }

func (e *signalError) Error() string { return "ended by signal: " + e.signal.String() }

// UntilSignal returns a context that ends when the user or the system wants the process to end, so
// that it can write what it has: on an interrupt, on SIGTERM and, unless the process ignores it, as
// nohup makes it do, on SIGHUP. A second signal ends the process at once, except for SIGHUP, since a
// terminal that closes sends several. The caller calls stop when done.
func UntilSignal(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	signal.Notify(signals, ends...)
	go func() {
		select {
		case s := <-signals:
			signal.Ignore(syscall.SIGHUP)
			signal.Stop(signals) // before cancel: whoever sees the end may send the second
			number, _ := s.(syscall.Signal)
			cancel(&signalError{number})
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	return ctx, func() { cancel(nil) }
}

// CauseOf returns err, or the cause of ctx in its place if ctx has ended: an interrupted
// command fails by the signal. [ErrNoReader] stays.
func CauseOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && !errors.Is(err, ErrNoReader) {
		return context.Cause(ctx)
	}
	return err
}
