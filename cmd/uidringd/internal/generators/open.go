package generators

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/source"
	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

func (n *state) open(ctx context.Context, c *config.Config, g *config.Generator, logger *slog.Logger) error {
	switch g.Kind {
	case "segment":
		return n.openSegment(ctx, c, g, logger)
	case "tags":
		return n.openTags(ctx, c, g, logger)
	}
	return n.openClocked(ctx, c, g, logger)
}

// clocked is a generator under a worker number.
type clocked interface {
	uid.Generator
	Layout() bits.Layout
}

// construct makes a generator under a worker number.
func construct(ctx context.Context, leaser uid.WorkerSource, g *config.Generator, logger *slog.Logger) (clocked, error) {
	switch g.Kind {
	case "cached":
		return uid.NewCached(ctx, leaser, g.CachedConfig(logger))
	case "default":
		return uid.NewDefault(ctx, leaser, g.DefaultConfig(logger))
	}
	return uid.NewSlots(ctx, leaser, g.SlotsConfig(logger))
}

// openClocked opens the source of a worker number, and then the generator.
func (n *state) openClocked(ctx context.Context, c *config.Config, g *config.Generator, logger *slog.Logger) error {
	from, leases, err := n.numbers(ctx, c.Store(g.Store), g, logger)
	if err != nil {
		return err
	}
	wrap := func(err error) error {
		if leases == nil {
			return err
		}
		return leases.Wrap(inKeys(err))
	}
	if asked, ok := from.(database.Source); ok {
		from = preferring{asked, newLayout(c, g.Store)}
	}
	made, err := construct(ctx, from, g, logger)
	if err != nil {
		return wrap(err)
	}
	n.ends = append(n.ends, func(ctx context.Context) error { return wrap(made.Shutdown(ctx)) })
	n.entry = newEntry(g.Name, g.Kind, g)
	layout := made.Layout()
	n.entry.Claimer, n.entry.Layout = made, &layout
	if leases != nil {
		n.entry.Layouts = leases.Remembered
	}
	n.stats = func() map[string]uid.Stats { return map[string]uid.Stats{n.entry.Name: made.Stats()} }
	n.entry.Rate, n.entry.Burst = g.PerCaller(layout)
	return nil
}

// numbers opens where a worker number comes from. leases is nil for a fixed number, which needs no store.
func (n *state) numbers(ctx context.Context, store *config.Store, g *config.Generator, logger *slog.Logger) (from uid.WorkerSource, leases *database.Leases, err error) {
	fixed := fixedNumber(g.Worker)
	if store == nil {
		if g.Worker.Kind == source.Static {
			logger.Warn("the worker number is fixed, and no store keeps other servers from it: two with one number repeat ids", "worker", g.Worker.Number, "do", "set store")
		}
		return fixed, nil, nil
	}
	leased := g.LeaseConfig(logger)
	leased.Assigner = fixed
	leases, err = store.DSN().Leases(ctx, leased)
	if err != nil {
		return nil, nil, err
	}
	n.ends = append(n.ends, func(context.Context) error { return leases.Close() })
	from, missing := leases.Source(ctx, g.Worker.Kind == source.Registry, logger)
	if missing != "" { // of the generators that start together, one logs it
		if _, said := n.set.created.LoadOrStore(missing+" of "+leases.Name, true); !said {
			logger.Info("creating the "+missing, "store", leases.Name)
		}
	}
	return from, leases, nil
}

// preferring is a source whose new store gets a layout that does not depend on which generator of the config starts first.
type preferring struct {
	database.Source
	layout bits.Layout
}

// Layout returns the layout for a generator whose config states none.
func (p preferring) Layout(ctx context.Context) (layout string, stored bool, err error) {
	layout, stored, err = p.Source.Layout(ctx)
	if err == nil && !stored {
		layout = p.layout.String()
	}
	return layout, stored, err
}

// newLayout returns what all generators of a new store have if the config states no layout: fleet, or registry if all
// register their numbers.
func newLayout(c *config.Config, store string) bits.Layout {
	for _, g := range c.Generators {
		if g.Clocked() && g.Store == store && g.Worker.Kind != source.Registry {
			return bits.Fleet()
		}
	}
	return bits.Registry()
}

// inKeys names the keys of the config where the library's error names fields in Go.
func inKeys(err error) error {
	kind, ok := errors.AsType[*worker.KindError](err)
	if !ok {
		return err
	}
	out := "remove numbers, and set worker: lease or worker: registry"
	if kind.Divided {
		out = "set numbers, or worker: statefulset or static:N"
	}
	return fmt.Errorf("%w: %s; %s; or give the generator a store of its own", worker.ErrMixed, kind.Way(), out)
}

// fixed gives a number that the config or the pod's name says.
type fixed interface {
	uid.WorkerSource
	lease.Assigner
}

// fixedNumber returns nil if the number is not fixed.
func fixedNumber(w source.Source) fixed {
	switch w.Kind {
	case source.Static:
		return lease.NewStatic(w.Number)
	case source.StatefulSet:
		return lease.NewStatefulSet()
	}
	return nil
}

func (n *state) openSegment(ctx context.Context, c *config.Config, g *config.Generator, logger *slog.Logger) error {
	counters, err := n.counters(ctx, c.Store(g.Store), g.Table, g.Create, logger)
	if err != nil {
		return err
	}
	made, err := segment.New(ctx, counters.Store, g.Tag, g.TagsConfig(logger).Config)
	if err != nil {
		return counters.Wrap(err)
	}
	n.ends = append(n.ends, func(ctx context.Context) error { return counters.Wrap(made.Shutdown(ctx)) })
	n.entry = newEntry(g.Name, g.Kind, g)
	n.entry.Claimer = made
	n.stats = func() map[string]uid.Stats { return map[string]uid.Stats{g.Name: made.Stats()} }
	return nil
}

func (n *state) counters(ctx context.Context, store *config.Store, table string, create bool, logger *slog.Logger) (*database.Counters, error) {
	counters, err := store.DSN().Counters(ctx, table, create, logger)
	if err != nil {
		return nil, err
	}
	n.ends = append(n.ends, func(context.Context) error { return counters.Close() })
	return counters, nil
}
