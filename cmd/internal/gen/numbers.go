package gen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/source"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// numbers gives worker numbers from a database. It connects when a start asks for the layout or
// takes a number, so that a wrong config costs no connection and leaves no file.
type numbers struct {
	dsn     database.DSN
	stated  bool   // --layout was given
	program string // that runs
	kind    string // source.Lease or source.Registry
	logger  *slog.Logger
	notify  func(format string, args ...any)

	open   *database.Leases // nil if there is none
	name   string           // of the database
	origin string           // of the layout
}

// These are the origins of a layout.
const (
	fromFlag    = "from --layout"
	fromStore   = "which the database remembers"
	fromDefault = "the default"
)

// connect opens the database, or returns the one that is open.
func (n *numbers) connect(ctx context.Context) (err error) {
	if n.open == nil {
		if n.open, err = n.dsn.Leases(ctx, lease.Config{Logger: n.logger}); err == nil {
			n.name = n.open.Name
		}
	}
	return err
}

func (n *numbers) close() error {
	if n.open == nil {
		return nil
	}
	defer func() { n.open = nil }()
	return n.open.Close()
}

// Layout returns the layout for a generator that has none: see lease.Leaser.Layout.
func (n *numbers) Layout(ctx context.Context) (layout string, stored bool, err error) {
	if err := n.connect(ctx); err != nil {
		return "", false, err
	}
	layout, stored, err = n.open.Layouts(n.kind == source.Registry, n.logger).Layout(ctx)
	if stored {
		n.origin = fromStore
	}
	return layout, stored, n.open.Wrap(n.open.InFlags(err))
}

// Lease implements uid.WorkerSource. A leased number keeps the connection until it is given
// back.
func (n *numbers) Lease(ctx context.Context, request lease.Request) (lease.Lease, error) {
	if err := n.connect(ctx); err != nil {
		return nil, err
	}
	from, missing := n.open.Source(ctx, n.kind == source.Registry, n.logger)
	taken, err := from.Lease(ctx, request)
	if other, ok := errors.AsType[*lease.LayoutError](err); ok && n.stated {
		err = fmt.Errorf("its ids have the layout %s, and --layout is %s: leave out --layout, or give another --dsn; or, "+
			"to have all generators change to it, run: %s layout change --to %[2]s, with the same --dsn", other.Remembered, other.Layout, n.program)
	} else if ok {
		n.origin = fromStore // by another start, which was faster
	}
	if kind, ok := errors.AsType[*worker.KindError](err); ok {
		err = fmt.Errorf("%s: give --worker static:N with a number of your own, or another --dsn", kind.Way())
	}
	if err != nil {
		return nil, n.open.Wrap(err)
	}
	if len(missing) > 0 {
		n.notify("created the %s in %s", missing, n.open.Name)
	}
	if n.kind == source.Registry {
		return taken, n.close() // the number is good for ever
	}
	held := &connected{Lease: taken, open: n.open}
	n.open = nil // which Release closes
	return held, nil
}

// connected is a lease with the connection that it is kept by.
type connected struct {
	lease.Lease
	open   *database.Leases
	once   sync.Once
	closed error
}

// Release implements lease.Lease.
func (c *connected) Release(ctx context.Context, next time.Time) error {
	c.once.Do(func() { c.closed = errors.Join(c.open.Wrap(c.Lease.Release(ctx, next)), c.open.Close()) })
	return c.closed
}
