// Package settled tests which layout generators have on a store of worker numbers.
package settled

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker/lease"
)

// running is what the tests of layouts need of a generator.
type running interface {
	Layout() bits.Layout
	Close() error
}

// generators starts each kind of generator.
var generators = map[string]func(context.Context, uid.WorkerSource, bits.Layout, *slog.Logger) (running, error){
	"Cached": func(ctx context.Context, s uid.WorkerSource, layout bits.Layout, log *slog.Logger) (running, error) {
		return uid.NewCached(ctx, s, uid.CachedConfig{Layout: layout, Logger: log})
	},
	"Default": func(ctx context.Context, s uid.WorkerSource, layout bits.Layout, log *slog.Logger) (running, error) {
		return uid.NewDefault(ctx, s, uid.DefaultConfig{Layout: layout, Logger: log})
	},
	"Slots": func(ctx context.Context, s uid.WorkerSource, layout bits.Layout, log *slog.Logger) (running, error) {
		return uid.NewSlots(ctx, s, uid.SlotsConfig{Layout: layout, Logger: log})
	},
	"Backfill": func(ctx context.Context, s uid.WorkerSource, layout bits.Layout, log *slog.Logger) (running, error) {
		return uid.NewBackfill(ctx, s, uid.BackfillConfig{Layout: layout, Logger: log})
	},
}

// Home is where the generators of a test have their numbers.
type Home struct {
	Fresh   bits.Layout                   // of a generator without a layout, if there were no numbers before
	Source  func() uid.WorkerSource       // a new one
	Orphans map[string]func(t *testing.T) // ways to leave numbers without a layout; nil is a Home that remembers nothing
}

var quiet = slog.New(slog.DiscardHandler)

// Kinds are the kinds of generators.
var Kinds = []string{"Cached", "Default", "Slots", "Backfill"}

// Run starts generators of some kinds in each situation: a generator whose config states no layout has the layout that the store
// remembers or, in a new store, that of its source. next returns a new Home.
func Run(t *testing.T, kinds []string, next func() Home) {
	t.Helper()
	other := bits.Layout{TimeBits: 31, WorkerBits: 20, SequenceBits: 12, Epoch: time.Date(2019, time.January, 1, 0, 0, 0, 0, time.UTC), Unit: time.Second}
	for _, kind := range kinds {
		start, h := generators[kind], next()
		if kind == "Backfill" && h.Orphans == nil {
			continue // the number is not new
		}
		begin := func(stated bits.Layout, log *slog.Logger) (bits.Layout, error) {
			gen, err := start(t.Context(), h.Source(), stated, log)
			if err != nil {
				return bits.Layout{}, err
			}
			return gen.Layout(), gen.Close()
		}
		want := func(situation string, stated, want bits.Layout, from string) {
			t.Helper()
			var log logged.Text
			if got, err := begin(stated, log.Logger()); got != want || err != nil || log.Count("uid: started", "layout_from="+from) != 1 {
				t.Errorf("%s, %s: layout %v and %v, want %v from %s; logged\n%s", kind, situation, got, err, want, from, log.String())
			}
		}
		want("new store", bits.Layout{}, h.Fresh, "default")
		if h.Orphans == nil {
			continue
		}
		want("after the first start", bits.Layout{}, h.Fresh, "store")
		want("after the first start", h.Fresh, h.Fresh, "config")

		h = next()
		want("first start with a layout", other, other, "config")
		want("remembered layout", bits.Layout{}, other, "store")
		if _, err := begin(h.Fresh, quiet); !errors.Is(err, lease.ErrLayout) {
			t.Errorf("%s, another layout than the remembered one: %v, want ErrLayout", kind, err)
		}

		for how := range h.Orphans {
			h = next()
			h.Orphans[how](t)
			_, err := begin(bits.Layout{}, quiet)
			var unknown *lease.UnknownLayoutError
			if !errors.Is(err, lease.ErrLayout) || !errors.As(err, &unknown) {
				t.Errorf("%s, %s without a layout: %v, want an UnknownLayoutError", kind, how, err)
			}
			if unknown != nil && unknown.Err == nil {
				need.Error(t, err, lease.ErrLayout, "state the layout in the config", "docs/migrating.md")
				want(how, other, other, "config")
			}
		}

		for _, stated := range []bits.Layout{{}, other} {
			h = next()
			var made [2]bits.Layout
			var errs [2]error
			var both sync.WaitGroup
			for i, layout := range []bits.Layout{{}, stated} {
				both.Go(func() { made[i], errs[i] = begin(layout, quiet) })
			}
			both.Wait()
			refused := stated != bits.Layout{} && errors.Is(errs[1], lease.ErrLayout) && made[0] == h.Fresh // the other was faster
			if errs[0] != nil || !refused && (errs[1] != nil || made[0] != made[1]) {
				t.Errorf("%s, two starts at once, one with %v: %v and %v", kind, stated, made, errs)
			}
		}
	}
}
