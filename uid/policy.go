package uid

import (
	"errors"

	"github.com/uidring/uidring/internal/guard"
)

// A Refusal tells a rejection policy why a call found no id ready. If the
// policy returns an error, the call fails with that error. If the policy
// returns nil, the call tries again. With an empty ring, the call first fills
// the ring. At the limit of borrowed or reserved time, the call first sleeps
// until the clock has advanced or more time is reserved.
//
// The policy runs in the caller's goroutine, with nothing locked, and may
// block. If the policy panics, the call fails with a [*PanicError]. A closed
// generator, or one whose layout has ended, does not call its policy.
type Refusal struct {
	// Err is why: [ErrRingEmpty], or an error that matches [ErrBorrowLimit] or
	// [ErrReservation].
	Err error

	// Attempt counts how often this call has found the ring empty, from 1.
	Attempt int
}

// Help is the default policy: a call that finds the ring empty makes ids
// itself, which takes nanoseconds. The call fails at the limit of borrowed time
// or, with a leased number, when no more time can be reserved. If a reservation
// is under way, as after a great burst, the call waits for that write to the
// database.
func Help(r Refusal) error {
	if reservation := (*ReservationError)(nil); errors.As(r.Err, &reservation) && reservation.Err == nil {
		return nil
	}
	if errors.Is(r.Err, ErrRingEmpty) {
		return nil
	}
	return r.Err
}

// Reject is the policy of uid-generator: a call that finds the ring empty fails
// at once.
func Reject(r Refusal) error { return r.Err }

// Wait is a policy that never fails: a call that finds the ring empty makes ids
// itself. At the limit of borrowed or reserved time, the call blocks; Close
// ends the wait.
func Wait(Refusal) error { return nil }

func ask(policy func(Refusal) error, r Refusal) error {
	return guard.Call("RejectedTake", func() error { return policy(r) })
}
