package sqldb

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"strings"

	"gorm.io/gorm"
	"gorm.io/gorm/logger"
)

// Session returns a handle on db without the app's state, hooks and logger. Errors are the driver's,
// by which a Kind recognizes them. No statement is one that GORM prepared: after ALTER TABLE these
// fail for ever.
func Session(ctx context.Context, db *gorm.DB) *gorm.DB {
	s := db.Session(&gorm.Session{NewDB: true, SkipHooks: true, Logger: logger.Discard, Context: ctx})
	s.TranslateError = false
	s.Statement.ConnPool = unprepared(s.Statement.ConnPool)
	return s
}

// unprepared returns the connections without GORM's prepared statements, which may be wrapped
// around a transaction that GORM did not begin.
func unprepared(pool gorm.ConnPool) gorm.ConnPool {
	for {
		switch prepared := pool.(type) {
		case *gorm.PreparedStmtDB:
			pool = prepared.ConnPool
		case *gorm.PreparedStmtTX:
			pool = prepared.Tx
		default:
			return pool
		}
	}
}

// Transaction runs f in a new transaction, and commits it. The transaction uses the connections that
// db was opened with, since plugins send none to a replica. It runs f again on a connection
// whose statements were prepared before an ALTER TABLE. If the transaction did
// not begin because all connections of the pool were in use, the error says so. After an error that
// is Stale, the next transaction gets a new connection, which may lead to another server.
func Transaction(ctx context.Context, db *gorm.DB, f func(tx *gorm.DB) error, options ...*sql.TxOptions) error {
	begun := false
	err := Fresh(func() error {
		return Session(ctx, db).Transaction(func(tx *gorm.DB) error {
			begun = true
			return f(tx)
		}, options...)
	})
	if closeStale(ctx, db, err); begun {
		return err
	}
	return full(ctx, db, err)
}

// Alone runs f on the connections that db was opened with. Each statement in f commits by itself, and no plugin
// sends it to a replica. If the pool has no connection left, the error says so.
// After an ALTER TABLE, Alone may run f again: f writes with one statement at most.
func Alone(ctx context.Context, db *gorm.DB, f func(tx *gorm.DB) error) error {
	tx := Session(ctx, db)
	tx.Statement.ConnPool = primary{tx.Statement.ConnPool}
	err := Fresh(func() error { return f(tx) })
	closeStale(ctx, db, err)
	return full(ctx, db, err)
}

// primary is a pool that plugins and GORM take for a transaction.
type primary struct{ gorm.ConnPool }

func (primary) Commit() error { return nil }

func (primary) Rollback() error { return nil }

// full adds what to do to err if every connection of the pool was in use.
func full(ctx context.Context, db *gorm.DB, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	pool, none := db.DB()
	if none != nil {
		return err
	}
	if s := pool.Stats(); s.MaxOpenConnections > 0 && s.InUse >= s.MaxOpenConnections {
		return fmt.Errorf("the connection pool is exhausted, %d of %d are in use: raise SetMaxOpenConns, use another *gorm.DB for this, "+
			"or draw ids before a transaction begins: %w", s.InUse, s.MaxOpenConnections, err)
	}
	return err
}

// Garbled returns what the DSN lacks if the server cannot read a text, or stores another text, which clients with another
// DSN then read. It returns "" if the DSN lacks nothing.
func Garbled(db *gorm.DB, text string) (want string, err error) {
	kind := KindOf(db.Name())
	if kind.utf8 == "" {
		return "", nil
	}
	var read string
	err = db.Raw(kind.utf8, text).Scan(&read).Error
	switch {
	case kind.Charset(err): // of the connection: the query is about no column
		return kind.setUTF8, nil
	case err != nil, strings.EqualFold(read, hex.EncodeToString([]byte(text))):
		return "", err
	}
	return kind.setUTF8, nil
}

// Errors of PostgreSQL about statements that the driver prepared before.
var (
	stalePlan = sqlState("0A000")          // the table was altered since, which the driver notices only now
	forgotten = sqlState("26000", "42P05") // they are on another connection
)

// Fresh runs f, which changes nothing when it fails, until no connection has a plan from before an ALTER TABLE. It says
// what to do about a pooler that moves transactions between connections.
func Fresh(f func() error) error {
	err := f()
	for range 9 { // connections that f may meet
		if !stalePlan(err) {
			break
		}
		err = f()
	}
	if forgotten(err) {
		return fmt.Errorf("%w (through a pooler in transaction mode, such as PgBouncer, "+
			"the driver must prepare nothing: add default_query_exec_mode=exec to the DSN)", err)
	}
	return err
}

// CloseIdle closes the connections of the pool that nobody uses, so that the next
// transaction opens what is there now.
func CloseIdle(ctx context.Context, db *gorm.DB) {
	pool, err := db.DB()
	if err != nil {
		return // connections of the app's own making
	}
	for range pool.Stats().Idle {
		conn, err := pool.Conn(ctx)
		if err != nil {
			return
		}
		_ = conn.Raw(func(any) error { return driver.ErrBadConn }) // which closes it
		_ = conn.Close()
	}
}

func closeStale(ctx context.Context, db *gorm.DB, err error) {
	if KindOf(db.Name()).Stale(err) {
		CloseIdle(ctx, db)
	}
}

// EndIfStale ends the session of an app's transaction if err says that its connection is of no use any
// more: after the rollback, the pool would use the connection again.
func EndIfStale(tx *gorm.DB, err error) {
	kind := KindOf(tx.Name())
	if !kind.Stale(err) {
		return
	}
	CloseIdle(tx.Statement.Context, tx)
	for _, statement := range kind.end {
		_ = tx.Exec(statement).Error // of the session that ends
	}
}
