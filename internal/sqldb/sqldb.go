// Package sqldb has what stores in SQL databases share: which *gorm.DB they refuse,
// and how the kinds of database differ.
package sqldb

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gorm.io/gorm"
)

// Unfit returns why a store cannot use db, or nil if it can.
func Unfit(db *gorm.DB) error {
	if err := Dead(db); err != nil {
		return err
	}
	if _, alone := unprepared(db.Statement.ConnPool).(*sql.Conn); alone {
		return errors.New("it is one connection, where a rollback undoes what others write at the same time; want the handle that gorm.Open returned, with a pool")
	}
	if InTransaction(db) {
		return errors.New("it is inside a transaction, whose rollback would repeat ids; want the handle that began it")
	}
	return nil
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
	_, ok := unprepared(db.Statement.ConnPool).(gorm.TxCommitter)
	return ok
}

// Kind is a kind of database. Make one with KindOf.
type Kind struct {
	Seconds string   // the seconds since 1970 of the timestamp %s
	folds   bool     // turns names without quotes into lower case
	utf8    string   // selects a text in UTF-8, as hexadecimal digits
	setUTF8 string   // the option of a DSN whose texts are in UTF-8
	end     []string // statements with which a transaction ends its session

	Missing   recognizer // of a missing table; after any other error, such as a lock or a lost connection, no table may be created
	Transient recognizer // of a request that succeeds if it is made again: it collided, waited too long for a lock, or found no connection
	Denied    recognizer // of a right that the user lacks
	Unfit     recognizer // of a value that the table does not take
	Duplicate recognizer // of a key that exists
	Charset   recognizer // of a text that a column's character set has not

	// Stale is of a connection that goes on, and is of no use: its server was made read-only by a failover, or was lost by its
	// cluster; its SQLite file was moved, could only be read when it was opened, or lost the -wal.
	Stale recognizer
}

// recognizer recognizes errors of a driver.
type recognizer func(error) bool

// unknown is a kind that is not known.
var unknown = Kind{Missing: none, Transient: none, Denied: none, Unfit: none, Duplicate: none, Charset: none, Stale: none}

func none(error) bool { return false }

var kinds = map[string]Kind{
	"mysql": {
		Seconds: "UNIX_TIMESTAMP(%s)",
		Missing: numbers(1146),
		// Deadlock, lock wait, changed since read; too many connections, of the server and of the user; a statement that
		// was interrupted, or took longer than max_execution_time or max_statement_time.
		Transient: numbers(1213, 1205, 1020, 1040, 1203, 1226, 1317, 3024, 1969),
		Duplicate: numbers(1062),
		Denied:    numbers(1142, 1143, 1044),
		Unfit:     numbers(1264, 4025, 3819), // out of range, check constraint
		Charset:   numbers(1267, 3988),       // MySQL 8's too: conversion from utf8mb4
		utf8:      "SELECT HEX(CONVERT(? USING utf8mb4))",
		setUTF8:   "charset=utf8mb4",
		Stale:     numbers(1290, 1792, 1836, 1047), // the server, the transaction, InnoDB; a node that Galera's cluster has lost
		end:       []string{"KILL CONNECTION_ID()"},
	},
	"postgres": {
		folds:   true,
		Seconds: "EXTRACT(EPOCH FROM CAST(%s AS TIMESTAMP WITH TIME ZONE))",
		Missing: sqlState("42P01"),
		// Serialization failure, deadlock; lock_timeout, statement_timeout; too many connections, the server starts.
		Transient: sqlState("40001", "40P01", "55P03", "57014", "53300", "57P03"),
		Duplicate: sqlState("23505"),
		Denied:    sqlState("42501"),
		Unfit:     sqlState("428C9", "23514", "22003"), // GENERATED ALWAYS, check constraint, out of range
		Charset:   sqlState("22P05"),
		utf8:      "SELECT ENCODE(CONVERT_TO(?, 'UTF8'), 'hex')",
		setUTF8:   "client_encoding=UTF8",
		Stale:     sqlState("25006"), // of a standby too
		end:       []string{"ROLLBACK", "SELECT pg_terminate_backend(pg_backend_pid())"},
	},
	"sqlite": {
		Seconds:   "CAST(STRFTIME('%%s', %s) AS INTEGER)",
		Missing:   words("no such table"),
		Transient: words("database is locked", "database table is locked", "database schema is locked", "database schema has changed"),
		Duplicate: words("UNIQUE constraint failed"),
		Unfit:     words("CHECK constraint failed"),
		Denied:    none,
		Charset:   none,
		Stale:     words("disk I/O error", "attempt to write a readonly database"), // a -wal was removed; a file was moved
	},
}

// KindOf returns the kind with the name that GORM's dialector gives.
func KindOf(name string) Kind {
	if kind, known := kinds[name]; known {
		return kind
	}
	return unknown
}

// Fold returns a name as the database stores it if it is written without quotes.
func (k Kind) Fold(name string) string {
	if k.folds {
		return strings.ToLower(name)
	}
	return name
}

func sqlState(codes ...string) recognizer {
	return func(err error) bool {
		var state interface{ SQLState() string }
		return errors.As(err, &state) && slices.Contains(codes, state.SQLState())
	}
}

// numbers recognizes errors of MySQL's driver. Some have no SQL state after the number, such as those of
// a connection that the server refuses.
func numbers(of ...int) recognizer {
	var parts []string
	for _, n := range of {
		parts = append(parts, fmt.Sprintf("Error %d ", n), fmt.Sprintf("Error %d:", n))
	}
	return words(parts...)
}

func words(parts ...string) recognizer {
	return func(err error) bool {
		return err != nil && slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(err.Error(), part) })
	}
}
