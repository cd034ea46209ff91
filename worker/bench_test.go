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
