package segmenttest_test

import (
	"testing"

	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// The test of a store of one's own, which Memory stands for.
// Address and Faulty would add the tests of other processes and of
// a network.
func ExampleSuite() {
	_ = func(t *testing.T) { // func TestStore(t *testing.T)
		segmenttest.Suite{Open: func(t *testing.T) segmenttest.Backend {
			counters := new(segmenttest.Memory) // an empty table of the test's own
			return segmenttest.Backend{
				Store: func(t *testing.T) segment.Store { return counters },
			}
		}}.Run(t)
	}
}
