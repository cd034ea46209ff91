package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/internal/calls"
	"github.com/uidring/uidring/worker/lease/internal/protocol"
)

var (
	// ErrExhausted means that no number is left: each has a live holder or, for a Registry, has
	// been used. ExhaustedError has the figures.
	ErrExhausted = protocol.ErrExhausted

	// ErrHeld means that the assigned number, or the number passed to Free, has a live holder.
	ErrHeld = protocol.ErrHeld

	// ErrLost is matched by Grant.Err, and so by a uid.ReservationError, when the row is gone, belongs
	// to another holder, or is older than the holder's last write (see ErrRewound).
	ErrLost = protocol.ErrLost

	// ErrRewound is matched by Grant.Err, along with ErrLost, when the row is gone or older than the
	// holder's last committed write: the store was restored from a backup or edited. Ids that other
	// holders have made since the backup may repeat. Of counters, uid.ErrRewound says so.
	ErrRewound = protocol.ErrRewound

	// ErrSkew is matched by a SkewError.
	ErrSkew = errors.New("lease: the clock is wrong")

	// ErrNoLease is matched by the error of Free or Revoke when the number has no row.
	ErrNoLease = errors.New("lease: the number has no row")
)

// ExhaustedError says that no number is left. It matches ErrExhausted. The failed call leaves no
// row behind.
type ExhaustedError struct {
	Next  int64  // the number that the next row would have
	Max   int64  // the largest number that may be given out
	Held  int64  // how many numbers have a live holder; 0 for a Registry
	Store string // the store's name
}

func (e *ExhaustedError) Error() string {
	what, out := fmt.Sprintf("%s has given out all numbers, the next would be %d", e.Store, e.Next), "lease numbers, which come back"
	if e.Held > 0 {
		what = fmt.Sprintf("%d numbers are held in %s, and the next new one would be %d", e.Held, e.Store, e.Next)
		out = "stop a process, or wait until the lease of one that crashed expires"
	}
	return fmt.Sprintf("%v: %s; want at most %d: %s, or change to a layout with more worker bits by \"layout change\"", ErrExhausted, what, e.Max, out)
}

// Is reports whether target is ErrExhausted.
func (e *ExhaustedError) Is(target error) bool { return target == ErrExhausted }

// SkewError says that a generator's clock differs too much from the store's. A generator with such
// a clock fails to start, because time that a wrong clock reserves stays reserved. If the clock of
// a running generator goes wrong, the error is only logged. It matches ErrSkew.
type SkewError struct {
	Ahead     time.Duration // how far the generator's clock is ahead of the store's; negative if behind
	Max       time.Duration // Config.MaxSkew
	StoreTime time.Time     // by the store's clock; zero if the store has none: such an error is only logged
}

func (e *SkewError) Error() string {
	side, right := "ahead of", "the store's, which shows "+e.StoreTime.Format(time.RFC3339Nano)
	if e.Ahead < 0 {
		side = "behind"
	}
	if e.StoreTime.IsZero() {
		right = "the time elapsed since startup (it was set, or the machine was suspended)"
	}
	return fmt.Sprintf("%v: it is %v %s %s; want at most %v either way", ErrSkew, e.Ahead.Abs().Round(time.Millisecond), side, right, e.Max)
}

// Is reports whether target is ErrSkew.
func (e *SkewError) Is(target error) bool { return target == ErrSkew }

func (l *Leaser) fail(ctx context.Context, doing string, err error) error {
	if e, ok := errors.AsType[*protocol.Exhausted](err); ok {
		return &ExhaustedError{e.Next, e.Max, e.Held, l.store.String()}
	}
	if _, ok := errors.AsType[*ExhaustedError](err); ok {
		return err // the store's own, complete by itself
	}
	return calls.Error(ctx, "lease", doing+" "+l.store.String(), err)
}
