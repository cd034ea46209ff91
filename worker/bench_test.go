package worker_test

import (
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease/leasestore"
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
			x := leasetest.Benchmark{Open: func(b *testing.B) leasestore.Store {
				own = newStore(b, kind, leaser)
				pool, err := own.DB.DB()
				need.Must(b, err)
				pool.SetMaxOpenConns(40)
				pool.SetMaxIdleConns(40)
				own.create(b)
				return worker.NewStore(own.DB, worker.StoreConfig{Prefix: own.prefix})
			}, Fill: func(b *testing.B, s leasestore.Store, rows int64) {
				_, err := s.SwapLayout(b.Context(), "", leasestore.Terms{Layout: holdertest.Layout})
				need.Must(b, err)
				own.fill(b, 0, rows)
				need.Must(b, s.(*worker.Store).Raise(b.Context(), rows))
			}}
			if kind == "sqlite" {
				x.Starts = []int{100}
			}
			measure(x, b)
		})
	}
}
