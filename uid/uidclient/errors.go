package uidclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/uidring/uidring/uid"
)

var (
	// ErrAnswer means that a server's response is not a list of runs.
	ErrAnswer = errors.New("uidclient: invalid response")

	errMoved   = errors.New("uidclient: another instance has answered")
	errTooMany = errors.New("uidclient: a server allows fewer ids")
)

// UnavailableError says that no server answered with ids. The client retries after Retry;
// meanwhile, Wait keeps waiting. UnavailableError matches [uid.ErrUnavailable] and everything that
// Err matches.
type UnavailableError struct {
	Name  string        // the generator's name
	Err   error         // the errors of all servers
	Retry time.Duration // how long until the next attempt
}

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("uidclient: no server answered for %q: %v", e.Name, e.Err)
}

// Is reports whether target is [uid.ErrUnavailable].
func (e *UnavailableError) Is(target error) bool { return target == uid.ErrUnavailable }

func (e *UnavailableError) Unwrap() error { return e.Err }

// RetryAfter returns Retry.
func (e *UnavailableError) RetryAfter() time.Duration { return e.Retry }

// StatusError says that a server answered with a status other than 200. After 408, 429, or 500 and
// up, the client retries: see [UnavailableError]. After 400 or 413, it requests fewer ids, down to
// one. After any other status, calls fail immediately.
type StatusError struct {
	Server string // its URL
	Status int
	Detail string // the server's reason; may be empty

	retry time.Duration // until the server wants the next request
}

func (e *StatusError) Error() string {
	text := fmt.Sprintf("uidclient: %s: status %d %s", e.Server, e.Status, http.StatusText(e.Status))
	if e.Detail != "" {
		text += fmt.Sprintf(": %q", e.Detail)
	}
	return text
}

// serverErrors are the errors of several servers, on one line.
type serverErrors []error

func (e serverErrors) Error() string {
	texts := make([]string, len(e))
	for i, err := range e {
		texts[i] = strings.TrimPrefix(err.Error(), "uidclient: ")
	}
	return strings.Join(texts, "; ")
}

func (e serverErrors) Unwrap() []error { return e }

// refuses reports whether it is useless to ask again soon.
func refuses(err error) bool {
	if status, ok := errors.AsType[*StatusError](err); ok {
		return status.Status < 500 && status.Status != http.StatusRequestTimeout && status.Status != http.StatusTooManyRequests
	}
	return errors.Is(err, uid.ErrRewound) || errors.Is(err, ErrAnswer)
}

// tooMany reports whether a server refuses the size of a request for n ids. Whatever
// answers 400 for another reason refuses smaller sizes too.
func tooMany(err error, n int64) bool {
	status, ok := errors.AsType[*StatusError](err)
	return ok && n > 1 && (status.Status == http.StatusBadRequest || status.Status == http.StatusRequestEntityTooLarge)
}

// tooSlow reports whether a server had too little time for a request, so that it may have
// enough for fewer ids.
func tooSlow(err error) bool {
	status, ok := errors.AsType[*StatusError](err)
	return ok && status.Status == http.StatusServiceUnavailable || errors.Is(err, context.DeadlineExceeded)
}
