package lease

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uidring/uidring/worker/lease/internal/protocol"
)

var (
	// ErrExhausted is matched when there is no number left: all have a live
	// holder, or, of numbers that are used once, all are used up. ExhaustedError
	// has the figures.
	ErrExhausted = protocol.ErrExhausted

	// ErrHeld is matched when a number has a live holder: one that WithNumber asks
	// for, or one that Free would take from its holder.
	ErrHeld = protocol.ErrHeld

	// ErrLost is matched by Grant.Err when the row of a number that was held is
	// someone else's, or gone.
	ErrLost = protocol.ErrLost

	// ErrRewound is matched, beside ErrLost, when the row says less than its
	// holder had committed, or is gone: the store was restored from a copy, or
	// edited. Ids that other holders have made since then may repeat.
	ErrRewound = protocol.ErrRewound

	// ErrSkew is matched by a SkewError.
	ErrSkew = errors.New("lease: the clock is wrong")

	// ErrNoLease is matched by the error of Free when the number has no row.
	ErrNoLease = errors.New("lease: the number has no row")
)

// ExhaustedError says that there is no number left. It matches ErrExhausted. No
// row is left behind.
type ExhaustedError = protocol.ExhaustedError

// SkewError says that the clock that stamps ids and the store's are too far apart
// for a start: time reserved by a wrong clock stays reserved. It matches ErrSkew.
type SkewError struct {
	Ahead time.Duration // of the store's clock; negative is behind
	Max   time.Duration // WithMaxSkew
	Store time.Time     // what the store's clock showed
}

// Error names the clocks' difference and what is accepted.
func (e *SkewError) Error() string {
	side := "ahead of"
	if e.Ahead < 0 {
		side = "behind"
	}
	return fmt.Sprintf("%v: it is %v %s the store's, which shows %s; want at most %v either way", ErrSkew,
		e.Ahead.Abs().Round(time.Millisecond), side, e.Store.Format(time.RFC3339Nano), e.Max)
}

// Is reports whether target is ErrSkew.
func (e *SkewError) Is(target error) bool { return target == ErrSkew }

// opError names the operation and the store. Its text has the package's name
// once.
type opError struct {
	doing, store string
	err          error
}

func (e *opError) Error() string {
	return "lease: " + e.doing + " " + e.store + ": " + strings.TrimPrefix(e.err.Error(), "lease: ")
}

func (e *opError) Unwrap() error { return e.err }

// fail names the operation, and ensures that the end of ctx can be matched:
// some clients report it in words of their own.
func (l *Leaser) fail(ctx context.Context, doing string, err error) error {
	var exhausted *ExhaustedError
	if errors.As(err, &exhausted) {
		exhausted.Store = l.store.Name()
		return err // says it all
	}
	if ended := endOf(ctx); ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w: %w", ended, err)
	}
	return &opError{doing, l.store.Name(), err}
}

// endOf returns why ctx has ended, nil if it has not. A client that watches the
// deadline by itself may notice before ctx does.
func endOf(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}
