package uid

import "errors"

// A Refusal tells a policy (CachedConfig.RejectedTake) why a call found no id ready. If
// the policy returns an error, the call fails with that error. If the policy
// returns nil, the call tries again: it first fills an empty ring. At the limit of
// borrowed or reserved time, it first sleeps until the clock has advanced or more
// time is reserved.
//
// The policy runs in the caller's goroutine, with nothing locked, and may
// block. If the policy panics, the call fails with a [*PanicError]. A closed
// generator, or one whose layout has ended, does not call its policy.
type Refusal struct {
	// Err is the reason: [ErrNotReady], or an error that matches [ErrBorrowLimit] or
	// [ErrReservation].
	Err error

	// Attempt counts how often this call has found the ring empty, from 1.
	Attempt int
}

// Help is the default policy: a call that finds the ring empty makes ids itself.
// The call fails at the limit of borrowed time or, with a leased number, when no
// more time can be reserved. If a reservation is under way, as after a great burst,
// the call waits until the database has written it.
func Help(r Refusal) error {
	if errors.Is(r.Err, ErrNotReady) { // most often, so it comes first
		return nil
	}
	if reservation := (*ReservationError)(nil); errors.As(r.Err, &reservation) && reservation.Err == nil {
		return nil
	}
	return r.Err
}

// Reject is the policy of uid-generator: a call that finds the ring empty fails
// at once.
func Reject(r Refusal) error { return r.Err }

// Wait is a policy that waits: a call that finds the ring empty makes ids itself.
// At the limit of borrowed or reserved time, the call blocks until an id is ready or
// the generator is closed.
func Wait(Refusal) error { return nil }
