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

// numbers gives worker numbers from a database. It connects when a start takes a number,
// so that a wrong config costs no connection and leaves no file.
type numbers struct {
	dsn    database.DSN
	kind   string // source.Lease or source.Registry
	logger *slog.Logger
	notify func(format string, args ...any)
}

// Lease implements uid.WorkerSource. A leased number keeps the connection until it is given
// back.
func (n *numbers) Lease(ctx context.Context, request lease.Request) (lease.Lease, error) {
	open, err := n.dsn.Leases(ctx, lease.Config{Logger: n.logger})
	if err != nil {
		return nil, err
	}
	from, missing := open.Source(ctx, n.kind == source.Registry, n.logger)
	taken, err := from.Lease(ctx, request)
	if other, ok := errors.AsType[*lease.LayoutError](err); ok {
		err = fmt.Errorf("its ids have the layout %[1]s, and --layout is %[2]s: give --layout %[1]s, or another --dsn; or, "+
			"if \"uidring layout %[1]s --next %[2]s\" shows that ids are never equal, --succeeds %[1]s", other.Remembered, other.Layout)
	}
	if kind, ok := errors.AsType[*worker.KindError](err); ok {
		err = fmt.Errorf("%s: give --worker static:N with a number of your own, or another --dsn", kind.Way())
	}
	if err != nil {
		return nil, errors.Join(open.Wrap(err), open.Close())
	}
	if missing != "" {
		n.notify("created the table %s in %s: its worker numbers start from the beginning", missing, open.Name)
	}
	if n.kind == source.Registry {
		return taken, open.Close() // the number is good for ever
	}
	return &connected{Lease: taken, open: open}, nil
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
