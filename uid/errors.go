package uid

import (
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/internal/deal"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/padding"
)

var (
	// ErrClosed is returned by a closed generator, and passed to CachedConfig.RejectedPut for ids
	// left at Close.
	ErrClosed = deal.ErrClosed

	// ErrTimeExhausted means that the layout has no more ids: its last tick has passed, or all ids
	// of that tick have been issued.
	ErrTimeExhausted = errors.New("uid: layout has run out of time")

	// ErrNotReady means that no id is ready, but a later call may find one. TryClaim returns it
	// instead of waiting. If the ring is empty, a [TakePolicy] gets this error as Refusal.Err, and
	// [PolicyReject] returns it. [Slots.Next] returns it when all slots are full.
	ErrNotReady = deal.ErrNotReady

	// ErrBorrowLimit is matched by a [*BorrowLimitError].
	ErrBorrowLimit = errors.New("uid: limit of borrowed time reached")

	// ErrReservation is matched by a [*ReservationError].
	ErrReservation = errors.New("uid: time is not reserved")

	// ErrClockBackward is matched by a [*ClockBackwardError].
	ErrClockBackward = errors.New("uid: clock moved backward")

	// ErrStale is passed to CachedConfig.RejectedPut for ids that are too old.
	ErrStale = padding.ErrStale

	// ErrWorkerLost is passed to CachedConfig.RejectedPut for ids that were dropped because their
	// worker number was lost.
	ErrWorkerLost = errors.New("uid: worker number is lost")

	// ErrUnavailable means that the store or server behind a segment or client did not answer.
	// The generator retries on its own.
	ErrUnavailable = errors.New("uid: store or server is unavailable")

	// ErrRewound means that a store or server returned ids that are not above its earlier ones.
	// The generator does not issue them. An operator must repair the store; a segment continues
	// within a minute after its counter is raised.
	ErrRewound = errors.New("uid: store has gone back in time")

	// ErrConfig is matched by every error about a config, or another argument of the same call, in
	// this package, the packages in its folder, worker and ringbuffer: lease.ErrConfig is the same. An
	// error about a number from a [WorkerSource] that does not fit the layout matches it too.
	ErrConfig = invalid.ErrConfig
)

// BorrowLimitError says that the next id would be stamped further ahead of the
// clock than CachedConfig.MaxBorrow allows. It matches [ErrBorrowLimit].
type BorrowLimitError struct {
	Limit time.Duration // CachedConfig.MaxBorrow
	Retry time.Duration // how long until the clock allows the next id
}

func (e *BorrowLimitError) Error() string {
	return fmt.Sprintf("%v: the next id would be stamped more than %v ahead of the clock; try again in %v", ErrBorrowLimit, e.Limit, e.Retry)
}

// Is reports whether target is [ErrBorrowLimit].
func (e *BorrowLimitError) Is(target error) bool { return target == ErrBorrowLimit }

// RetryAfter returns Retry.
func (e *BorrowLimitError) RetryAfter() time.Duration { return e.Retry }

// ReservationError says that the generator cannot stamp the next id under its leased number: the
// id's time is not reserved, or an earlier holder reserved it. It matches [ErrReservation] and
// everything that Err matches.
type ReservationError struct {
	Worker int64     // the number, or the last one if none is held
	From   time.Time // an earlier holder of the number may have stamped ids with times before this
	Until  time.Time // end of the reserved time; zero if no number is held
	Err    error     // why no more time is reserved; nil while a reservation is in flight
}

func (e *ReservationError) Error() string {
	text := fmt.Sprintf("%v: no worker number is held; the last was %d", ErrReservation, e.Worker)
	switch {
	case e.Until.IsZero():
	case !e.From.Before(e.Until):
		text = fmt.Sprintf("%v: worker %d has no reserved time before %s", ErrReservation, e.Worker, instant(e.From))
	default:
		text = fmt.Sprintf("%v: worker %d has time only from %s until %s", ErrReservation, e.Worker, instant(e.From), instant(e.Until))
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func instant(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }

// Is reports whether target is [ErrReservation].
func (e *ReservationError) Is(target error) bool { return target == ErrReservation }

// RetryAfter returns one second, because it is usually unknown when more time will be reserved.
func (e *ReservationError) RetryAfter() time.Duration { return time.Second }

func (e *ReservationError) Unwrap() error { return e.Err }

// ClockBackwardError says that the clock is behind the last id's tick by more than
// DefaultConfig.MaxBackward. It matches [ErrClockBackward].
type ClockBackwardError struct {
	Amount time.Duration // how long until the clock reaches the last id's tick again
	Max    time.Duration // DefaultConfig.MaxBackward
}

func (e *ClockBackwardError) Error() string {
	return fmt.Sprintf("%v by %v, want at most %v; wait, or restart under another worker number", ErrClockBackward, e.Amount, e.Max)
}

// Is reports whether target is [ErrClockBackward].
func (e *ClockBackwardError) Is(target error) bool { return target == ErrClockBackward }

// PanicError reports a panic in code that you supplied: a function in a [CachedConfig] or in a
// segment's or client's config, or a segment's store. It has the calling Package, such as "uid", and
// in In the function that panicked, such as "RejectedTake". Its Value is the panic's, which it wraps
// if that is an error, and its Stack that of the panicking goroutine.
type PanicError = padding.PanicError
