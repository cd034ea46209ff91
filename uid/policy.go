package uid

import "errors"

// A TakePolicy decides what a call does when no id is ready: [PolicyHelp], [PolicyReject],
// [PolicyWait], or your own function. Set it as RejectedTake in [CachedConfig] or in the config
// of a segment or client. If the policy returns an error, the call fails with it. If the policy
// returns nil, the call tries again: it first fills an empty ring or, if no more time can be
// borrowed or reserved, sleeps until the clock has advanced or more time is reserved. In packages
// segment and uidclient, the call waits for the load in flight, or sleeps until the next request
// to the store or a server.
//
// The policy runs in the caller's goroutine, with no lock held, and may block. A panic in it
// becomes a [*PanicError]. A closed generator, or one whose layout has ended, does not call its
// policy.
type TakePolicy func(Refusal) error

// A Refusal tells a [TakePolicy] why a call found no id ready.
type Refusal struct {
	// Err is the reason: [ErrNotReady], or an error that matches [ErrBorrowLimit] or
	// [ErrReservation]. In packages segment and uidclient, it is ErrNotReady, or an error that
	// matches [ErrUnavailable]; in segment.Striped, the error joins those of all stores.
	Err error

	// Attempt is how many times this call has found no id ready, starting at 1.
	Attempt int
}

// PolicyHelp is the default: a call that finds the ring empty makes ids itself. The call waits
// for any reservation in flight, and fails if no more time can be borrowed or reserved. In
// packages segment and uidclient, it waits for the load in flight, and fails while the store, or
// every server, is unavailable.
func PolicyHelp(r Refusal) error {
	if errors.Is(r.Err, ErrNotReady) { // most often, so it comes first
		return nil
	}
	if reservation := (*ReservationError)(nil); errors.As(r.Err, &reservation) && reservation.Err == nil {
		return nil
	}
	return r.Err
}

// PolicyReject is the policy of Baidu's uid-generator: a call fails immediately if the ring is
// empty. If the cause is that no more time can be borrowed or reserved, the error also matches
// [ErrBorrowLimit] or [ErrReservation].
func PolicyReject(r Refusal) error { return r.Err }

// PolicyWait is like PolicyHelp, but if no more time can be borrowed or reserved, it blocks until
// an id is ready or the generator is closed. In segment and uidclient, it also blocks while the
// store, or every server, is unavailable.
func PolicyWait(Refusal) error { return nil }
