// Package catalog holds the generators that the server serves, by name.
package catalog

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// ErrUnknown is the error for a name that no generator has.
var ErrUnknown = errors.New("no such generator")

// Catalog finds generators. Get may be called from any number of goroutines.
type Catalog interface {
	// Get returns the generator of a name, or an error that matches [ErrUnknown]. It
	// may open the counter of a tag, and waits as long as ctx allows.
	Get(ctx context.Context, name string) (*Entry, error)
}

// Entry is a generator and what requests may ask of it.
type Entry struct {
	Name string
	Kind string // cached, default, slots or segment
	uid.Generator

	// Layout is that of the ids. It is nil for the ids of a counter, which carry no
	// time.
	Layout *bits.Layout

	// MaxIDs is how many ids one request may ask for.
	MaxIDs int

	// Instance names this opening of the generator: no other process, and no earlier
	// start of this one, has the same. Ids ascend within an instance.
	Instance string

	answers atomic.Uint64
}

// NextNumber returns the number of the next answer that names Instance, from 1. A
// request that is sent after another was answered has the greater number and, unless
// Kind is slots, greater ids.
func (e *Entry) NextNumber() uint64 { return e.answers.Add(1) }
