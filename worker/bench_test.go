package worker_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

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
				own = pooled(b, kind, leaser, 40)
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

func pooled(b *testing.B, kind string, of assigner, connections int) *store {
	s := newStore(b, kind, of)
	pool, err := s.DB.DB()
	need.Must(b, err)
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	s.create(b)
	return s
}

// BenchmarkFirstStarts compares 1,000 Leasers that start at the same time in an empty database with as many Registries, near
// the database and 20 ms away from it, over 40 connections. On SQLite and with -short, 100 start.
func BenchmarkFirstStarts(b *testing.B) {
	for _, kind := range dbtest.Kinds {
		for _, delay := range []time.Duration{0, 20 * time.Millisecond} {
			for _, of := range tables {
				b.Run(fmt.Sprintf("db=%s/delay=%v/of=%s", kind, delay, of.name), func(b *testing.B) {
					starts := 1000
					if kind == "sqlite" || testing.Short() {
						starts = 100
					}
					var statements atomic.Int64
					for b.Loop() {
						s := pooled(b, kind, of, 40)
						db, pool := s.Pooled(b)
						pool.Set(dbtest.Faults{Statement: func(context.Context, string) error { statements.Add(1); time.Sleep(delay); return nil }})
						source := s.on(db, quiet)
						var starting sync.WaitGroup
						for range starts {
							starting.Go(func() {
								if _, err := holdertest.Try(b.Context(), b, source, max22, time.Now); err != nil {
									b.Error(err)
								}
							})
						}
						starting.Wait()
						pool.Heal()
					}
					b.ReportMetric(float64(statements.Load())/float64(b.N*starts), "statements/start")
				})
			}
		}
	}
}
