package leasestore

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

// Store keeps one row for each worker number, and updates rows by compare-and-swap. All methods
// must be safe for concurrent use. Instants are whole milliseconds since 1970.
//
// A method that fails may still change the store, now or later; the caller reads the row to find
// out. When ctx is done, a method returns an error. If the method takes longer than 100 ms to do
// so, the holder counts the request as failed, but sends no other request until the method has
// returned.
type Store interface {
	// String returns a name for the store, such as "WORKER_LEASE", for errors and logs. It must not
	// contain secrets.
	String() string

	// Look returns numbers in a range that are free to take. Look reads all rows if full is set, or
	// else only a sample, such as that of [Range.Sample].
	Look(ctx context.Context, within Range, full bool, expiry time.Duration) (View, error)

	// Read returns the row of number, or nil if there is none. now is the store's time, or 0 if the
	// store has no clock. expiry, here and below, is the caller's lease.Config.Expiry, for a store
	// that judges holders by their heartbeats.
	Read(ctx context.Context, number int64, expiry time.Duration) (row *Row, now int64, err error)

	// Insert creates the row of w.Number if there is none. done reports whether this call created
	// the row.
	//
	// If w.Fresh is set, Insert ignores w.Number. It takes a number of w.Within that has never been
	// given out: the lowest above all numbers given out from the range or, if w.Chosen is not set,
	// the next one of a counter that the store shares with other programs. It counts that number as
	// given out and creates its row, as one atomic step or at least in this order. Concurrent Inserts
	// queue, so that each creates a row as long as new numbers are left. Only if w.Within has no
	// new number left does Insert create no row and return done false; number is then the next one,
	// which is above w.Within.To. A number whose row was deleted still counts as given out.
	Insert(ctx context.Context, w Write) (number int64, done bool, err error)

	// Swap writes the row of w.Number if the row's token equals old, as one atomic step. done
	// reports whether this call wrote the row.
	Swap(ctx context.Context, old string, w Write) (done bool, err error)

	// SwapLayout compares the layout that the store remembers with old and, if the two are equal,
	// replaces it with terms.Layout, as one atomic step. An empty string means no layout; an empty
	// terms.Layout replaces nothing. SwapLayout returns the layout that the store remembers
	// afterward. A layout has at most 128 ASCII characters, and is not kept as a [Row].
	//
	// With an empty terms.Layout, SwapLayout may be called before Prepare, and creates nothing.
	//
	// If other programs take numbers from the store too, SwapLayout fails in two cases: the store
	// remembers another way of taking numbers than terms has, unless old is another layout than
	// terms.Layout; or terms.Layout is empty and those programs have taken numbers but recorded no
	// layout.
	SwapLayout(ctx context.Context, old string, terms Terms) (remembered string, err error)

	// List returns up to limit rows with the highest numbers, highest first; a limit below 1
	// means no limit. List creates nothing: in a store whose tables do not exist yet, it returns no
	// rows, or an error that matches [ErrNotCreated].
	List(ctx context.Context, limit int, expiry time.Duration) ([]Row, error)
}

// Terms are what all holders of a store must agree on, as one of them states them.
type Terms struct {
	Layout string // of the ids
	Chosen bool   // the holder's config names its number or the range of its numbers
	Within Range  // the range of the holder's numbers
}

// Preparer is a [Store] that has settings to check or a schema to create.
type Preparer interface {
	Store

	// Check returns an error that names everything that is invalid in the store's settings. It
	// sends no requests.
	Check() error

	// Prepare creates what is missing, and logs settings that make the store unsafe. A starting
	// holder calls Prepare before its first request, and retries if the error is transient or
	// Prepare does not return in time.
	Prepare(ctx context.Context, log *slog.Logger) error
}

// Counter is implemented by a [Store] that takes new numbers from a counter which it shares with
// other programs.
type Counter interface {
	// Counted returns the greatest number that the counter has given, and -1 if it has given none.
	Counted(ctx context.Context) (int64, error)

	// Raise has the counter give no number up to number again. It never lowers the counter.
	Raise(ctx context.Context, number int64) error
}

// View is what [Store.Look] returns.
type View struct {
	Now    int64   // the store's clock, in milliseconds since 1970; 0 if it has none: the holder then uses its own clock
	Free   []Row   // rows in the range that are not held, sorted by Until; 256 rows are enough
	Next   int64   // the lowest number that is at least Range.From and above every number given out from the range
	Held   int64   // how many rows of the range are held; 0 unless full is set
	Others []Range // overlapping ranges, each up to the greatest number given out from it; the holder logs them; empty if the store logs them itself
}

// Row is a store's record of a number. The protocol needs Number, Token and Until.
type Row struct {
	Number int64
	Token  string // of the last write; every write has a new token
	Until  int64  // in milliseconds since 1970: ids with ticks that begin before this instant may already exist

	State     State
	Node      Node  // the last holder
	Heartbeat int64 // the holder's last heartbeat, in milliseconds since 1970 by the store's clock; 0 if free or unknown
	Created   int64 // in milliseconds since 1970 by the store's clock; 0 if unknown
}

// State says whether a number may be taken.
type State string

// These are the states of a number.
const (
	StateFree    State = "free"    // the holder gave the number back, or an operator freed it
	StateHeld    State = "held"    // the holder sent a heartbeat within the expiry
	StateExpired State = "expired" // no heartbeat within the expiry: the number may be taken
)

// Write is the new content of a row.
type Write struct {
	Number int64
	Token  string // at most 64 ASCII characters
	Until  int64  // as in Row, in milliseconds since 1970
	Change Change
	Node   Node          // Acquire: the new holder
	Expiry time.Duration // Acquire, Extend: how long the holder counts as alive without another write

	// Earliest and Latest are only for Swap, and not for a store without a clock. Unless Latest is
	// zero, Swap reports done only if the store's clock, in milliseconds since 1970, showed a time
	// from Earliest to Latest during the call.
	Earliest, Latest int64

	// Within and Fresh are only for Insert: the range of the holder's numbers, and whether to
	// create the row of a number that has never been given out. Holders with the same Within.From
	// share the record of numbers given out. The range of an assigned number is just that number.
	// Chosen is as in [Terms].
	Within Range
	Chosen bool
	Fresh  bool
}

// Change says what a [Write] does to the liveness of a number.
type Change int

// These are the kinds of Change.
const (
	Acquire Change = iota + 1 // a new holder has the number, and is alive
	Extend                    // the holder is alive
	Release                   // nobody holds the number: it is free immediately
)

// A Range holds the numbers From through To, inclusive.
type Range struct{ From, To int64 }

// String returns the range as logs show it, such as "0 to 99".
func (r Range) String() string { return fmt.Sprintf("%d to %d", r.From, r.To) }
