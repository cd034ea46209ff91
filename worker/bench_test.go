package worker_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasetest"
)

// BenchmarkAssigner is the cost of an id under a number that is leased, beside one
// that is not. Cached borrows without bound, so that the lease has to reserve
// hours of ids each second.
//
//	go test ./worker -run '^$' -bench Assigner -count 6
func BenchmarkAssigner(b *testing.B) {
	var writes atomic.Int64 // statements that change a row
	leaser := func(b *testing.B) uid.Leaser {
		db, err := dbtest.Open(filepath.Join(b.TempDir(), "worker.db"))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { dbtest.Close(db) })
		if err := db.Callback().Raw().Register("bench:count", func(*gorm.DB) { writes.Add(1) }); err != nil {
			b.Fatal(err)
		}
		return worker.NewLeaser(db, lease.Config{})
	}
	ctx := context.Background()
	// As many ids a tick as it can make, so that it never waits.
	roomy := bits.Layout{TimeBits: 31, WorkerBits: 1, SequenceBits: 31, Epoch: bits.Default().Epoch, Unit: time.Second}
	for kind, open := range map[string]func(w uid.Leaser) (generator, error){
		"cached": func(w uid.Leaser) (generator, error) {
			return uid.NewCached(ctx, w, uid.CachedConfig{MaxBorrow: -1, RejectedTake: uid.Wait})
		},
		"default": func(w uid.Leaser) (generator, error) { return uid.NewDefault(ctx, w, uid.DefaultConfig{Layout: roomy}) },
	} {
		for name, worker := range map[string]func(*testing.B) uid.Leaser{
			"static": func(*testing.B) uid.Leaser { return uid.StaticWorker(1) },
			"leased": leaser,
		} {
			b.Run("generator="+kind+"/worker="+name, func(b *testing.B) {
				gen, err := open(worker(b))
				if err != nil {
					b.Fatal(err)
				}
				defer gen.Close()
				writes.Store(0)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := gen.Next(); err != nil {
						b.Fatal(err)
					}
				}
				if name == "leased" {
					b.ReportMetric(float64(writes.Load())/b.Elapsed().Seconds(), "writes/s")
				}
			})
		}
	}
}

// generator is what both generators can do.
type generator interface {
	Next() (uid.ID, error)
	Close() error
}

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
