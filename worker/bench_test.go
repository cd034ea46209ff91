package worker_test

import (
	"sync"
	"testing"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease/leasestore"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// BenchmarkStart and BenchmarkHerd are the cost of a start, on each kind of database, and
// BenchmarkRegistry is that of 1,000 Registries that start at the same time, or 100 on SQLite.
//
//	go test ./worker -run '^$' -bench 'Start|Herd|Registry' -benchtime 1x
func BenchmarkStart(b *testing.B) { starts(b, leasetest.Benchmark.Start) }

func BenchmarkHerd(b *testing.B) { starts(b, leasetest.Benchmark.Herd) }

func starts(b *testing.B, measure func(leasetest.Benchmark, *testing.B)) {
	for _, kind := range dbtest.Kinds {
		b.Run("db="+kind, func(b *testing.B) {
			var own *store
			x := leasetest.Benchmark{Open: func(b *testing.B) leasestore.Store {
				own = pooled(b, kind, leaser)
				return worker.NewStore(own.DB, worker.StoreConfig{Prefix: own.prefix})
			}, Fill: func(b *testing.B, _ leasestore.Store, rows int64) { own.fill(b, 0, rows) }}
			if kind == "sqlite" {
				x.Starts = []int{100}
			}
			measure(x, b)
		})
	}
}

func pooled(b *testing.B, kind string, of assigner) *store {
	s := newStore(b, kind, of)
	pool, err := s.DB.DB()
	need.Must(b, err)
	pool.SetMaxOpenConns(40)
	pool.SetMaxIdleConns(40)
	s.create(b)
	return s
}

func BenchmarkRegistry(b *testing.B) {
	for _, kind := range dbtest.Kinds {
		b.Run("db="+kind, func(b *testing.B) {
			s, starts := pooled(b, kind, registry), 1000
			if kind == "sqlite" {
				starts = 100
			}
			for b.Loop() {
				var starting sync.WaitGroup
				for range starts {
					starting.Go(func() {
						if _, err := s.registry(s.DB).Assign(b.Context(), 1<<22-1); err != nil {
							b.Error(err)
						}
					})
				}
				starting.Wait()
			}
		})
	}
}
