package segment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A Store keeps counters by name. A counter is the next id that nobody has
// reserved; it starts at 1 and its end is [math.MaxInt64]. Package segmenttest
// tests a Store.
//
// Reserve moves the counter of tag up by n, or by the store's own step if n is 0,
// in one atomic and durable write. It returns the counter's earlier value, which is
// the first id of the range, and how many ids were reserved. No two calls, of any
// processes, ever return ranges that overlap.
//
// If the outcome is not known, Reserve returns an error, and no later call
// returns that range: it is a gap. The error matches [ErrUnknownTag] if tag has
// no counter; Reserve never makes one. The error matches [ErrUsedUp] if fewer
// than n ids are left; the counter is then as it was. A store that remembers
// its highest counter returns an error that matches [ErrRewound] if it has gone
// back. Any other error means that the store did not answer, and wraps the
// client's error. Reserve returns soon after ctx ends.
//
// String names the store in errors and logs, without secrets.
type Store interface {
	Reserve(ctx context.Context, tag string, n int64) (first, count int64, err error)
	String() string
}

// A Returner is a [Store] that takes back unused ids.
//
// Return sets the counter of tag from next back to first if it still is next, and
// reports whether it did. That is one conditional write, sent at most once: the
// client must not send it again when the answer is lost, since another process may
// meanwhile have reserved a range that ends at next.
type Returner interface {
	Return(ctx context.Context, tag string, first, next int64) (bool, error)
}

// A Creator is a [Store] that makes counters, and whatever table they need.
//
// Create makes the counter of tag, with next as its value and step as its own step
// where the store has one. If there is one already, the error matches
// [ErrTagExists], and nothing changes.
type Creator interface {
	Create(ctx context.Context, tag string, next, step int64) error
}

// A Raiser is a [Store] that can raise counters.
//
// Raise sets the counter of tag to next unless it is higher, and returns its value.
// It never lowers a counter and never makes one.
type Raiser interface {
	Raise(ctx context.Context, tag string, next int64) (int64, error)
}

// A Lister is a [Store] that lists its counters, by tag in ascending order. The error
// matches [ErrUnknownTag] if there is no table for them.
type Lister interface {
	List(ctx context.Context) ([]Counter, error)
}

// Counter is what a [Lister] says of a tag.
type Counter struct {
	Tag     string
	Next    int64     // the least id that is not reserved
	Step    int64     // the store's own step; 0 if it has none
	Updated time.Time // of the last change; zero if the store does not keep it
}

var (
	// ErrUnknownTag is matched when the store has no counter for the tag.
	ErrUnknownTag = errors.New("segment: unknown tag")

	// ErrTagExists is matched when a counter is to be made that is there.
	ErrTagExists = errors.New("segment: tag exists")

	// ErrUsedUp is matched when a counter is at its end, or at Config.Limit.
	ErrUsedUp = errors.New("segment: counter is used up")

	// ErrRewound is matched when the store answered with ids that are not above
	// those it answered with before. They are not issued.
	ErrRewound = errors.New("segment: store has gone back")

	// ErrAway is matched by a [*LoadError]: the store did not answer.
	ErrAway = errors.New("segment: store is away")

	// ErrTag is matched by an error about a tag that cannot name a counter.
	ErrTag = errors.New("segment: invalid tag")
)

// LoadError says that the store did not answer. The range is loaded again after
// Retry, so Wait waits. LoadError matches [ErrAway] and what Err matches.
type LoadError struct {
	Store string // its name
	Tag   string
	Err   error         // the store's
	Retry time.Duration // until the next attempt
}

func (e *LoadError) Error() string {
	return fmt.Sprintf("%v: reserve ids of %q from %s: %v", ErrAway, e.Tag, e.Store, e.Err)
}

// Is reports whether target is [ErrAway].
func (e *LoadError) Is(target error) bool { return target == ErrAway }

// Unwrap returns Err.
func (e *LoadError) Unwrap() error { return e.Err }

// RetryAfter returns Retry.
func (e *LoadError) RetryAfter() time.Duration { return e.Retry }

// MaxTag is the most bytes that a tag may have. Every store keeps that many.
const MaxTag = 128

// CheckTag returns an error that matches [ErrTag] unless tag can name a counter: 1
// to [MaxTag] bytes of printable UTF-8, without blanks at the ends.
func CheckTag(tag string) error {
	switch {
	case tag == "":
		return fmt.Errorf("%w: it is empty", ErrTag)
	case len(tag) > MaxTag:
		return fmt.Errorf("%w: %.16q… has %d bytes, want %d at most", ErrTag, tag, len(tag), MaxTag)
	case !utf8.ValidString(tag) || strings.ContainsFunc(tag, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("%w: %q, want printable UTF-8", ErrTag, tag)
	case strings.TrimSpace(tag) != tag:
		return fmt.Errorf("%w: %q, want no blanks at the ends", ErrTag, tag)
	}
	return nil
}
