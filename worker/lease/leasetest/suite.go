// Package leasetest tests implementations of leasestore.Store.
//
//	func TestStore(t *testing.T) {
//		leasetest.Suite{Open: func(t *testing.T) leasetest.Opener {
//			prefix := newPrefix(t) // an empty store of the test's own
//			return func(t *testing.T) leasestore.Store { return mystore.New(connect(t), prefix) }
//		}}.Run(t)
//	}
//
// Run checks that each method honors its contract, and makes holders start, crash, lose their
// numbers and give them back. It also checks that histories of requests are linearizable. An
// adversary drops requests and responses while holders take numbers from each other.
package leasetest

import (
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease/leasestore"
)

// Opener opens one store. Each call returns a handle with its own connection to the same rows. An
// Opener must be safe for concurrent use.
type Opener func(t *testing.T) leasestore.Store

// Suite holds the tests that a store must pass.
type Suite struct {
	// Open returns an Opener for an empty store.
	Open func(t *testing.T) Opener

	// Expiry is the shortest expiry that the store supports; zero means 100 ms.
	Expiry time.Duration

	// Kill disconnects a store that an Opener returned, as a crash of its process would. Set Kill
	// if a holder counts as alive for as long as its connection lasts. Leave it nil if a holder
	// counts as dead once it has gone a full expiry without writing.
	Kill func(t *testing.T, s leasestore.Store)

	// Delete deletes the row of a number behind the store's back. If it is nil, the suite does not
	// test that a number whose row was deleted is never again given out as new.
	Delete func(t *testing.T, s leasestore.Store, number int64)

	// Requests returns how many requests all handles of an Opener's store have sent to their
	// servers. If it is nil, the suite counts calls to the store's methods.
	Requests func(t *testing.T, s leasestore.Store) int64
}

// Run runs all tests.
func (s Suite) Run(t *testing.T) {
	s = s.prepared()
	for name, test := range map[string]func(b bench){
		"Empty": empty, "Insert": insert, "Swap": swap, "Bounds": bounds, "Fresh": freshness, "Ranges": ranges, "Look": look, "Layout": layout, "Change": change, "List": list,
		"Once": once, "Cancelled": cancelled, "Life": life, "Crash": crash, "Loss": loss, "Herd": herd, "Deleted": deleted, "Numbers": numbers,
		"Restart": restart, "Remembered": remembered, "Unrecorded": unrecorded, "Backfill": backfill, "Abandoned": abandoned, "Sites": sites,
		"Linearizable": func(b bench) { Linearizable(b.T, b.open) }, "Adversary": bench.adversary, "AlwaysFree": bench.alwaysFree,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // most of the time is spent waiting
			open := s.Open(t)
			test(bench{t, open(t), s, open})
		})
	}
}

// Herd runs only the test in which many holders start at the same time. Use it, for example, to
// count requests in another way.
func (s Suite) Herd(t *testing.T) {
	open := s.Open(t)
	herd(bench{t, open(t), s.prepared(), open})
}

func (s Suite) prepared() Suite {
	if s.Expiry == 0 {
		s.Expiry = 100 * time.Millisecond
	}
	if s.Kill == nil {
		s.Kill = func(*testing.T, leasestore.Store) {}
	}
	return s
}
