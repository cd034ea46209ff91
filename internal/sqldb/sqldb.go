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

// Kind is a kind of database. The zero Kind is one that is not known.
type Kind struct {
	folds                                        bool   // turns names without quotes into lower case
	Seconds                                      string // the seconds since 1970 of the timestamp %s
	missing, transient, duplicate, denied, unfit recognizer
	charset, readOnly                            recognizer
	utf8, setUTF8                                string   // selects a text in UTF-8, as hexadecimal digits; the option of a DSN whose texts are in UTF-8
	end                                          []string // statements with which a transaction ends its session
}

type recognizer func(error) bool

var kinds = map[string]Kind{
	"mysql": {
		Seconds: "UNIX_TIMESTAMP(%s)",
		missing: numbers(1146),
		// Deadlock, lock wait, changed since read; too many connections, of the server and of the user; a statement that
		// was interrupted, or took longer than max_execution_time or max_statement_time.
		transient: numbers(1213, 1205, 1020, 1040, 1203, 1226, 1317, 3024, 1969),
		duplicate: numbers(1062),
		denied:    numbers(1142, 1143, 1044),
		unfit:     numbers(1264, 4025, 3819), // out of range, check constraint
		charset:   numbers(1267, 3988),       // MySQL 8's too: conversion from utf8mb4
		utf8:      "SELECT HEX(CONVERT(? USING utf8mb4))",
		setUTF8:   "charset=utf8mb4",
		readOnly:  numbers(1290, 1792, 1836), // the server, the transaction, InnoDB
		end:       []string{"KILL CONNECTION_ID()"},
	},
	"postgres": {
		folds:   true,
		Seconds: "EXTRACT(EPOCH FROM CAST(%s AS TIMESTAMP WITH TIME ZONE))",
		missing: sqlState("42P01"),
		// Serialization failure, deadlock; lock_timeout, statement_timeout; too many connections, the server starts.
		transient: sqlState("40001", "40P01", "55P03", "57014", "53300", "57P03"),
		duplicate: sqlState("23505"),
		denied:    sqlState("42501"),
		unfit:     sqlState("428C9", "23514", "22003"), // GENERATED ALWAYS, check constraint, out of range
		charset:   sqlState("22P05"),
		utf8:      "SELECT ENCODE(CONVERT_TO(?, 'UTF8'), 'hex')",
		setUTF8:   "client_encoding=UTF8",
		readOnly:  sqlState("25006"), // of a standby too
		end:       []string{"ROLLBACK", "SELECT pg_terminate_backend(pg_backend_pid())"},
	},
	"sqlite": {
		Seconds:   "CAST(STRFTIME('%%s', %s) AS INTEGER)",
		missing:   words("no such table"),
		transient: words("database is locked", "database table is locked", "database schema is locked", "database schema has changed"),
		duplicate: words("UNIQUE constraint failed"),
		unfit:     words("CHECK constraint failed"),
	},
}

// KindOf returns the kind with the name that GORM's dialector gives.
func KindOf(name string) Kind { return kinds[name] }

// Missing recognizes the error for a missing table. After any other error, such as
// no right to read, a lock or a lost connection, no table may be created.
func (k Kind) Missing(err error) bool { return k.missing.matches(err) }

// Transient recognizes the error for a request that succeeds if it is made again: it collided with
// another, waited too long for a lock, or found no connection.
func (k Kind) Transient(err error) bool { return k.transient.matches(err) }

// Denied recognizes the error for a right that the user lacks.
func (k Kind) Denied(err error) bool { return k.denied.matches(err) }

// Unfit recognizes the error for a value that the table does not take.
func (k Kind) Unfit(err error) bool { return k.unfit.matches(err) }

// Duplicate recognizes the error for a key that exists.
func (k Kind) Duplicate(err error) bool { return k.duplicate.matches(err) }

// Charset recognizes the error for a text that a column's character set has not.
func (k Kind) Charset(err error) bool { return k.charset.matches(err) }

// ReadOnly recognizes the error for a write to a server that has become read-only, as a
// failover makes it. Its connections may go on, and are of no use.
func (k Kind) ReadOnly(err error) bool { return k.readOnly.matches(err) }

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
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(err.Error(), part) })
	}
}
