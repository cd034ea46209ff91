package worker_test

import (
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// BenchmarkStart and BenchmarkHerd are the cost of a start, on each kind of database.
//
//	go test ./worker -run '^$' -bench 'Start|Herd' -benchtime 1x
func BenchmarkStart(b *testing.B) { starts(b, leasetest.Benchmark.Start) }

func BenchmarkHerd(b *testing.B) { starts(b, leasetest.Benchmark.Herd) }

func starts(b *testing.B, measure func(leasetest.Benchmark, *testing.B)) {
	for _, kind := range dbtest.Kinds {
		b.Run("db="+kind, func(b *testing.B) {
			var own *store
			x := leasetest.Benchmark{Open: func(b *testing.B) lease.Store {
				own = &store{dbtest.New(b, kind), leaser}
				pool, err := own.DB.DB()
				if err != nil {
					b.Fatal(err)
				}
				pool.SetMaxOpenConns(40)
				pool.SetMaxIdleConns(40)
				own.create(b)
				return worker.NewStore(own.DB, worker.StoreConfig{Table: own.Table})
			}, Fill: func(b *testing.B, _ lease.Store, rows int64) { own.fill(b, 0, rows) }}
			if kind == "sqlite" {
				x.Starts = []int{100}
			}
			measure(x, b)
		})
	}
}
