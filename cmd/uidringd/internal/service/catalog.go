package service

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/format"
	"github.com/uidring/uidring/uid"
)

// ErrUnknown is the error for a name that no generator has.
var ErrUnknown = errors.New("no such generator")

// ErrNotStarted is matched, beside the cause, by the error for a generator that is not
// open yet.
var ErrNotStarted = errors.New("the generator has not started")

// ErrStarting is the cause until the first attempt to start it has ended.
var ErrStarting = errors.New("it is still starting")

// Catalog finds generators. Its methods may be called from any number of goroutines.
type Catalog interface {
	// Get returns the generator of a name, and never waits. The error matches [ErrUnknown],
	// [ErrNotStarted], or [uid.ErrNotReady] if Open has to look.
	Get(name string) (*Entry, error)

	// Open is Get, but opens the counter of a tag, and waits for its store until ctx ends.
	Open(ctx context.Context, name string) (*Entry, error)

	// Source returns which of n sources, counted from 0, has the generator of a name.
	// Only generators of one source can hang together.
	Source(name string) (i, n int)
}

// Claimer deals runs of ids, as [uid.Generator] says.
type Claimer interface {
	Claim(ctx context.Context, limit int64) (uid.Run, error)
	TryClaim(limit int64) (uid.Run, error)
}

// Entry is a generator and what requests may ask of it.
type Entry struct {
	Name   string
	Kind   string       // cached, default, slots or segment
	Layout *bits.Layout // of new ids; nil for those of a counter, which carry no time
	MaxIDs int          // that one request may ask for; 0 is the service's limit
	Claimer

	// Rate is how many ids a second one caller may draw in the long run, and Burst how many at
	// once, or those of one request if these are more. A Rate of 0 means no limit.
	Rate  float64
	Burst int

	// Instance names this opening of the generator: no other process, and no earlier
	// start of this one, has the same. Ids ascend within an instance.
	Instance string

	// Layouts asks the generator's store for the present and the earlier layouts. Nil means that it has no store.
	Layouts func(context.Context) (format.Layouts, error)

	answers atomic.Uint64
	reader  atomic.Pointer[reader] // that parse made last
}

// NextNumber returns the number of the next answer that names Instance, from 1. A
// request that is sent after another was answered has the greater number and, unless
// Kind is slots, greater ids.
func (e *Entry) NextNumber() uint64 { return e.answers.Add(1) }
