// Package deal has what the generators of package uid and of the packages below it share:
// the methods that follow from a function that claims ids ([Claims]), the engine that deals
// ids from a ring ([Dealer]), and what ends calls and counts them ([Calls]).
//
// Package uid imports this package, so ids are an int64 here. [Claims] is generic: it
// returns the ID and the Run of package uid. The sentinels are those of package uid.
package deal

import (
	"context"
	"errors"

	"github.com/uidring/uidring/ringbuffer"
)

// Package uid explains these, and exports them under the same names.
var (
	ErrClosed   = errors.New("uid: generator is closed")
	ErrNotReady = errors.New("uid: no id is ready")
	ErrConfig   = errors.New("uid: invalid config")
)

// A Claim returns 1 to limit consecutive ids; limit is 1 or more. If no id is ready, how
// decides. Any number of goroutines may call it.
type Claim func(ctx context.Context, limit int64, how How) (ringbuffer.Run, error)

// How says what a Claim does if no id is ready.
type How uint8

// What a Claim does.
const (
	Next How = iota // what Next of the generator does
	Wait            // block until an id is ready or ctx ends
	Try             // return ErrNotReady where Wait would block
)
