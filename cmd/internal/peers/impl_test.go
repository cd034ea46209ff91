package main

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/bench"
	"github.com/uidring/uidring/internal/contention"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
	"github.com/uidring/uidring/uid/uidclient"
	"github.com/uidring/uidring/worker/lease"
)

var batches = []int{16, bench.Batch}

// calledAdd has the results of Next, so that it costs as much as a call of Next that is not
// inlined.
//
//go:noinline
func calledAdd(counter *contention.Int64) (int64, error) { return counter.Add(1), nil }

// fill writes consecutive ids, eight at a time: the least work of a batch.
//
//go:noinline
func fill(counter *contention.Int64, ids []uid.ID) {
	first := uid.ID(counter.Add(int64(len(ids)))) - uid.ID(len(ids)) + 1
	for ; len(ids) >= 8; first, ids = first+8, ids[8:] {
		eight := (*[8]uid.ID)(ids)
		eight[0], eight[1], eight[2], eight[3] = first, first+1, first+2, first+3
		eight[4], eight[5], eight[6], eight[7] = first+4, first+5, first+6, first+7
	}
}

// started makes gen ready to be measured, and closes it at the end.
func started[G interface{ Close() error }](b *testing.B, gen G, err error) G {
	need.Must(b, err)
	b.Cleanup(func() { need.Must(b, gen.Close()) })
	b.ReportAllocs()
	b.ResetTimer()
	return gen
}

// warm draws until the loads of gen have grown as under load. Goroutines that wait for a load when
// they begin can begin on one core, where both get their counter of RunParallel on one cache line:
// then an id takes 50 ns in place of 8, for as long as the loop runs.
func warm[G uid.Generator](b *testing.B, gen G, err error) G {
	need.Must(b, err)
	ids := make([]uid.ID, 4096)
	for s := gen.Stats(); s.Loads.LastSize < 500_000 || s.Remaining < 100_000; s = gen.Stats() {
		must(gen.NextN(ids))
	}
	return started(b, gen, nil)
}

func cached(b *testing.B) *uid.Cached {
	gen, err := bench.NewCached(uid.CachedConfig{Layout: bits.Fleet()})
	return started(b, gen, err)
}

func newDefault(b *testing.B) *uid.Default {
	gen, err := bench.NewDefault()
	return started(b, gen, err)
}

var silent = slog.New(slog.DiscardHandler)

func slots(b *testing.B) *uid.Slots {
	gen, err := uid.NewSlots(b.Context(), lease.NewStatic(0), uid.SlotsConfig{Layout: bench.Roomy, Logger: silent})
	return started(b, gen, err)
}

// counter starts a segment on a store in memory.
func counter(b *testing.B) *segment.Counter {
	gen, err := segment.New(b.Context(), new(segmenttest.Memory), "orders", segment.Config{Create: true, Logger: silent})
	return warm(b, gen, err)
}

// counterServer is a server process with a counter in SQLite, both by default.
var counterServer = sync.OnceValues(func() (*process, error) { return startUidringd(counterConfig) })

func client(b *testing.B) *uidclient.Client {
	server, err := counterServer()
	need.Must(b, err)
	gen, err := uidclient.New(context.Background(), []string{"http://" + server.http}, "orders", uidclient.Config{Logger: silent})
	return warm(b, gen, err)
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
