package leasestore

import (
	"context"
	"log/slog"
	"time"
)

// Store keeps one row for each worker number, with compare-and-swap. All methods must be safe for
// concurrent use. Instants are whole milliseconds since 1970.
//
// A method that fails may still change the store, now or later; the caller reads the row to find
// out. When ctx is done, a method returns an error. A holder waits 100 ms for that, and makes no
// other request until the method has returned.
type Store interface {
	// String names the store in errors and logs, without secrets, such as "WORKER_LEASE".
	String() string

	// Look returns numbers in a range that are free to take. Look reads all rows if full is set, or
	// else a sample, such as [Range.Sample].
	Look(ctx context.Context, within Range, full bool, expiry time.Duration) (View, error)

	// Read returns the row of number, or nil if there is none. now is the store's
	// clock, or 0 if the store has no clock.
	Read(ctx context.Context, number int64, expiry time.Duration) (row *Row, now int64, err error)

	// Insert makes the row of w.Number if there is none. done reports whether this call made
	// the row.
	//
	// With w.Fresh, Insert ignores w.Number. It makes the row of the least number from
	// w.Within.From on that was never given out, and counts that number as given, as one atomic
	// step. Concurrent Inserts queue, so that each makes a row. If, and only if, no number within
	// w.Within is new, done is false, nothing is written, and number is the least that was never
	// given out, which is above w.Within.To. A number whose row was deleted counts as given.
	Insert(ctx context.Context, w Write) (number int64, done bool, err error)

	// Swap writes the row of w.Number if its token is old, as one atomic step. done
	// reports whether this call wrote the row.
	Swap(ctx context.Context, old string, w Write) (done bool, err error)

	// SwapLayout remembers layout if the store remembers old, as one atomic step. An empty string
	// means no layout. SwapLayout returns the layout that the store now remembers. A layout has at
	// most 128 ASCII characters, and is not kept as a [Row].
	SwapLayout(ctx context.Context, old, layout string) (remembered string, err error)

	// List returns up to limit rows with the highest numbers, highest first; a limit below 1
	// means no limit.
	List(ctx context.Context, limit int, expiry time.Duration) ([]Row, error)
}

// Preparer is implemented by a [Store] that has settings to check or a schema to create.
type Preparer interface {
	// Check returns all faults of the store's settings, without calling the store.
	Check() error

	// Prepare creates what is missing, and logs settings that make the store unsafe. A starting
	// holder calls Prepare before its first request, and retries if the error is transient or
	// Prepare does not return in time.
	Prepare(ctx context.Context, log *slog.Logger) error
}
