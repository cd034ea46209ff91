package uid

import "errors"

// A TakePolicy decides what a call does that found no id ready: [PolicyHelp], [PolicyReject],
// [PolicyWait], or a function of your own. It is RejectedTake in [CachedConfig] and in the configs
// of segments and clients. If the policy returns an error, the call fails with it. If the policy
// returns nil, the call tries again: it first fills an empty ring, or, at the limit of borrowed or
// reserved time, sleeps until the clock has advanced or more time is reserved. In segments and
// clients the call waits for the load that is under way, or sleeps until the store or a server is
// called again.
//
// The policy runs in the caller's goroutine, with nothing locked, and may block. Its panic
// becomes a [*PanicError]. A closed generator, or one whose layout has ended, does not call
// its policy.
type TakePolicy func(Refusal) error

// A Refusal tells a [TakePolicy] why a call found no id ready.
type Refusal struct {
	// Err is the reason: [ErrNotReady], or an error that matches [ErrBorrowLimit] or
	// [ErrReservation]. In segments and clients it is ErrNotReady, or an error that matches
	// [ErrUnavailable]; in segment.Striped, the error has those of all stores.
	Err error

	// Attempt counts how often this call has found the ring empty, from 1.
	Attempt int
}

// PolicyHelp is the default: a call that finds the ring empty makes ids itself. It waits for
// a reservation that is under way. It fails at the limit of borrowed time, or when no more
// time can be reserved. In segments and clients a call waits for the load that is under way, and
// fails while the store, or every server, is unavailable.
func PolicyHelp(r Refusal) error {
	if errors.Is(r.Err, ErrNotReady) { // most often, so it comes first
		return nil
	}
	if reservation := (*ReservationError)(nil); errors.As(r.Err, &reservation) && reservation.Err == nil {
		return nil
	}
	return r.Err
}

// PolicyReject is uid-generator's policy: a call that finds the ring empty fails at once. Where the
// limit of borrowed or reserved time is the cause, the error also matches [ErrBorrowLimit] or
// [ErrReservation].
func PolicyReject(r Refusal) error { return r.Err }

// PolicyWait is PolicyHelp, but blocks at the limit of borrowed or reserved time, until an id is ready
// or the generator is closed. In segments and clients it also blocks while the store, or every
// server, is unavailable.
func PolicyWait(Refusal) error { return nil }
