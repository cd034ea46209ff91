package segmenttest

import (
	"errors"
	"slices"
	"testing"

	"github.com/uidring/uidring/uid/segment"
)

// Backend is a store under test. The suite skips tests that need a field that is not set.
type Backend struct {
	// Store returns a client with its own connections.
	Store func(t *testing.T) segment.Store

	// Address is what another process connects to: see [Child].
	Address string

	// Faulty returns a client, and functions that make its requests fail.
	Faulty func(t *testing.T) (segment.Store, Faults)
}

// Faults make the requests of a client fail until Heal is called. Set all fields for [Suite.Run];
// [Suite.Outages] needs only Cut, Hang and Heal.
type Faults struct {
	// LoseAnswer makes the store perform each write, call then(), and report that the write failed.
	LoseAnswer func(then func())

	LoseWrite func() // the store drops writes, and reports that they failed
	Cut       func() // connections break, and no new ones are made
	Hang      func() // requests block until their context is done
	Heal      func() // requests succeed again
}

// store has all methods of a store that makes counters.
type store interface {
	segment.Store
	segment.Returner
	segment.Creator
	segment.Raiser
	segment.Lister
}

// bench is one test's view of a backend.
type bench struct {
	*testing.T
	Backend
	store
}

// Suite tests a store of counters.
type Suite struct {
	// Open returns a new backend without counters, for each test.
	Open func(t *testing.T) Backend
}

// Run runs all tests.
func (s Suite) Run(t *testing.T) { s.run(t, all) }

// Races runs only the tests in which clients race. If a store can be opened in more than one way,
// use Run for one of them and Races for each of the others.
func (s Suite) Races(t *testing.T) { s.run(t, races) }

// Outages runs only the tests in which the store is unavailable. Use it to test against a server
// that is killed and restarted.
func (s Suite) Outages(t *testing.T) { s.run(t, outages) }

// test is a test of a suite. It is skipped if uses returns false for the backend. A nil
// uses is true for every backend.
type test struct {
	name string
	run  func(b *bench)
	uses func(b Backend) bool
}

var (
	races = []test{
		{"Processes", manyProcesses, func(b Backend) bool { return b.Address != "" }},
		{"ReturnRaces", returnRaces, nil},
		{"CreateOnce", createOnce, nil},
	}
	outages = []test{
		{"Hanging", hanging, faulty},
		{"Crashes", crashes, faulty},
	}
	all = slices.Concat([]test{
		{"Ranges", ranges, nil},
		{"OwnStep", ownStep, nil},
		{"Tags", tags, nil},
		{"UnknownTag", unknownTag, nil},
		{"List", list, nil},
		{"Raise", raise, nil},
		{"Overflow", overflow, nil},
		{"Spent", spent, nil},
		{"Return", returns, nil},
		{"ContextEnded", contextEnded, nil},
		{"LostAnswer", lostAnswer, faulty},
		{"LostWrite", lostWrite, faulty},
		{"LostAnswerOfReturn", lostReturn, faulty},
	}, races, outages)
)

func (s Suite) run(t *testing.T, tests []test) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := s.Open(t)
			if test.uses != nil && !test.uses(b) {
				t.Skip("the backend lacks the fields that the test needs")
			}
			all, ok := b.Store(t).(store)
			if !ok {
				t.Fatal("the store is not a Returner, Creator, Raiser and Lister")
			}
			test.run(&bench{t, b, all})
		})
	}
}

func faulty(b Backend) bool { return b.Faulty != nil }

const tag = "orders"

func (b *bench) create(tag string, next, step int64) {
	b.Helper()
	if err := b.Create(b.Context(), tag, next, step); err != nil {
		b.Fatalf("Create(%q, %d, %d) = %v", tag, next, step, err)
	}
}

// want reserves n ids of tag and wants the range [first, first+count).
func (b *bench) want(s segment.Store, tag string, n, first, count int64) {
	b.Helper()
	if f, c, err := s.Reserve(b.Context(), tag, n); f != first || c != count || err != nil {
		b.Fatalf("Reserve(%q, %d) = %d, %d, %v, want %d, %d", tag, n, f, c, err, first, count)
	}
}

// refused wants that n ids of tag cannot be reserved.
func (b *bench) refused(n int64, want error) {
	b.Helper()
	if f, c, err := b.Reserve(b.Context(), tag, n); !errors.Is(err, want) {
		b.Fatalf("Reserve(%q, %d) = %d, %d, %v, want %v", tag, n, f, c, err, want)
	}
}

func (b *bench) next() int64 {
	b.Helper()
	now, err := b.Raise(b.Context(), tag, 0)
	if err != nil {
		b.Fatalf("Raise(%q, 0) = %v", tag, err)
	}
	return now
}
