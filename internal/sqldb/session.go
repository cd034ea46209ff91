package sqldb

import (
	"context"
	"database/sql"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Session returns a handle on db without the app's state, hooks and logger.
func Session(ctx context.Context, db *gorm.DB) *gorm.DB {
	return db.Session(&gorm.Session{NewDB: true, SkipHooks: true, Logger: logger.Discard, Context: ctx})
}

// Transaction runs f in a transaction of its own on the connections that db was opened
// with, and commits: plugins do not send transactions to replicas. If the transaction did
// not begin because all connections of the pool were in use, the error says so.
func Transaction(ctx context.Context, db *gorm.DB, f func(tx *gorm.DB) error, options ...*sql.TxOptions) error {
	begun := false
	err := Session(ctx, db).Transaction(func(tx *gorm.DB) error {
		begun = true
		return f(tx)
	}, options...)
	if err == nil || begun || ctx.Err() == nil {
		return err
	}
	pool, none := db.DB()
	if none != nil {
		return err
	}
	if s := pool.Stats(); s.MaxOpenConnections > 0 && s.InUse >= s.MaxOpenConnections {
		return fmt.Errorf("the pool of connections is full, %d of %d are in use: raise SetMaxOpenConns, use another *gorm.DB for this, "+
			"or draw ids before a transaction begins: %w", s.InUse, s.MaxOpenConnections, err)
	}
	return err
}
