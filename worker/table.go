package worker

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"gorm.io/gorm"
)

// table is a table of a database: what Registry and Leaser have in common.
type table struct {
	kind   kind
	db     *gorm.DB
	name   string
	ensure bool // create it if it is missing
	detect func() (Node, error)
	logger *slog.Logger // nil is slog.Default
	now    func() time.Time
	faults []error // of the options
}

// kind is what differs between the two tables.
type kind struct {
	name   string // of what owns such a table
	table  string // its name unless WithTable says otherwise
	key    string // its primary key
	schema func(dialect) string
}

// primary runs f in a transaction of its own on the connection that the handle
// was opened with, and commits. A plugin that sends statements to replicas leaves
// transactions alone.
func (t *table) primary(ctx context.Context, f func(tx *gorm.DB) error) error {
	return t.session(ctx).Transaction(f)
}

// committed is primary for what must not see another transaction's row before that
// is committed, whatever the session's level of isolation.
func (t *table) committed(ctx context.Context, f func(tx *gorm.DB) error) error {
	return t.session(ctx).Transaction(f, &sql.TxOptions{Isolation: t.dialect().reads})
}

// session is a handle without any state of the app's.
func (t *table) session(ctx context.Context) *gorm.DB {
	return t.db.Session(&gorm.Session{NewDB: true, SkipHooks: true, Context: ctx})
}

// check returns everything that is wrong with the options and the handle.
func (t *table) check() error {
	return errors.Join(append(t.faults[:len(t.faults):len(t.faults)], t.checkDB())...)
}

func (t *table) checkDB() error {
	switch {
	case t.db == nil:
		return fmt.Errorf("%w: it is nil", ErrDB)
	case t.db.Dialector == nil || t.db.Statement.ConnPool == nil:
		return fmt.Errorf("%w: it has no database", ErrDB)
	case t.db.Error != nil:
		return fmt.Errorf("%w: it carries an error: %w", ErrDB, t.db.Error)
	case t.db.DryRun:
		return fmt.Errorf("%w: it is in dry-run mode, where no row is written", ErrDB)
	case inTransaction(t.db.Statement.ConnPool):
		return fmt.Errorf("%w: it is inside a transaction, which may yet roll the row back", ErrDB)
	}
	return nil
}

func inTransaction(pool gorm.ConnPool) bool {
	// GORM's prepared statements may be wrapped around a transaction that GORM
	// did not begin.
	for {
		prepared, ok := pool.(*gorm.PreparedStmtDB)
		if !ok {
			break
		}
		pool = prepared.ConnPool
	}
	_, ok := pool.(gorm.TxCommitter)
	return ok
}

// fail says what was being done, and makes sure that the end of ctx can be
// matched: some drivers report it in words of their own.
func (t *table) fail(ctx context.Context, doing string, err error) error {
	var exhausted *ExhaustedError
	if errors.As(err, &exhausted) {
		return err // says it all
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w: %w", ended, err)
	}
	return fmt.Errorf("worker: %s %s: %w", doing, t.name, err)
}

func (t *table) log() *slog.Logger {
	if t.logger != nil {
		return t.logger
	}
	return slog.Default()
}

// noTable has the error for a table that is missing match ErrNoTable.
func (t *table) noTable(err error) error {
	if missing := t.dialect().missing; missing != nil && missing(err) {
		return fmt.Errorf("%w: %w", ErrNoTable, err)
	}
	return err
}
