package gen

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/source"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// numbers gives worker numbers from a database. It connects when a start asks for the layout or
// takes a number, so that a wrong config costs no connection and leaves no file.
type numbers struct {
	flags  *flags
	cmd    *cobra.Command
	logger *slog.Logger

	open    *database.Leases // nil if there is none
	from    database.Source
	missing string // tables
	name    string // of the database
	origin  string // of the layout
}

// These are the origins of a layout.
const (
	fromFlag    = "from --layout"
	fromStore   = "which the database remembers"
	fromDefault = "the default"
)

// connect opens the database, or returns the one that is open.
func (n *numbers) connect(ctx context.Context) (err error) {
	if n.open != nil {
		return nil
	}
	if n.open, err = database.Of(n.cmd, n.flags.stores).Leases(ctx, lease.Config{Logger: n.logger}); err == nil {
		n.name = n.open.Name
		n.from, n.missing = n.open.Source(ctx, n.registry(), n.logger)
	}
	return err
}

func (n *numbers) registry() bool { return n.flags.worker.Kind == source.Registry }

// end closes the database, if one is open, whose name it puts into err.
func (n *numbers) end(err error) error {
	if n.open == nil {
		return err
	}
	defer func() { n.open = nil }()
	return errors.Join(n.open.Wrap(err), n.open.Close())
}

// Layout returns the layout for a generator that has none: see lease.Leaser.Layout.
func (n *numbers) Layout(ctx context.Context) (layout string, stored bool, err error) {
	if err := n.connect(ctx); err != nil {
		return "", false, err
	}
	layout, stored, err = n.from.Layout(ctx)
	if stored {
		n.origin = fromStore
	}
	return layout, stored, n.open.Wrap(n.open.InFlags(err))
}

// Lease implements uid.WorkerSource. A leased number needs the connection until it is given back.
func (n *numbers) Lease(ctx context.Context, request lease.Request) (lease.Lease, error) {
	if err := n.connect(ctx); err != nil {
		return nil, err
	}
	taken, err := n.from.Lease(ctx, request)
	if other, ok := errors.AsType[*lease.LayoutError](err); ok && n.origin == fromFlag {
		err = fmt.Errorf("its ids have the layout %s, and --layout is %s: leave out --layout, or give another --dsn; or, "+
			"to have all generators change to it, run: %s layout change --to %[2]s, with the same --dsn", other.Remembered, other.Layout, n.cmd.Root().Name())
	} else if ok {
		n.origin = fromStore // by another start, which was faster
	}
	if kind, ok := errors.AsType[*worker.KindError](err); ok {
		err = fmt.Errorf("%s: give --worker static:N with a number of your own, or another --dsn", kind.Way())
	}
	if err != nil {
		return nil, n.open.Wrap(err)
	}
	if n.missing != "" {
		cli.Notify(n.cmd, "created the %s in %s", n.missing, n.name)
	}
	if n.registry() {
		return taken, n.end(nil) // the number is good for ever
	}
	return taken, nil
}
