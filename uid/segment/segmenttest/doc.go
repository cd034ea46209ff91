// Package segmenttest tests stores of counters ([segment.Store]), and what draws
// from them: [Memory] is a store for tests.
//
// A store proves itself by [Run]. Its test package has
//
//	func TestMain(m *testing.M) {
//		segmenttest.Child(open) // open connects to an address
//		os.Exit(m.Run())
//	}
//
//	func TestStore(t *testing.T) { segmenttest.Run(t, backend) }
//
// where backend returns a [Backend] with no counters, a new one for each test.
package segmenttest
