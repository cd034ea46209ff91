// Package segmenttest tests implementations of [segment.Store]. [Suite] is the conformance suite;
// [Memory] is a store for testing code that uses segments.
//
// A store's test package contains
//
//	func TestMain(m *testing.M) {
//		segmenttest.Child(open) // open connects to an address
//		os.Exit(m.Run())
//	}
//
//	func TestStore(t *testing.T) { segmenttest.Suite{Open: backend}.Run(t) }
//
// where backend returns, for each test, a new [Backend] without counters.
package segmenttest
