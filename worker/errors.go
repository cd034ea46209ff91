package worker

import (
	"errors"
	"fmt"
	"time"

	"github.com/uidring/uidring/internal/lease"
)

var (
	// ErrExhausted is matched when there is no number left: a Registry's have
	// passed the layout's largest, or a Leaser's all have a live holder.
	// ExhaustedError tells the numbers.
	ErrExhausted = errors.New("worker: numbers exhausted")

	// ErrNotLeased is what a Leaser's Assign returns: its numbers are good only
	// with Lease.
	ErrNotLeased = errors.New("worker: a Leaser's number must be leased, not assigned")

	// ErrLost is matched by what is reported when the row of a number that was
	// held is someone else's, or gone.
	ErrLost = lease.ErrLost

	// ErrRewound is matched, beside ErrLost, when the row says less than its
	// holder had committed, or is gone: the table was restored from a copy, or
	// edited. Ids that other holders have made since then may repeat.
	ErrRewound = lease.ErrRewound

	// ErrHeld is matched when a number has a live holder: one that WithNumber
	// asks for, or one that Free is to take from it.
	ErrHeld = lease.ErrHeld

	// ErrSkew is matched by a SkewError.
	ErrSkew = errors.New("worker: the clock is wrong")

	// ErrNoLease is matched by the error of Free when the number has no row.
	ErrNoLease = errors.New("worker: no such lease")

	// ErrDB is matched when the *gorm.DB cannot be used: it is nil, is inside a
	// transaction, is in dry-run mode or carries an error. Inside a transaction a
	// number could be used and its row rolled back later, which would let the
	// database give it again.
	ErrDB = errors.New("worker: unfit *gorm.DB")

	// ErrKey is matched when the database's key is no worker number: it was not
	// read back, is below 1, or its row is not the one that was inserted.
	ErrKey = errors.New("worker: no usable key")

	// ErrNoTable is matched by the error of Nodes, Leases and Free when the table
	// is missing: no worker has registered there yet.
	ErrNoTable = errors.New("worker: no such table")

	// ErrDialect is matched by the error of EnsureSchema when the table is
	// missing and there is no schema for the kind of database.
	ErrDialect = errors.New("worker: no schema for this database")
)

// ExhaustedError says that there is no number left. It matches ErrExhausted. No
// row is left behind.
type ExhaustedError struct {
	Number int64  // the number that the next new row would have
	Max    int64  // the largest number that the layout allows
	Held   int64  // of a Leaser: how many numbers have a live holder
	Table  string // the table that counts
}

// Error names the numbers and the table.
func (e *ExhaustedError) Error() string {
	what := fmt.Sprintf("%s gave %d", e.Table, e.Number)
	if e.Held > 0 {
		what = fmt.Sprintf("held in %s: %d, the next new one would be %d", e.Table, e.Held, e.Number)
	}
	return fmt.Sprintf("%v: %s, the largest that the layout allows is %d", ErrExhausted, what, e.Max)
}

// Unwrap returns ErrExhausted.
func (e *ExhaustedError) Unwrap() error { return ErrExhausted }

// SkewError says that the clock that stamps ids and the database's are too far
// apart for a start: time reserved by a wrong clock stays reserved. It matches
// ErrSkew.
type SkewError struct {
	Ahead    time.Duration // of the database's clock; negative is behind
	Max      time.Duration // WithMaxSkew
	Database time.Time     // what the database's clock showed
}

// Error names both clocks' difference and what is accepted.
func (e *SkewError) Error() string {
	side := "ahead of"
	if e.Ahead < 0 {
		side = "behind"
	}
	return fmt.Sprintf("%v: it is %v %s the database's, which shows %s; want at most %v either way", ErrSkew,
		e.Ahead.Abs().Round(time.Millisecond), side, e.Database.Format(time.RFC3339Nano), e.Max)
}

// Is reports whether target is ErrSkew.
func (e *SkewError) Is(target error) bool { return target == ErrSkew }
