// Package bench measures what an id costs: the subcommand bench, for a user's own machine,
// and loops that the project's own benchmarks share with it.
//
// A call through an interface or a func value costs as much as the fastest generators do.
// Each loop is therefore written out, with a direct call, as in a user's code, and is not inlined
// into its caller: the compiler inlines nothing into a closure that came with it.
package bench

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/contention"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// Batch is how many ids a call of NextN makes.
const Batch = 256

// Roomy is the layout that Default is measured with: Default waits for the next tick once
// it has used up the ids of one, which are 65,536 a second in the default layout.
var Roomy = bits.Layout{
	TimeBits: 31, WorkerBits: 1, SequenceBits: 31,
	Epoch: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
	Unit:  time.Second,
}

// NewCached starts a cached generator that borrows without bound: a loop that takes ids
// reaches any bound within seconds.
func NewCached(config uid.CachedConfig) (*uid.Cached, error) {
	config.MaxBorrow, config.Logger = -1, slog.New(slog.DiscardHandler)
	return uid.NewCached(context.Background(), lease.NewStatic(0), config)
}

// NewDefault starts a default generator with the layout [Roomy].
func NewDefault() (*uid.Default, error) {
	config := uid.DefaultConfig{Layout: Roomy, Logger: slog.New(slog.DiscardHandler)}
	return uid.NewDefault(context.Background(), lease.NewStatic(0), config)
}

// AddParallel is the floor: an atomic add, inlined, to a number that all goroutines share
// and that has its cache lines for itself.
//
//go:noinline
func AddParallel(b *testing.B) {
	counter := new(contention.Int64)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			counter.Add(1)
		}
	})
}

// CachedParallel calls Next.
//
//go:noinline
func CachedParallel(b *testing.B, gen *uid.Cached) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := gen.Next(); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// CachedNextNParallel calls NextN with room for n ids.
//
//go:noinline
func CachedNextNParallel(b *testing.B, gen *uid.Cached, n int) {
	b.RunParallel(func(pb *testing.PB) {
		ids := make([]uid.ID, n)
		for pb.Next() {
			if _, err := gen.NextN(ids); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// DefaultParallel calls Next.
//
//go:noinline
func DefaultParallel(b *testing.B, gen *uid.Default) {
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := gen.Next(); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
