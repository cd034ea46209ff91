package lease

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// Store keeps one row for each worker number, with compare-and-swap. Implement
// it to take numbers from a store of your own; package leasetest tests the
// implementation. All methods may be called from several goroutines. Instants
// are whole milliseconds since 1970.
//
// Rows must be durable and linearizable: a write that was reported done is seen
// by every later call from any process, and survives the store's crash. Reads
// must not come from a replica that may lag. Liveness, which is [Row.State],
// need be neither: the store judges it by its clock, keys that expire or other
// means. A wrong judgement costs a live holder its number but never repeats an
// id.
//
// A method that fails may still change the store, now or later; the caller
// finds out by reading. When ctx ends, a method returns an error.
type Store interface {
	// Name says which store it is, for errors and logs, such as "WORKER_LEASE" or
	// "etcd /uidring/workers".
	Name() string

	// Look says which numbers within bounds may be taken.
	Look(ctx context.Context, within Bounds, expiry time.Duration) (View, error)

	// Read returns the row of number, nil if there is none, and the store's clock,
	// 0 if it has none.
	Read(ctx context.Context, number int64, expiry time.Duration) (row *Row, now int64, err error)

	// Insert makes the row of w.Number, and nothing if there is one. done reports
	// whether this call made the row.
	//
	// The store remembers which numbers were given, even if rows are deleted: with
	// w.Fresh, Insert makes no row of a number that View.Next has passed.
	Insert(ctx context.Context, w Write) (done bool, err error)

	// Swap writes the row of w.Number if its token is old, and nothing otherwise,
	// as one atomic step. done reports whether it wrote.
	Swap(ctx context.Context, old string, w Write) (done bool, err error)

	// List returns the rows with the highest numbers, highest first, at most limit
	// of them; a limit below 1 is no limit.
	List(ctx context.Context, limit int, expiry time.Duration) ([]Row, error)
}

// Preparer is a [Store] with settings to check or a schema to create.
type Preparer interface {
	// Check returns all faults of the store's settings, without calling the store.
	Check() error

	// Prepare is called at each start, before the first request, and again if its
	// error is transient or it has no answer in time: it creates what is missing, and logs what makes the store less safe than it should be.
	Prepare(ctx context.Context, log *slog.Logger) error
}

// Bounds are the numbers from From to To.
type Bounds struct{ From, To int64 }

// View is what [Store.Look] returns.
type View struct {
	Now  int64 // the store's clock; 0 if it has none, and then the holder's is used
	Free []Row // rows within the bounds that are not held, the least Until first; 32 of them will do
	Next int64 // the least number, from Bounds.From on, above all within the bounds that were ever given
	Held int64 // how many rows within the bounds are held
}

// Row is what a store holds about a number. Number, Token and Until are the
// protocol's; the rest is liveness, and facts for people.
type Row struct {
	Number int64
	Token  string // of the last write; every write has a token of its own
	Until  int64  // ticks that begin before it may have been stamped

	State     State
	Node      Node  // the last holder
	Heartbeat int64 // when the holder was last heard of, by the store's clock; 0 if free or not known
	Created   int64 // by the store's clock; 0 if not known
}

// State says whether a number may be taken.
type State string

// The states of a number.
const (
	StateFree    State = "free"    // its holder gave it back, or it was freed
	StateHeld    State = "held"    // its holder has been heard of within the expiry
	StateExpired State = "expired" // its holder has not: it may be taken
)

// Write is what a row becomes.
type Write struct {
	Number int64
	Token  string // at most 64 ASCII characters
	Until  int64
	Change Change
	Node   Node          // Acquire: the new holder
	Expiry time.Duration // Acquire, Extend: for how long the holder is alive unless it writes again

	// Of an Insert: bounds of the holder's numbers, and whether the number must
	// never have been given before. Holders with the same From share the memory of
	// what was given.
	Within Bounds
	Fresh  bool
}

// Change says what a [Write] does to the liveness of a number.
type Change int

// The changes.
const (
	Acquire Change = iota + 1 // a new holder has it, and is alive
	Extend                    // its holder is alive
	Release                   // nobody holds it: it is free at once
)

// Transient marks the error of a request that collided with another, such as a
// deadlock: a start retries it. Any other error ends a start.
func Transient(err error) error {
	if err == nil {
		return nil
	}
	return &transientError{err}
}

type transientError struct{ error }

func (e *transientError) Unwrap() error { return e.error }

func isTransient(err error) bool {
	var transient *transientError
	return errors.As(err, &transient)
}
