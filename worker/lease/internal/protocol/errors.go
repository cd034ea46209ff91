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
	ErrNotDone = errors.New("lease: the store did not write the row")
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

// Exhausted says that there is no number left. Package lease makes its ExhaustedError of it.
type Exhausted struct {
	Next, Max, Held int64
}

func (e *Exhausted) Error() string { return ErrExhausted.Error() }

// Unwrap returns ErrExhausted.
func (e *Exhausted) Unwrap() error { return ErrExhausted }
