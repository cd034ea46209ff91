package protocol

import (
	"errors"
	"fmt"
)

// Package lease documents those that it exports.
var (
	ErrLost      = errors.New("lease: the number is lost")
	ErrRewound   = errors.New("lease: the store has gone back in time") // with ErrLost
	ErrHeld      = errors.New("lease: the number is held")
	ErrExhausted = errors.New("lease: numbers exhausted")

	// ErrNotDone is matched when a write was not done, and the row is unchanged.
	ErrNotDone = errors.New("lease: the store did not write")
)

// HeldError says that an exact number has a live holder. It matches ErrHeld.
type HeldError struct {
	Number int64
	Holder string
	Silent bool // the holder has given no sign of life since the number was read first: it may be dead
}

func (e *HeldError) Error() string {
	return fmt.Sprintf("%v: number %d, by %s", ErrHeld, e.Number, e.Holder)
}

// Unwrap returns ErrHeld.
func (e *HeldError) Unwrap() error { return ErrHeld }

// ExhaustedError says that there is no number left. It matches ErrExhausted.
type ExhaustedError struct {
	Next  int64  // the number that the next new row would have
	Max   int64  // the largest number that may be given
	Held  int64  // how many numbers have a live holder; 0 where numbers are never free again
	Store string // what counts
}

func (e *ExhaustedError) Error() string {
	what := fmt.Sprintf("%s gave %d", e.Store, e.Next)
	if e.Held > 0 {
		what = fmt.Sprintf("%d are held in %s, the next new one would be %d", e.Held, e.Store, e.Next)
	}
	return fmt.Sprintf("%v: %s, the largest that may be given is %d", ErrExhausted, what, e.Max)
}

// Unwrap returns ErrExhausted.
func (e *ExhaustedError) Unwrap() error { return ErrExhausted }
