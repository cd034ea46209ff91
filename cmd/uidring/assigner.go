package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/database"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
)

// numbers is a database that worker numbers come from. It is connected to only
// when a number is asked for, so that a config which is refused costs no
// connection and leaves no file.
type numbers struct {
	place  place
	logger *slog.Logger
}

func (n numbers) open(ctx context.Context) (*gorm.DB, error) {
	if strings.Contains(n.place.dsn, ":memory:") || strings.Contains(n.place.dsn, "mode=memory") {
		return nil, usagef("%s: a database in memory counts workers for this process alone; want a file or a server, or --worker static:N", n.place.origin)
	}
	return n.place.open(ctx, database.Open)
}

// warnMixed warns if the other table has given numbers too. Neither knows of the
// other's: both count from the start.
func (n numbers) warnMixed(other string, rows int, err error) {
	if err != nil || rows == 0 { // what cannot be read is not this command's trouble
		return
	}
	n.logger.Warn("ids may repeat: " + other + " of this database has given numbers too, and they may be the same; " +
		"make ids of one layout by one of the tables alone")
}

// registry is the assigner of a number from WORKER_NODE. It disconnects at once,
// as the number is good for ever.
type registry struct{ numbers }

// Assign implements uid.Assigner.
func (r registry) Assign(ctx context.Context, limit int64) (number int64, err error) {
	db, err := r.open(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, database.Close(db)) }()
	number, err = worker.NewRegistry(db, worker.WithLogger(r.logger)).Assign(ctx, limit)
	if err == nil {
		rows, err := worker.NewLeaser(db).Leases(ctx, 1)
		r.warnMixed(worker.DefaultLeaseTable, len(rows), err)
	}
	return number, err
}

// leases is the assigner of a number from WORKER_LEASE. It stays connected until
// the number is given back.
type leases struct{ numbers }

// Assign implements uid.Assigner. Generators call Lease instead.
func (leases) Assign(context.Context, int64) (int64, error) { return 0, worker.ErrNotLeased }

// Lease implements uid.Leaser.
func (l leases) Lease(ctx context.Context, limit int64, now func() time.Time,
	granted func(number int64, from, until time.Time, err error)) (uid.Lease, error) {
	db, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	lease, err := worker.NewLeaser(db, worker.WithLogger(l.logger)).Lease(ctx, limit, now, granted)
	if err != nil {
		return nil, errors.Join(err, database.Close(db))
	}
	rows, err := worker.NewRegistry(db).Nodes(ctx, 1)
	l.warnMixed(worker.DefaultTable, len(rows), err)
	return &connectedLease{Lease: lease, db: db}, nil
}

// connectedLease is a lease with the connection that it is kept by.
type connectedLease struct {
	uid.Lease
	db     *gorm.DB
	once   sync.Once
	closed error
}

// Release implements uid.Lease.
func (l *connectedLease) Release(ctx context.Context, next time.Time) error {
	l.once.Do(func() { l.closed = errors.Join(l.Lease.Release(ctx, next), database.Close(l.db)) })
	return l.closed
}
