package worker_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/processes"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// A Backfill makes ids under a number that its store has never given, beside those who hold
// others. It refuses a number that is not of a store.
func TestBackfillNumbers(t *testing.T) {
	t.Setenv("POD_NAME", "billing-7")
	db := dbtest.New(t, "sqlite").DB
	registry, leaser := worker.NewRegistry(db, worker.RegistryConfig{}), worker.NewLeaser(db, lease.Config{})
	choosing := func(config lease.Config) *lease.Leaser {
		return lease.New(worker.NewStore(db, worker.StoreConfig{Prefix: "chosen_"}), config)
	}
	seen := map[int64]bool{}
	for _, c := range []struct {
		name   string
		leaser uid.WorkerSource
		want   error // nil is a number
	}{
		{"Leaser", leaser, nil}, // which draws 1, gets it back, and draws another
		{"Leaser again", leaser, nil},
		{"Registry", registry, nil},
		{"Leaser beside a Registry", leaser, nil},
		{"range", choosing(lease.Config{Numbers: &lease.Range{From: 100, To: 101}}), nil},
		{"range again", choosing(lease.Config{Numbers: &lease.Range{From: 100, To: 101}}), nil},
		{"range that is used up", choosing(lease.Config{Numbers: &lease.Range{From: 100, To: 101}}), lease.ErrExhausted},
		{"Leaser that asks for one", choosing(lease.Config{Assigner: lease.NewStatic(9)}), lease.ErrConfig},
		{"StatefulSet", lease.NewStatefulSet(), uid.ErrConfig},
		{"StaticWorker", lease.NewStatic(11), uid.ErrConfig},
		{"an Assigner of the user's", lease.NewPermanent(lease.NewStatic(12)), uid.ErrConfig},
	} {
		b, err := uid.NewBackfill(t.Context(), c.leaser, uid.BackfillConfig{})
		if c.want != nil || err != nil {
			if !errors.Is(err, c.want) {
				t.Errorf("%s: NewBackfill() = %v, want %v", c.name, err, c.want)
			}
			continue
		}
		if _, err := b.At(time.Now().Add(-time.Hour)); err != nil || seen[b.Worker()] {
			t.Errorf("%s: number %d, %v; want another one", c.name, b.Worker(), err)
		}
		seen[b.Worker()] = true
		if err := b.Close(); err != nil {
			t.Errorf("%s: Close() = %v", c.name, err)
		}
	}
}

// layout has ticks of a millisecond.
var layout = bits.Layout{TimeBits: 41, WorkerBits: 10, SequenceBits: 12, Epoch: time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), Unit: time.Millisecond}

// Leasers and Registries run, stop, crash and run again. A Backfill on their store makes ids of each tick in which they
// lived, while others run. No id is made twice.
func TestBackfillBesideAll(t *testing.T) {
	need.Time(t)
	each(t, leasers, func(t *testing.T, s *store) {
		began, seen := time.Now(), map[uid.ID]bool{}
		add := func(id uid.ID) {
			if seen[id] {
				parts, _ := bits.NewAllocator(layout)
				t.Fatal(parts.Parse(int64(id)))
			}
			seen[id] = true
		}
		start := func(kind string) *uid.Default {
			gen, err := uid.NewDefault(t.Context(), s.kind(kind, s.DB), uid.DefaultConfig{Layout: layout, Logger: silent})
			need.Must(t, err)
			t.Cleanup(func() { gen.Close() })
			return gen
		}
		run := func(gens ...*uid.Default) {
			for range 50 {
				time.Sleep(time.Millisecond)
				for _, gen := range gens {
					id, err := gen.Next()
					need.Must(t, err)
					add(id)
				}
			}
		}
		for range 2 { // the second one has the number of the first
			gen := start(aLeaser)
			run(gen)
			need.Must(t, gen.Close())
		}
		_, ids := differ(t, processes.Run(t, slices.Concat(s.children(t, leaser, 2), s.children(t, registry, 1))...))
		for id := range ids {
			add(uid.ID(id))
		}
		alive := []*uid.Default{start(aLeaser), start(aRegistry)}
		for _, kind := range []string{aLeaser, aRegistry} {
			run(alive...)
			b, err := uid.NewBackfill(t.Context(), s.kind(kind, s.DB), uid.BackfillConfig{Layout: layout})
			need.Must(t, err)
			for at := began; ; at = at.Add(time.Millisecond) {
				var ids [4]uid.ID
				if _, err := b.AtN(at, ids[:]); errors.Is(err, uid.ErrBackfillTime) {
					break // it has come to its start
				} else if err != nil {
					t.Fatal(err)
				}
				for _, id := range ids {
					add(id)
				}
			}
			need.Must(t, b.Close())
		}
		run(alive...)
	})
}
