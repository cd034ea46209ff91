package gen

import (
	"context"
	"errors"
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

// Lease implements uid.Leaser. A leased number keeps the connection until it is given
// back.
func (n *numbers) Lease(ctx context.Context, request lease.Request) (lease.Lease, error) {
	open, err := n.dsn.Leases(ctx, lease.Config{Logger: n.logger})
	if err != nil {
		return nil, err
	}
	taken, err := n.take(ctx, open, request)
	if err != nil {
		return nil, errors.Join(open.Wrap(err), open.Close())
	}
	if n.kind == source.Registry {
		return taken, open.Close() // the number is good for ever
	}
	return &connected{Lease: taken, open: open}, nil
}

// take takes a number from the store, which is one of two tables in an SQL database. It
// reports a table that it created.
func (n *numbers) take(ctx context.Context, open *database.Leases, request lease.Request) (lease.Lease, error) {
	if open.DB == nil {
		return open.Lease(ctx, request)
	}
	from, table := open.Lease, worker.DefaultLeaseTable
	_, missing := open.Leases(ctx, 1)
	if n.kind == source.Registry {
		registry := worker.NewRegistry(open.DB, worker.RegistryConfig{Logger: n.logger})
		from, table = registry.Lease, worker.DefaultTable
		_, missing = registry.Nodes(ctx, 1)
	}
	taken, err := from(ctx, request)
	if err == nil && errors.Is(missing, worker.ErrNoTable) {
		n.notify("created the table %s in %s: its worker numbers start from the beginning", table, open.Name)
	}
	return taken, err
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
