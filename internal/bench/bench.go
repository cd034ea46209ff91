// Package bench measures the generators of uidring against peers: other id
// libraries, what one would write by hand, and the floor under all of them, an
// atomic counter on a cache line of its own.
//
// It is a module of its own so that an app that links uidring does not download
// the peers. One file holds one implementation; [All] is the table of them. The
// benchmarks and cmd/table, which writes BENCHMARKS.md, measure the same table
// by the same loops.
//
// # How the cost of the harness is kept out
//
// A call through an interface or a func value costs as much as the fastest
// implementations do, and stops them from being inlined. Each implementation
// therefore brings its own loop, an [Instance.Batch], in which the call is
// direct, as in a user's code. The harness makes one indirect call for a batch,
// not for an id. A loop keeps the last id and returns it, so that the compiler has
// to produce the ids, and checks an error wherever its generator returns one, as
// a user would. It does not fold all ids into a sum: a sum lives in memory across
// a call, and to read, change and write it beside a locked instruction costs a
// third of the fastest generator here.
//
// # Time per id
//
// The unit is the one of testing's RunParallel: wall time over the ids of all
// goroutines. An implementation that scales perfectly halves it on two cores;
// one that is limited by a single contended cache line does not.
package bench

import "github.com/uidring/uidring/uid"

// Kind says what an implementation is doing in the table.
type Kind int

const (
	// Floor is the least that a shared counter can cost.
	Floor Kind = iota
	// Ours is a generator of this project.
	Ours
	// Peer is a library that makes ids too.
	Peer
	// Handmade is what one would write without a library.
	Handmade
	// Yardstick makes no ids; it is there for its cost.
	Yardstick
)

// Impl is a row of the table: an implementation and what is to be known of it
// besides its speed. Name to GivesUp are required.
type Impl struct {
	// Name is a benchmark's impl= value, so it has no space and no slash.
	Name string

	// Package is the import path, or a phrase for what has none.
	Package string

	Kind Kind

	// Cap is the greatest rate that the design allows, whatever the machine.
	Cap string

	// GivesUp is what a user of it has to do without, or accept, when the
	// choice is between it and ours; for ours, the other way round.
	GivesUp string

	// ReadsClock tells whether each id costs a reading of the clock.
	ReadsClock bool

	// RepeatsPast is the number of ids a second past which ids repeat; 0 means
	// that there is no such rate.
	RepeatsPast float64

	// Setup says how it was configured, if not as it comes.
	Setup string

	// New starts an instance. It is not part of what is measured.
	New func() (*Instance, error)
}

// Instance is an implementation that has been started.
type Instance struct {
	// Batch makes n calls in a loop and returns the last id, or a part of it. It is safe
	// for concurrent use, each caller looping for itself.
	Batch func(n int) (uint64, error)

	// PerCall is how many ids a call makes; 0 means 1.
	PerCall int

	// One makes a single id, as a value that can be a map's key. It is for
	// tests; its cost is never measured.
	One func() (any, error)

	// Stats says how far the instance has borrowed and how it was refilled; nil
	// for what has no ring.
	Stats func() uid.Stats

	// Close ends the instance; nil means that there is nothing to end.
	Close func() error
}

// IDs returns how many ids a call of Batch's loop makes.
func (in *Instance) IDs() int { return max(in.PerCall, 1) }

// Stop closes the instance if it needs closing.
func (in *Instance) Stop() error {
	if in.Close == nil {
		return nil
	}
	return in.Close()
}
