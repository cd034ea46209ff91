package uid

import "errors"

// A TakePolicy decides what a call does when no id is ready: [PolicyHelp], [PolicyReject],
// [PolicyWait], or your own function. Set it as RejectedTake in [CachedConfig] or in the config
// of a segment or client. If the policy returns an error, the call fails with it. If the policy
// returns nil, the call tries again: it first fills an empty ring or, at the limit of borrowed or
// reserved time, sleeps until the clock has advanced or more time is reserved. In segments and
// clients, the call waits for the load in flight, or sleeps until the next request to the store
// or a server.
//
// The policy runs in the caller's goroutine, holds no lock, and may block. A panic in it becomes
// a [*PanicError]. A closed generator, or one whose layout has ended, does not call its policy.
type TakePolicy func(Refusal) error

// A Refusal tells a [TakePolicy] why a call found no id ready.
type Refusal struct {
	// Err is the reason: [ErrNotReady], or an error that matches [ErrBorrowLimit] or
	// [ErrReservation]. In segments and clients it is ErrNotReady, or an error that matches
	// [ErrUnavailable]; in segment.Striped, the error joins those of all stores.
	Err error

	// Attempt counts how often this call has found the ring empty, starting at 1.
	Attempt int
}

// PolicyHelp is the default: a call that finds the ring empty makes ids itself. It waits for a
// reservation in flight. It fails at the limit of borrowed time, or when no more time can be
// reserved. In segments and clients a call waits for the load in flight, and fails while the
// store, or every server, is unavailable.
func PolicyHelp(r Refusal) error {
	if errors.Is(r.Err, ErrNotReady) { // most often, so it comes first
		return nil
	}
	if reservation := (*ReservationError)(nil); errors.As(r.Err, &reservation) && reservation.Err == nil {
		return nil
	}
	return r.Err
}

// PolicyReject is uid-generator's policy: it fails at once if the ring is empty. If the limit of
// borrowed or reserved time is the cause, the error also matches [ErrBorrowLimit] or
// [ErrReservation].
func PolicyReject(r Refusal) error { return r.Err }

// PolicyWait is like PolicyHelp, but blocks at the limit of borrowed or reserved time, until an
// id is ready or the generator is closed. In segments and clients it also blocks while the store,
// or every server, is unavailable.
func PolicyWait(Refusal) error { return nil }
