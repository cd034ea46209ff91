package generators

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/uidringd/internal/config"
	"github.com/uidring/uidring/cmd/uidringd/internal/stores"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// askFor is how long the questions about a generator may take.
const askFor = 30 * time.Second

// Ask asks the stores of a checked config what the start of each generator would ask:
// whether they answer, tables, rights, layouts, clocks and counters. It changes nothing,
// and returns what would make a start fail. Whether a number is free is not asked: the
// server that runs now may hold it.
func Ask(ctx context.Context, c *config.Config) []error {
	ctx, cancel := context.WithTimeoutCause(ctx, askFor, fmt.Errorf("no answer within %v", askFor))
	defer cancel()
	faults, names := make([]error, len(c.Generators)), make([]string, len(c.Generators))
	var asking sync.WaitGroup
	for i, entry := range c.Generators {
		names[i] = entry.Common().Name
		asking.Go(func() { faults[i] = ask(ctx, c, entry.Generator) })
	}
	asking.Wait()
	return together(names, faults)
}

func ask(ctx context.Context, c *config.Config, g config.Generator) error {
	switch g := g.(type) {
	case *config.Segment:
		return askCounter(ctx, c, &g.Counter, g.Tag, g.Create)
	case *config.Tags:
		return askCounter(ctx, c, &g.Counter, "", creates(c, g.Store))
	}
	return askClocked(ctx, c, g, g.Clock())
}

// errAsked ends a start that was to ask only.
var errAsked = errors.New("all questions have good answers")

// leaser asks what a start's request would, and grants nothing.
type leaser func(context.Context, lease.Request) error

func (f leaser) Lease(ctx context.Context, r lease.Request) (lease.Lease, error) {
	if err := f(ctx, r); err != nil {
		return nil, err
	}
	return nil, errAsked
}

func askClocked(ctx context.Context, c *config.Config, g config.Generator, about *config.Clocked) error {
	_, err := construct(ctx, leaser(func(ctx context.Context, r lease.Request) error {
		if fixed := fixedNumber(about.Worker); fixed != nil {
			if _, err := fixed.Assign(ctx, r.Limit); err != nil {
				return err
			}
		}
		store := c.Store(about.Store)
		if store == nil {
			return nil
		}
		place := store.Place()
		var err error
		if about.Worker.Kind == config.Registry {
			err = askRegistry(ctx, place, r)
		} else {
			err = askLeases(ctx, place, r, about)
		}
		if errors.Is(err, os.ErrNotExist) {
			return place.MayMake()
		}
		return err
	}), g, slog.New(slog.DiscardHandler))
	if errors.Is(err, errAsked) {
		return nil
	}
	return err
}

// nothing is neither a layout nor a token: a store that compares with it changes nothing.
const nothing = "?"

// agree compares the layouts, as a start does, and remembers none.
func agree(ctx context.Context, r lease.Request, store interface {
	SwapLayout(ctx context.Context, old, layout string) (string, error)
}) error {
	return r.Agree(ctx, func(ctx context.Context, old, layout string) (string, error) {
		remembered, err := store.SwapLayout(ctx, nothing, nothing)
		if remembered == old {
			remembered = layout
		}
		return remembered, err
	})
}

func askLeases(ctx context.Context, place database.Place, r lease.Request, about *config.Clocked) error {
	leases, err := place.ExistingLeases(ctx, lease.Config{})
	if err != nil {
		return err
	}
	defer leases.Close()
	before := r.Clock()
	view, err := leases.Store.Look(ctx, lease.Bounds{From: 0, To: r.Limit}, about.Expiry)
	if errors.Is(err, worker.ErrNoTable) { // the first start creates it
		return leases.DB.MayCreate(ctx)
	}
	if err == nil && view.Now > 0 {
		store, after := time.UnixMilli(view.Now), r.Clock()
		if ahead := before.Sub(store); ahead > lease.DefaultMaxSkew || after.Sub(store) < -lease.DefaultMaxSkew {
			err = &lease.SkewError{Ahead: ahead, Max: lease.DefaultMaxSkew, Store: store.UTC()}
		}
	}
	if err == nil {
		err = agree(ctx, r, leases.Store)
	}
	if err == nil {
		_, err = leases.Store.Swap(ctx, nothing, lease.Write{Number: r.Limit, Token: nothing, Change: lease.Extend})
	}
	if err == nil && leases.DB != nil {
		const columns = "worker_id, token, reserved_until, heartbeat_at, host, port, type, created"
		err = mayInsert(ctx, leases.DB, worker.DefaultLeaseTable, columns)
	}
	return leases.Wrap(err)
}

func askRegistry(ctx context.Context, place database.Place, r lease.Request) error {
	db, err := place.OpenExisting(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	registry := worker.NewRegistry(db.DB, worker.RegistryConfig{})
	_, err = registry.Nodes(ctx, 1)
	if errors.Is(err, worker.ErrNoTable) { // the first start creates it
		return db.MayCreate(ctx)
	}
	if err == nil {
		err = agree(ctx, r, registry)
	}
	if err == nil {
		err = mayInsert(ctx, db, worker.DefaultTable, "host_name, port, type, launch_date, modified, created")
	}
	return db.Wrap(err)
}

// mayInsert inserts no row, which takes the right to insert.
func mayInsert(ctx context.Context, db *database.DB, table, columns string) error {
	return db.WithContext(ctx).Exec("INSERT INTO " + table + " (" + columns + ") SELECT " + columns + " FROM " + table + " WHERE 1 = 0").Error
}

// creates reports whether the start of another generator makes the SQLite file of a store:
// tags start after it.
func creates(c *config.Config, store string) bool {
	return slices.ContainsFunc(c.Generators, func(e config.Entry) bool {
		g, counter := e.Generator.(*config.Segment)
		return e.StoreName() == store && (e.Clock() != nil || counter && g.Create)
	})
}

// askCounter asks about the counter of a tag, or of all if tag is "".
func askCounter(ctx context.Context, c *config.Config, g *config.Counter, tag string, create bool) error {
	place := c.Store(g.Store).Place()
	counters, err := stores.OpenCounters(ctx, place, g.Table, false, slog.New(slog.DiscardHandler))
	if errors.Is(err, os.ErrNotExist) && create {
		return place.MayMake()
	}
	if err != nil {
		return err
	}
	defer counters.Close()
	all, err := counters.Store.List(ctx)
	switch {
	case errors.Is(err, segment.ErrUnknownTag) && create:
		return counters.MayCreate(ctx)
	case errors.Is(err, segment.ErrUnknownTag) && tag == "": // there is no table yet
		return nil
	case err != nil:
		return counters.Wrap(err)
	}
	if err := counters.MayWrite(ctx); err != nil {
		return err
	}
	for _, counter := range all {
		switch {
		case counter.Tag != tag:
		case counter.Next > g.Limit:
			return counters.Wrap(fmt.Errorf("the counter %s is at %d, above its limit, %d", tag, counter.Next, g.Limit))
		case counter.Step < 1 && g.Table == stores.LeafAlloc:
			return counters.Wrap(fmt.Errorf("the counter %s has step %d, so no range can be reserved: it is for numbers without a gap", tag, counter.Step))
		default:
			return nil
		}
	}
	if create || tag == "" {
		return nil
	}
	return counters.Wrap(missing(fmt.Errorf("%w: %q", segment.ErrUnknownTag, tag), tag))
}
