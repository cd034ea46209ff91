package segment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/uidring/uidring/uid"
)

// A Store keeps counters, each named by a tag. A counter is the least id that nobody has reserved;
// it starts at 1 and ends at [math.MaxInt64]. Package segmenttest tests a Store.
//
// Reserve raises the counter of tag by n, or by the store's own step if n is 0, in one atomic and
// durable write. It returns the counter's previous value, which is the first id of the range, and
// the number of ids reserved. No two calls, even from different processes, ever return overlapping
// ranges.
//
// If the outcome is unknown, Reserve returns an error. If the write took effect, no later call
// returns that range: it becomes a gap. Reserve returns soon after ctx is done. Errors match
//
//   - [ErrUnknownTag] if tag has no counter: Reserve never creates one;
//   - [ErrUsedUp] if fewer than n ids are left: the counter is unchanged;
//   - [uid.ErrRewound] if the store also records the highest value of each counter, and the counter
//     is below it;
//   - [ErrUnusable] if the counter or the store must be repaired first.
//
// Any other error means that the store did not answer, and wraps the client's error.
//
// String returns a name for the store, without secrets, for errors and logs.
type Store interface {
	Reserve(ctx context.Context, tag string, n int64) (first, count int64, err error)
	String() string
}

// A Returner is a [Store] that takes back unused ids. If tag's counter still equals next, Return
// sets it back to first, in one conditional write, and reports whether it did. It must never
// resend the write, even if the reply is lost: by then, another process may have reserved a range
// that ends at next.
type Returner interface {
	Return(ctx context.Context, tag string, first, next int64) (bool, error)
}

// A Creator is a [Store] that creates counters, and the table that they need. Create creates the
// tag's counter, sets it to next and, if the store keeps steps, sets its step to step. If tag
// already has a counter, nothing changes and the error matches [ErrTagExists].
type Creator interface {
	Create(ctx context.Context, tag string, next, step int64) error
}

// A Raiser is a [Store] that can raise counters. Raise sets the counter of tag to next unless it
// is already higher, and returns the counter. It never lowers a counter. If tag has no counter, the
// error matches [ErrUnknownTag].
type Raiser interface {
	Raise(ctx context.Context, tag string, next int64) (int64, error)
}

// A Lister is a [Store] that lists its counters, sorted by tag. If their table is missing, the
// error matches [ErrUnknownTag].
type Lister interface {
	List(ctx context.Context) ([]CounterInfo, error)
}

// CounterInfo describes a counter in a store, as [Lister] returns it.
type CounterInfo struct {
	Tag     string
	Next    int64     // the least id that is not reserved
	Step    int64     // the store's own step; 0 if it has none
	Updated time.Time // when the counter last changed; zero if the store does not record it
}

var (
	// ErrUnknownTag means that the store has no counter for the tag, or that the tag cannot name
	// a counter: see [CheckTag].
	ErrUnknownTag = errors.New("segment: unknown tag")

	// ErrTagExists means that Create found a counter for the tag.
	ErrTagExists = errors.New("segment: tag exists")

	// ErrUsedUp means that a counter has reached its end, or Config.Limit.
	ErrUsedUp = errors.New("segment: counter is used up")

	// ErrUnusable means that the store cannot reserve ids from the counter in its current state, for
	// example because its step is below 1 or its column is too narrow. It can also mean that the
	// store panicked or returned no range. The generator retries after a minute.
	ErrUnusable = errors.New("segment: unusable counter")
)

// LoadError says that the store did not answer. The generator retries after Retry; meanwhile, Wait
// keeps waiting. LoadError matches [uid.ErrUnavailable] and everything that Err matches.
type LoadError struct {
	Store string // the store's name
	Tag   string
	Err   error         // the store's error
	Retry time.Duration // how long until the next attempt
}

func (e *LoadError) Error() string {
	return fmt.Sprintf("segment: store is unavailable: reserve ids of %q from %s: %v", e.Tag, e.Store, e.Err)
}

// Is reports whether target is [uid.ErrUnavailable].
func (e *LoadError) Is(target error) bool { return target == uid.ErrUnavailable }

func (e *LoadError) Unwrap() error { return e.Err }

// RetryAfter returns Retry.
func (e *LoadError) RetryAfter() time.Duration { return e.Retry }

// invalidTag says why a tag cannot name a counter.
type invalidTag string

func (e invalidTag) Error() string { return "segment: invalid tag: " + string(e) }

// Is reports whether target is ErrUnknownTag.
func (invalidTag) Is(target error) bool { return target == ErrUnknownTag }

// MaxTag is the maximum length of a tag in bytes.
const MaxTag = 128

// CheckTag returns an error that matches [ErrUnknownTag] unless tag can name a counter: 1 to
// [MaxTag] bytes of printable UTF-8, without leading or trailing spaces.
func CheckTag(tag string) error {
	switch {
	case tag == "":
		return invalidTag("it is empty")
	case len(tag) > MaxTag:
		return invalidTag(fmt.Sprintf("%.16q… has %d bytes, want at most %d", tag, len(tag), MaxTag))
	case !utf8.ValidString(tag) || strings.ContainsFunc(tag, func(r rune) bool { return !unicode.IsPrint(r) }):
		return invalidTag(fmt.Sprintf("%q, want printable UTF-8", tag))
	case strings.TrimSpace(tag) != tag:
		return invalidTag(fmt.Sprintf("%q, want no blanks at the ends", tag))
	}
	return nil
}
