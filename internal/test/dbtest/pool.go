package dbtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gorm.io/gorm"
)

// A Pool stands between GORM and the connections of a database, and makes transactions
// and statements outside transactions fail as a test wants. It is safe for concurrent use. A
// transaction keeps the faults that were set when it began.
type Pool struct {
	*sql.DB
	faults atomic.Pointer[Faults]
}

// Faults say how transactions fail. With the zero value they do not.
type Faults struct {
	// Statement, if set, is called before each statement, and before a transaction
	// begins with the query BEGIN. Its error is the statement's, which is then not
	// sent.
	Statement func(ctx context.Context, query string) error

	// Commit, if set, is called in place of each commit, also of a single statement.
	Commit func(tx *Tx) error

	// Outlives lets transactions continue after their context has ended, as if the
	// server did not know.
	Outlives bool
}

// Pooled returns a handle on the connections of s, and the Pool in between.
func (s *Store) Pooled(t testing.TB) (*gorm.DB, *Pool) {
	t.Helper()
	pool := new(Pool)
	pool.Heal()
	db := s.Reopen(t, func(d gorm.Dialector) gorm.Dialector {
		return Dialector{Dialector: d, Pool: func(p gorm.ConnPool) gorm.ConnPool {
			pool.DB = p.(*sql.DB)
			return pool
		}}
	}, gorm.Config{})
	return db, pool
}

// Set sets the faults of transactions that begin from now on.
func (p *Pool) Set(f Faults) { p.faults.Store(&f) }

// Heal removes the faults.
func (p *Pool) Heal() { p.Set(Faults{}) }

// Cut makes all statements fail with err, as if the database were unavailable.
func (p *Pool) Cut(err error) {
	p.Set(Faults{Statement: func(context.Context, string) error { return err }})
}

// Hang makes all statements wait until their context ends, as if the database did not
// answer.
func (p *Pool) Hang() {
	p.Set(Faults{Statement: func(ctx context.Context, _ string) error {
		<-ctx.Done()
		return ctx.Err()
	}})
}

// BeginTx implements gorm.ConnPoolBeginner.
func (p *Pool) BeginTx(ctx context.Context, opts *sql.TxOptions) (gorm.ConnPool, error) {
	faults := p.faults.Load()
	if faults.Statement != nil {
		if err := faults.Statement(ctx, "BEGIN"); err != nil {
			return nil, err
		}
	}
	if faults.Outlives {
		ctx = context.WithoutCancel(ctx)
	}
	tx, err := p.DB.BeginTx(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &Tx{Tx: tx, faults: faults}, nil
}

// ExecContext implements gorm.ConnPool, for a statement that commits by itself.
func (p *Pool) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	tx := &Tx{faults: p.faults.Load()}
	if err := tx.before(ctx, query); err != nil {
		return nil, err
	}
	if tx.faults.Outlives {
		ctx = context.WithoutCancel(ctx)
	}
	if tx.faults.Commit == nil {
		return p.DB.ExecContext(ctx, query, args...)
	}
	var err error
	if tx.Tx, err = p.DB.BeginTx(ctx, nil); err != nil {
		return nil, err
	}
	result, err := tx.Tx.ExecContext(ctx, query, args...)
	if err != nil {
		return nil, errors.Join(err, tx.Tx.Rollback())
	}
	return result, tx.Commit()
}

// QueryContext implements gorm.ConnPool, for a statement that commits by itself.
func (p *Pool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	tx := &Tx{faults: p.faults.Load()}
	if err := tx.before(ctx, query); err != nil {
		return nil, err
	}
	if tx.faults.Commit == nil || !tx.Wrote("INSERT") {
		return p.DB.QueryContext(ctx, query, args...)
	}
	var err error
	if tx.Tx, err = p.DB.BeginTx(ctx, nil); err != nil {
		return nil, err
	}
	var id int64
	if err := tx.Tx.QueryRowContext(ctx, query, args...).Scan(&id); err != nil { // RETURNING id
		return nil, errors.Join(err, tx.Tx.Rollback())
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	return p.DB.QueryContext(ctx, fmt.Sprintf("SELECT %d AS id", id))
}

// Tx is a transaction of a Pool.
type Tx struct {
	*sql.Tx
	Queries []string // sent so far
	faults  *Faults
	ended   bool // Commit was called, and succeeded or failed
}

// Wrote reports whether the transaction has sent a statement that begins with
// word, such as INSERT.
func (tx *Tx) Wrote(word string) bool {
	return slices.ContainsFunc(tx.Queries, func(query string) bool { return strings.HasPrefix(query, word) })
}

func (tx *Tx) before(ctx context.Context, query string) error {
	tx.Queries = append(tx.Queries, query)
	if tx.faults.Statement == nil {
		return nil
	}
	return tx.faults.Statement(ctx, query)
}

// ExecContext implements gorm.ConnPool.
func (tx *Tx) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := tx.before(ctx, query); err != nil {
		return nil, err
	}
	return tx.Tx.ExecContext(ctx, query, args...)
}

// QueryContext implements gorm.ConnPool.
func (tx *Tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if err := tx.before(ctx, query); err != nil {
		return nil, err
	}
	return tx.Tx.QueryContext(ctx, query, args...)
}

// Commit implements gorm.TxCommitter.
func (tx *Tx) Commit() error {
	tx.ended = true
	if tx.faults.Commit == nil {
		return tx.Tx.Commit()
	}
	return tx.faults.Commit(tx)
}

// Rollback implements gorm.TxCommitter. After Commit it does nothing, as in database/sql.
func (tx *Tx) Rollback() error {
	if tx.ended {
		return sql.ErrTxDone
	}
	return tx.Tx.Rollback()
}
