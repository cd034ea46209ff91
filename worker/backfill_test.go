package worker_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// Leasers and Registries run, stop, crash and run again. A Backfill on their store makes ids of each tick in which they
// lived, while others run. No id is made twice.
func TestBackfillBesideAll(t *testing.T) {
	need.Time(t)
	each(t, leasers, func(t *testing.T, s *store) {
		began, seen := time.Now(), map[uid.ID]bool{}
		add := func(id uid.ID) {
			if seen[id] {
				t.Fatalf("%d is made twice", id)
			}
			seen[id] = true
		}
		start := func(kind string) *uid.Default {
			gen, err := uid.NewDefault(t.Context(), s.kind(kind, s.DB), uid.DefaultConfig{Layout: bits.Snowflake(), Logger: silent})
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
		alive := []*uid.Default{start(aLeaser), start(aRegistry)}
		ended, end := context.WithCancel(t.Context())
		end()
		for _, ctx := range []context.Context{ended, t.Context(), t.Context()} { // the first one crashes, the last two have one number
			gen := start(aLeaser)
			run(gen)
			if err := gen.Shutdown(ctx); ctx != ended {
				need.Must(t, err)
			}
		}
		for _, kind := range []string{aLeaser, aRegistry} {
			run(alive...)
			b, err := uid.NewBackfill(t.Context(), s.kind(kind, s.DB), uid.BackfillConfig{Layout: bits.Snowflake()})
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
