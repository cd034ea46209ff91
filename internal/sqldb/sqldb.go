// Package sqldb has what stores in SQL databases share: which *gorm.DB they refuse,
// and how the kinds of database differ.
package sqldb

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// Unfit returns why a store cannot use db, or nil if it can.
func Unfit(db *gorm.DB) error {
	err := Dead(db)
	if err == nil && InTransaction(db) {
		err = errors.New("it is inside a transaction, whose rollback would repeat ids")
	}
	return err
}

// Dead returns why nothing can be written with db, or nil.
func Dead(db *gorm.DB) error {
	switch {
	case db == nil:
		return errors.New("it is nil")
	case db.Config == nil || db.Dialector == nil || db.Statement == nil || db.Statement.ConnPool == nil:
		return errors.New("it has no database")
	case db.Error != nil:
		return fmt.Errorf("it carries an error: %w", db.Error)
	case db.DryRun:
		return errors.New("it is in dry-run mode, where nothing is written")
	}
	return nil
}

// InTransaction reports whether db, which is not dead, is inside a transaction.
func InTransaction(db *gorm.DB) bool {
	pool := db.Statement.ConnPool
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

// Kind is a kind of database. The zero Kind is one that is not known.
type Kind struct {
	folds                        bool   // turns names without quotes into lower case
	Seconds                      string // the seconds since 1970 of the timestamp %s
	missing, conflict, duplicate recognizer
}

type recognizer func(error) bool

var kinds = map[string]Kind{
	"mysql": {
		Seconds:   "UNIX_TIMESTAMP(%s)",
		missing:   words("Error 1146 "),
		conflict:  words("Error 1213 ", "Error 1205 ", "Error 1020 "), // deadlock, lock wait, changed since read
		duplicate: words("Error 1062 "),
	},
	"postgres": {
		folds:     true,
		Seconds:   "EXTRACT(EPOCH FROM CAST(%s AS TIMESTAMP WITH TIME ZONE))",
		missing:   sqlState("42P01"),
		conflict:  sqlState("40001", "40P01"), // serialization failure, deadlock
		duplicate: sqlState("23505"),
	},
	"sqlite": {
		Seconds:   "CAST(STRFTIME('%%s', %s) AS INTEGER)",
		missing:   words("no such table"),
		conflict:  words("database is locked", "database table is locked"),
		duplicate: words("UNIQUE constraint failed"),
	},
}

// KindOf returns the kind with the name that GORM's dialector gives.
func KindOf(name string) Kind { return kinds[name] }

// Missing recognizes the error for a missing table. After any other error, such as
// no right to read, a lock or a lost connection, no table may be created.
func (k Kind) Missing(err error) bool { return k.missing.matches(err) }

// Conflict recognizes the error for a transaction that collided with another, and
// succeeds if it is retried.
func (k Kind) Conflict(err error) bool { return k.conflict.matches(err) }

// Duplicate recognizes the error for a key that exists.
func (k Kind) Duplicate(err error) bool { return k.duplicate.matches(err) }

// Fold returns a name as the database stores it if it is written without quotes.
func (k Kind) Fold(name string) string {
	if k.folds {
		return strings.ToLower(name)
	}
	return name
}

func (r recognizer) matches(err error) bool { return err != nil && r != nil && r(err) }

func sqlState(codes ...string) recognizer {
	return func(err error) bool {
		var state interface{ SQLState() string }
		return errors.As(err, &state) && slices.Contains(codes, state.SQLState())
	}
}

func words(parts ...string) recognizer {
	return func(err error) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(err.Error(), part) })
	}
}
