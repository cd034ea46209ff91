package leasetest_test

import (
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// The test of a store of one's own, which Memory stands for.
func ExampleSuite() {
	_ = func(t *testing.T) { // func TestStore(t *testing.T)
		leasetest.Suite{
			Open: func(t *testing.T) leasetest.Opener {
				rows := new(leasetest.Memory) // an empty store of the test's own
				return func(t *testing.T) leasestore.Store { return rows }
			},
			Expiry: time.Second, // for a store that judges by whole seconds
		}.Run(t)
	}
}
