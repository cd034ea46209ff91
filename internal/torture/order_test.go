//go:build linux

package torture

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/uidring/uidring/bits"
)

// orderVariable has a child's order; it makes the test binary a child.
const orderVariable = "UIDRING_TORTURE_CHILD"

// order is what a child is told at its start.
type order struct {
	URL    string
	Host   string // tells processes apart in the history
	Seed   uint64
	Layout bits.Layout
	Expiry time.Duration
	Window time.Duration
	Rate   int    // ids a second, about
	Fault  string // how it breaks the protocol; empty is not at all

	Default bool  // a uid.Default, else a uid.Cached
	Exact   int64 // the one number to hold; negative is any
	Boost   int   // Cached's BoostPower
	Wait    bool  // Cached's takes block while no id may be issued
	Modest  bool  // Cached may borrow a second only
}

func (o order) String() string {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // the layout is not valid
	}
	return string(text)
}

// The short times that make much happen in little time. The window is longer
// than most outages and pauses, and shorter than some.
const (
	expiry = 800 * time.Millisecond
	window = 2500 * time.Millisecond
)

// epoch is that of all layouts here.
var epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Numbers are few, so that they are taken over. A number's ids for a second are
// fewer than a child draws, so that time is borrowed, in ticks that are short or
// long against the window. Each database gets the next of them.
var layouts = []bits.Layout{
	{TimeBits: 34, WorkerBits: 3, SequenceBits: 10, Epoch: epoch, Unit: 100 * time.Millisecond},
	{TimeBits: 41, WorkerBits: 3, SequenceBits: 5, Epoch: epoch, Unit: time.Millisecond},
	{TimeBits: 31, WorkerBits: 3, SequenceBits: 13, Epoch: epoch, Unit: time.Second},
}

// ticks takes ids of a layout apart into what the history speaks of.
type ticks struct{ layout bits.Layout }

// number returns the worker number of an id.
func (t ticks) number(id int64) int64 {
	return id >> t.layout.SequenceBits & (1<<t.layout.WorkerBits - 1)
}

// rest returns how many ids of id's tick and number there are from it on.
func (t ticks) rest(id int64) int64 {
	return 1<<t.layout.SequenceBits - id&(1<<t.layout.SequenceBits-1)
}

// span returns the milliseconds since 1970 at which the tick of an id begins and
// ends. Units are whole milliseconds.
func (t ticks) span(id int64) (begin, end int64) {
	unit := t.layout.Unit.Milliseconds()
	begin = t.layout.Epoch.UnixMilli() + id>>(t.layout.SequenceBits+t.layout.WorkerBits)*unit
	return begin, begin + unit
}

func (t ticks) describe(first, n int64) string {
	begin, end := t.span(first)
	return fmt.Sprintf("%d ids from %d, of number %d and the tick from %d to %d", n, first, t.number(first), begin, end)
}
