package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/uidring/uidring/worker/lease/internal/protocol"
)

// Store keeps one row for each worker number, with compare-and-swap. Implement
// it to take numbers from a store of your own, as the package documentation says. All methods
// may be called from several goroutines. Instants are whole milliseconds since 1970.
//
// A method that fails may still change the store, now or later; the caller reads the
// row to find out. When ctx ends, a method returns an error. A holder waits for that for
// 100 ms, and makes no other request until the method has returned.
type Store interface {
	// String names the store in errors and logs, without secrets, such as "WORKER_LEASE".
	String() string

	// Look returns numbers within bounds that may be taken: with full of all rows, otherwise
	// of a sample, such as [Bounds.Sample].
	Look(ctx context.Context, within Bounds, full bool, expiry time.Duration) (View, error)

	// Read returns the row of number, or nil if there is none. now is the store's
	// clock, or 0 if the store has no clock.
	Read(ctx context.Context, number int64, expiry time.Duration) (row *Row, now int64, err error)

	// Insert makes the row of w.Number if there is none. done reports whether this call made
	// the row.
	//
	// With w.Fresh, Insert ignores w.Number. It makes the row of the least number from
	// w.Within.From on that was never given, and counts that number as given, as one atomic
	// step. Inserts at the same time queue, so that each makes a row. done is false only if no
	// number within w.Within is new: nothing was written then, and number is the least number
	// never given, above w.Within.To. A number whose row was deleted was given, and is not new.
	Insert(ctx context.Context, w Write) (number int64, done bool, err error)

	// Swap writes the row of w.Number if its token is old, as one atomic step. done
	// reports whether this call wrote the row.
	Swap(ctx context.Context, old string, w Write) (done bool, err error)

	// SwapLayout remembers layout if the store remembers old, as one atomic step. A store
	// that remembers none has "". It returns the layout that the store remembers then. A
	// layout is at most 128 ASCII characters, and no [Row].
	SwapLayout(ctx context.Context, old, layout string) (remembered string, err error)

	// List returns the rows with the highest numbers, highest first, at most limit
	// rows; a limit below 1 is no limit.
	List(ctx context.Context, limit int, expiry time.Duration) ([]Row, error)
}

// Preparer is a [Store] with settings to check or a schema to create.
type Preparer interface {
	// Check returns all faults of the store's settings, without calling the store.
	Check() error

	// Prepare creates what is missing, and logs settings that make the store unsafe.
	// Each start calls Prepare before the first request, and calls it again if its
	// error is transient or it does not return in time.
	Prepare(ctx context.Context, log *slog.Logger) error
}

// Bounds are the numbers from From to To, both included.
type Bounds struct{ From, To int64 }

// String returns the bounds as logs have them, such as "0 to 99".
func (b Bounds) String() string { return fmt.Sprintf("%d to %d", b.From, b.To) }

// sampled is how many numbers a look that is not full reads.
const sampled = 64

// Sample returns the numbers that a look reads unless it is full, each once: all given numbers
// within the bounds if there are at most 64, else 64 of them at random. next is View.Next. If none
// of them is free, take a second sample: the count of numbers grows less.
func (b Bounds) Sample(next int64) []int64 {
	given := max(0, min(next-1, b.To)-b.From+1)
	var numbers []int64
	for last := given - min(given, sampled); last < given; last++ { // Floyd's algorithm: Bentley and Floyd, CACM 30(9), 1987
		number := b.From + rand.Int64N(last+1)
		if slices.Contains(numbers, number) {
			number = b.From + last
		}
		numbers = append(numbers, number)
	}
	return numbers
}

// View is what [Store.Look] returns.
type View struct {
	Now    int64    // the store's clock, in milliseconds since 1970; 0 if it has none: the holder uses its own clock
	Free   []Row    // rows within the bounds that are not held, the least Until first; 256 rows are enough
	Next   int64    // the least number from Bounds.From on that lies above all given numbers within the bounds
	Held   int64    // how many rows within the bounds are held; 0 unless the look is full
	Others []Bounds // other ranges, up to what each gave, with numbers within the bounds: the holder logs them, unless the store does
}

// Row is what a store holds about a number. The protocol needs Number, Token and Until.
type Row struct {
	Number int64
	Token  string // of the last write; every write has a token of its own
	Until  int64  // in milliseconds since 1970: ticks that begin before it may have been stamped

	State     State
	Node      Node  // the last holder
	Heartbeat int64 // the holder's last sign of life, in milliseconds since 1970 by the store's clock; 0 if free or not known
	Created   int64 // in milliseconds since 1970 by the store's clock; 0 if not known
}

// State says whether a number may be taken.
type State string

// The states of a number.
const (
	StateFree    State = "free"    // the holder gave the number back, or Free did
	StateHeld    State = "held"    // the holder gave a sign of life within the expiry
	StateExpired State = "expired" // the holder gave none within the expiry: the number may be taken
)

// Write is the new content of a row.
type Write struct {
	Number int64
	Token  string // at most 64 ASCII characters
	Until  int64  // as in Row, in milliseconds since 1970
	Change Change
	Node   Node          // Acquire: the new holder
	Expiry time.Duration // Acquire, Extend: how long the holder counts as alive without another write

	// Only for Insert: the bounds of the holder's numbers, and whether to make the row of a
	// number that was never given. Holders with the same Within.From share the record
	// of given numbers. The bounds of an assigned number are the number alone.
	Within Bounds
	Fresh  bool
}

// Change says what a [Write] does to the liveness of a number.
type Change int

// The changes.
const (
	Acquire Change = iota + 1 // a new holder has the number, and is alive
	Extend                    // the holder is alive
	Release                   // nobody holds the number: it is free at once
)

// Transient marks the error of a request that a start makes again, such as a deadlock. Any
// other error ends a start. Renewals retry any error.
func Transient(err error) error {
	if err == nil {
		return nil
	}
	return &transientError{err}
}

type transientError struct{ error }

func (e *transientError) Unwrap() error { return e.error }

// Throttled marks the error of a request that the client did not send, since its own limit of
// requests allows none in time. A start retries the request until its ctx ends. Renewals
// retry any error.
func Throttled(err error) error { return Transient(&throttledError{err}) }

type throttledError struct{ error }

func (e *throttledError) Unwrap() error { return e.error }

func transient(err error) bool {
	_, marked := errors.AsType[*transientError](err)
	return marked || errors.Is(err, protocol.ErrNotDone)
}
