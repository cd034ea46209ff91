package service

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"connectrpc.com/connect"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/worker/lease"
)

// Kind classifies a failure, and says what it is in each protocol.
type Kind struct {
	Name   string
	Status int          // of HTTP
	Code   connect.Code // of gRPC and Connect
	Word   string       // begins an error of the Redis protocol; many clients try again after TRYAGAIN
}

func (k Kind) String() string { return k.Name }

// The kinds of failure.
var (
	BadRequest      = Kind{"bad request", 400, connect.CodeInvalidArgument, "ERR"}              // a value is wrong; the detail says what was wanted
	Unauthorized    = Kind{"unauthorized", 401, connect.CodeUnauthenticated, "NOAUTH"}          // no credentials, or unknown ones
	Forbidden       = Kind{"forbidden", 403, connect.CodePermissionDenied, "NOPERM"}            // the caller may not draw from that generator
	Unknown         = Kind{"unknown", 404, connect.CodeNotFound, "ERR"}                         // there is no such generator
	TooManyRequests = Kind{"too many requests", 429, connect.CodeResourceExhausted, "TRYAGAIN"} // the caller's rate is used up
	Exhausted       = Kind{"exhausted", 500, connect.CodeFailedPrecondition, "ERR"}             // no id can be made until an operator acts
	Unavailable     = Kind{"unavailable", 503, connect.CodeUnavailable, "TRYAGAIN"}             // no id now
	Expired         = Kind{"deadline passed", 408, connect.CodeDeadlineExceeded, "TRYAGAIN"}    // the caller's deadline has passed
	Cancelled       = Kind{"cancelled", 499, connect.CodeCanceled, "TRYAGAIN"}                  // the caller has cancelled the request, or has gone
)

// Kinds are those that every protocol has.
var Kinds = []Kind{BadRequest, Unauthorized, Forbidden, Unknown, TooManyRequests, Exhausted, Unavailable, Expired, Cancelled}

// Error is a failure of a request. Its text may be shown to the caller.
type Error struct {
	Kind   Kind
	Detail string        // names the value and what was wanted
	Retry  time.Duration // when to try again; 0 unless Kind is TooManyRequests or Unavailable
	Cause  error         // for the log alone: it may hold addresses; nil if Detail says all
}

func (e *Error) Error() string { return e.Detail }

// Invalid returns an Error of kind [BadRequest].
func Invalid(format string, args ...any) *Error {
	return &Error{Kind: BadRequest, Detail: fmt.Sprintf(format, args...)}
}

// ErrStopping is the cause with which a server cancels the requests that it cuts off.
var ErrStopping = errors.New("the server is stopping")

// errWait is the cause that ends a request which has waited for Config.Wait.
var errWait = errors.New("no ids within limits.wait")

// Ended returns the failure of a request whose context has ended with cause. Unless the server has
// ended the context, the end is the caller's, and neither the log nor an alert takes it for a fault.
func Ended(cause error) *Error {
	switch {
	case errors.Is(cause, ErrStopping):
		return &Error{Kind: Unavailable, Detail: ErrStopping.Error(), Retry: time.Second, Cause: cause}
	case errors.Is(cause, context.DeadlineExceeded):
		return &Error{Kind: Expired, Detail: "the deadline of the request has passed"}
	}
	return &Error{Kind: Cancelled, Detail: "the request was cancelled"}
}

// explain returns the [*Error] for what a catalog or a generator returned. Errors of
// drivers may hold addresses and passwords, so their text goes to the log alone.
func (s *Service) explain(name string, entry *Entry, err error) error {
	if known := (*Error)(nil); errors.As(err, &known) {
		return err
	}
	e := &Error{Kind: Unavailable, Retry: time.Second, Cause: err}
	switch {
	case errors.Is(err, ErrUnknown):
		return &Error{Kind: Unknown, Detail: fmt.Sprintf("there is no generator %q", name)}
	case errors.Is(err, ErrNotStarted):
		e.Detail, e.Retry = fmt.Sprintf("generator %q has not started: %s", name, Reason(err)), startRetry
	case errors.Is(err, uid.ErrTimeExhausted), errors.Is(err, segment.ErrUsedUp):
		e.Kind, e.Retry, e.Detail = Exhausted, 0, fmt.Sprintf("generator %q has no ids left", name)
	case errors.Is(err, uid.ErrRewound):
		e.Kind, e.Retry, e.Detail = Exhausted, 0, fmt.Sprintf("the store of generator %q has gone back in time; it continues within a minute once its counter is raised", name)
	case errors.Is(err, uid.ErrClosed):
		e.Detail = fmt.Sprintf("generator %q is closed: the server is stopping", name)
	case errors.Is(err, segment.ErrTooManyTags):
		e.Detail = fmt.Sprintf("generator %q is not open, and no more can be opened now", name)
	case errors.Is(err, context.DeadlineExceeded):
		e.Detail = fmt.Sprintf("generator %q did not have enough ids within %v", name, s.config.Wait)
		if last := lastError(entry); last != nil {
			e.Detail, e.Cause = e.Detail+": "+Reason(last), fmt.Errorf("%w: %w", err, last)
		}
	default:
		e.Detail = fmt.Sprintf("generator %q cannot issue ids now", name)
	}
	s.seldom.Do(func() {
		s.config.Logger.Error("request failed", "generator", name, "kind", e.Kind.Name, "error", e.Cause)
	})
	return e
}

// lastError returns why a generator makes no further ids, nil if it does.
func lastError(e *Entry) error {
	if e != nil {
		if made, ok := e.Claimer.(interface{ Stats() uid.Stats }); ok {
			return made.Stats().LastError
		}
	}
	return nil
}

// startRetry is when to ask a generator again that has not started.
const startRetry = 10 * time.Second

// reasons are in the order in which Reason looks for them.
var reasons = []struct {
	err  error
	text string
}{
	{ErrStarting, "it is still starting"},
	{uid.ErrClosed, "it is closed"},
	{uid.ErrTimeExhausted, "its layout has run out of time"},
	{uid.ErrBorrowLimit, "its ids are max_borrow ahead of the clock"},
	{uid.ErrReservation, "no time is reserved under its worker number"},
	{uid.ErrClockBackward, "the clock has moved backward"},
	{uid.ErrConfig, "its settings are invalid; see the log"},
	{lease.ErrHeld, "another process holds its worker number"},
	{lease.ErrExhausted, "no worker number is left"},
	{lease.ErrSkew, "the clock differs too much from its store's"},
	{segment.ErrUsedUp, "its counter is used up"},
	{uid.ErrRewound, "its store has gone back in time"},
	{segment.ErrUnknownTag, "its store has no such counter"},
	{segment.ErrUnusable, "its counter cannot be used; see the log"},
	{uid.ErrUnavailable, "its store is unavailable"},
}

// Reasons returns what [Reason] can say.
func Reasons() (all []string) {
	for _, known := range reasons {
		all = append(all, known.text)
	}
	return append(all, otherReason)
}

const otherReason = "it cannot issue ids; see the log"

// Reason says why a generator cannot issue ids, without the text of a driver, which may
// show addresses.
func Reason(err error) string {
	for _, known := range reasons {
		if errors.Is(err, known.err) {
			return known.text
		}
	}
	if network := net.Error(nil); errors.As(err, &network) {
		return "its store is unavailable"
	}
	return otherReason
}
