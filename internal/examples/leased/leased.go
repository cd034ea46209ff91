// Package leased is an example of worker numbers on the pool of an app that uses pgx,
// sqlc or ent, and no GORM: a GORM handle opened on the pool is all that the leaser
// needs.
package leased

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// Generator returns a generator whose worker number is leased in table. Close the
// generator before the pool. The pool needs a connection for the leaser four times a
// minute.
func Generator(ctx context.Context, pool *pgxpool.Pool, table string) (*uid.Cached, error) {
	handle, err := gorm.Open(postgres.New(postgres.Config{Conn: stdlib.OpenDBFromPool(pool)}), &gorm.Config{})
	if err != nil {
		return nil, fmt.Errorf("open a handle on the pool: %w", err)
	}
	return uid.NewCached(ctx, lease.New(worker.NewStore(handle, worker.StoreConfig{Table: table}), lease.Config{}), uid.CachedConfig{})
}
