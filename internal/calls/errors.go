// Package calls calls what users and stores supply: a panic becomes an error, a call that hangs ends
// with its context, an error says what was being done, and the clock that a call returned is
// compared with that of the caller.
package calls

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// opError says what was being done. Its text has the package's name once.
type opError struct {
	pkg, doing string
	err        error
}

func (e *opError) Error() string {
	return e.pkg + ": " + e.doing + ": " + strings.TrimPrefix(e.err.Error(), e.pkg+": ")
}

func (e *opError) Unwrap() error { return e.err }

// Error names the operation, and makes the error match ctx.Err() if ctx has ended.
func Error(ctx context.Context, pkg, doing string, err error) error {
	if ended := EndOf(ctx); ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w: %w", ended, err)
	}
	return &opError{pkg, doing, err}
}

// Named reports whether Error has named the operation of err, or of an error that it wraps.
func Named(err error) bool {
	_, named := errors.AsType[*opError](err)
	return named
}

// EndOf returns why ctx has ended, or nil. A client that watches the deadline by itself
// may fail before ctx ends.
func EndOf(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}

// Skew returns how far a clock that showed before and after a call is ahead of right, which the call
// returned, 0 for up to most.
func Skew(before, after, right time.Time, most time.Duration) time.Duration {
	if ahead := before.Sub(right); ahead > most {
		return ahead
	}
	if ahead := after.Sub(right); ahead < -most {
		return ahead
	}
	return 0
}
