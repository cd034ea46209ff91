//go:build linux

package workerredis_test

import (
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
	"github.com/uidring/uidring/worker/workerredis"
)

// BenchmarkStart and BenchmarkHerd are the cost of a start. Each start of a herd has a Store of its
// own, as processes do.
func BenchmarkStart(b *testing.B) { starts(b).Start(b) }

func BenchmarkHerd(b *testing.B) { starts(b).Herd(b) }

func starts(b *testing.B) leasetest.Benchmark {
	client := redis.NewClient(&redis.Options{Addr: servertest.StartRedis(b).Address(), PoolSize: 40})
	b.Cleanup(func() { client.Close() })
	prefix, n := "", 0
	open := func(b *testing.B, _ leasestore.Store) leasestore.Store {
		return workerredis.NewStore(client, workerredis.Config{Prefix: prefix})
	}
	return leasetest.Benchmark{Another: open, Open: func(b *testing.B) leasestore.Store {
		n++
		prefix = fmt.Sprintf("{%d}", n)
		return open(b, nil)
	}}
}
