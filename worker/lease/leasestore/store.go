package leasestore

import (
	"context"
	"log/slog"
	"time"
)

// Store keeps one row for each worker number, with compare-and-swap. All methods
// may be called from several goroutines. Instants are whole milliseconds since 1970.
//
// A method that fails may still change the store, now or later; the caller reads the
// row to find out. When ctx ends, a method returns an error. A holder waits for that for
// 100 ms, and makes no other request until the method has returned.
type Store interface {
	// String names the store in errors and logs, without secrets, such as "WORKER_LEASE".
	String() string

	// Look returns numbers of a range that may be taken: with full of all rows, otherwise
	// of a sample, such as [Range.Sample].
	Look(ctx context.Context, within Range, full bool, expiry time.Duration) (View, error)

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
