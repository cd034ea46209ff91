package leasestore

import "errors"

// ErrNotCreated is matched by the error of [Store.List] in a store whose tables do not exist yet.
var ErrNotCreated = errors.New("leasestore: not created yet")

// Transient marks an error, such as a deadlock, after which a starting holder should retry. An
// error marked by neither Transient nor [Throttled] makes startup fail. Renewals retry after any
// error. Transient(nil) is nil.
func Transient(err error) error {
	if err == nil {
		return nil
	}
	return &transientError{err}
}

// IsTransient reports whether err, or an error that it wraps, was marked by Transient or
// Throttled.
func IsTransient(err error) bool {
	_, marked := errors.AsType[*transientError](err)
	return marked
}

type transientError struct{ error }

func (e *transientError) Unwrap() error { return e.error }

// Throttled marks the error of a request that the client could not send in time because of its own
// rate limit. A starting holder retries until its ctx is done. Renewals retry after any error.
// Throttled(nil) is nil.
func Throttled(err error) error {
	if err == nil {
		return nil
	}
	return Transient(&throttledError{err})
}

// IsThrottled reports whether err, or an error that it wraps, was marked by Throttled.
func IsThrottled(err error) bool {
	_, marked := errors.AsType[*throttledError](err)
	return marked
}

type throttledError struct{ error }

func (e *throttledError) Unwrap() error { return e.error }
