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
// that it can write what it has. That is on an interrupt, on SIGTERM, and on SIGHUP unless the
// process ignores it, as under nohup. A second signal ends the process at once, except for SIGHUP,
// since a terminal that closes sends several. The caller calls stop when done.
func UntilSignal(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals, hangups := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(hangups, syscall.SIGHUP)
	}
	go func() {
		var s os.Signal
		select {
		case s = <-signals:
		case s = <-hangups:
		case <-ctx.Done():
			signal.Stop(hangups)
		}
		signal.Stop(signals) // before cancel: whoever sees the end may send the second
		if number, ok := s.(syscall.Signal); ok {
			// hangups stay notified: while signal.Ignore changes that, a SIGHUP could end the process.
			cancel(&signalError{number})
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
