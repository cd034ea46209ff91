package uidclient

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/uidring/uidring/uid/segment"
)

var (
	// ErrRewound is matched when a server instance answered with ids that are not
	// above those it answered with before. They are not issued.
	ErrRewound = segment.ErrRewound

	// ErrAway is matched by an [*AwayError]: no server answered.
	ErrAway = segment.ErrAway

	// ErrAnswer is matched when a server's answer is no list of runs.
	ErrAnswer = errors.New("uidclient: invalid answer")

	errMoved = errors.New("uidclient: another instance has answered")
)

// AwayError says that no server answered, or that those that did refused. Ids are
// fetched again after Retry, so Wait waits. AwayError matches [ErrAway] and what Err
// matches.
type AwayError struct {
	Name  string        // of the generator
	Err   error         // of each server
	Retry time.Duration // until the next attempt
}

func (e *AwayError) Error() string {
	return fmt.Sprintf("uidclient: no server answered for %q: %v", e.Name, e.Err)
}

// Is reports whether target is [ErrAway].
func (e *AwayError) Is(target error) bool { return target == ErrAway }

// Unwrap returns Err.
func (e *AwayError) Unwrap() error { return e.Err }

// RetryAfter returns Retry.
func (e *AwayError) RetryAfter() time.Duration { return e.Retry }

// StatusError says that a server answered a request with another status than 200.
// Calls wait, as [AwayError] says, if the status is 408, 429 or 500 and above.
// With any other status calls fail at once.
type StatusError struct {
	Server string // its URL
	Status int
	Detail string // what the server says of it; may be empty

	retry time.Duration // how long the server wants to be left alone
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

// refuses reports that to ask again soon is of no use.
func refuses(err error) bool {
	if status := (*StatusError)(nil); errors.As(err, &status) {
		return status.Status < 500 && status.Status != http.StatusRequestTimeout && status.Status != http.StatusTooManyRequests
	}
	return errors.Is(err, ErrRewound) || errors.Is(err, ErrAnswer)
}
