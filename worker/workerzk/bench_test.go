//go:build linux

package workerzk_test

import (
	"testing"
	"time"

	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// BenchmarkStart and BenchmarkHerd are the cost of a start. Each start of a herd has a Store of its
// own, as processes do.
func BenchmarkStart(b *testing.B) { starts(b).Start(b) }

func BenchmarkHerd(b *testing.B) { starts(b).Herd(b) }

func starts(b *testing.B) leasetest.Benchmark {
	conn, path := connect(b, shared(b), 20*time.Second, nil), ""
	open := func(b *testing.B, _ lease.Store) lease.Store { return prepared(b, conn, path) }
	return leasetest.Benchmark{Another: open, Open: func(b *testing.B) lease.Store {
		path = newPath()
		return open(b, nil)
	}}
}
