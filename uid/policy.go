package uid

import "errors"

// A Refusal is what a rejection policy is told about a take that found no id
// ready. The policy returns an error, with which the take then fails, or nil to
// have it try again: with nil for an empty ring the caller fills the ring
// itself, and with nil at the limit of borrowed or reserved time it sleeps until
// the clock has come far enough, or more is reserved.
//
// A policy is called in the taker's goroutine, with nothing locked. It may block
// or do as it likes; if it panics, the take fails with a [*PanicError]. Where no
// id can ever come, as from a closed generator, no policy is asked.
type Refusal struct {
	// Err is why: [ErrRingEmpty], or an error that matches [ErrBorrowLimit] or
	// [ErrReservation].
	Err error

	// Attempt counts the times that one call has found the ring empty, from 1.
	Attempt int
}

// Help is the default policy: a taker that finds the ring empty makes ids
// itself, which takes nanoseconds, and fails only at the limit of borrowed time
// or, with a leased number, when no more time can be reserved. A reservation that
// is under way, as after a great burst, is waited for: a write to the database.
func Help(r Refusal) error {
	if reservation := (*ReservationError)(nil); errors.As(r.Err, &reservation) && reservation.Err == nil {
		return nil
	}
	if errors.Is(r.Err, ErrRingEmpty) {
		return nil
	}
	return r.Err
}

// Reject is the policy of uid-generator: a taker that finds the ring empty
// fails at once.
func Reject(r Refusal) error { return r.Err }

// Wait is the policy of a taker that makes ids itself and, at the limit of
// borrowed or reserved time, waits. Next then may block; Close ends the wait.
func Wait(Refusal) error { return nil }
