//go:build linux

package workeretcd_test

import (
	"fmt"
	"testing"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
	"github.com/uidring/uidring/worker/workeretcd"
)

// BenchmarkStart and BenchmarkHerd are the cost of a start. Each start of a herd has a Store of its
// own, as processes do.
func BenchmarkStart(b *testing.B) { starts(b).Start(b) }

func BenchmarkHerd(b *testing.B) { starts(b).Herd(b) }

func starts(b *testing.B) leasetest.Benchmark {
	members, n := servertest.StartEtcd(b, 1), 0
	client, prefix := connect(b, members), ""
	open := func(b *testing.B, _ lease.Store) lease.Store {
		return workeretcd.NewStore(client, workeretcd.Config{Prefix: prefix})
	}
	return leasetest.Benchmark{Another: open, Open: func(b *testing.B) lease.Store {
		n++
		prefix = fmt.Sprint("/", n)
		return open(b, nil)
	}}
}
