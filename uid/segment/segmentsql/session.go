package segmentsql

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
)

// once runs f in a transaction. If the table is missing, f says so.
func (s *Store) once(ctx context.Context, f func(tx *gorm.DB) error) error {
	if err := s.check(); err != nil {
		return err
	}
	err := s.look(ctx, s.db)
	if err == nil {
		err = s.watch(ctx)
	}
	if err == nil || s.dialect().Missing(err) {
		err = sqldb.Transaction(ctx, s.db, f)
	}
	return sqldb.Denied(s.db, err, s.Grants()...)
}

// watch closes connections to an SQLite file that was replaced: each range would be taken from a file that no other
// process sees.
func (s *Store) watch(ctx context.Context) (err error) {
	file := s.file.Load()
	if file == nil {
		file, err = sqldb.WatchFile(ctx, s.db)
		s.file.Store(file)
	}
	if err != nil {
		return err
	}
	return file.Look(ctx, s.db)
}

// look returns nil if the table can be read, and no other counts the same. It looks until
// that is so.
func (s *Store) look(ctx context.Context, db *gorm.DB) error {
	if s.looked.Load() {
		return nil
	}
	err := sqldb.Look(ctx, db, s.table, s.tag)
	s.looked.Store(err == nil)
	switch {
	case errors.Is(err, sqldb.ErrNamesake):
		return unusable("%w", err)
	case errors.Is(err, sqldb.ErrMemory), errors.Is(err, sqldb.ErrMerges):
		return unfit("%w", err)
	}
	return err
}

// retry calls once until no other transaction collides.
func (s *Store) retry(ctx context.Context, f func(tx *gorm.DB) error) error {
	return s.again(ctx, func() error { return s.once(ctx, f) })
}

// again calls f until no other transaction collides.
func (s *Store) again(ctx context.Context, f func() error) error {
	if err := s.check(); err != nil {
		return err
	}
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = 2*time.Millisecond, 200*time.Millisecond
	for {
		err := f()
		if !errors.Is(err, errChanged) && !s.dialect().Transient(err) {
			return err
		}
		select {
		case <-time.After(pause.NextBackOff()):
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ctx.Err(), err)
		}
	}
}

// unfit is about a *gorm.DB that cannot be used.
func unfit(format string, args ...any) error { return unusable("unusable *gorm.DB: "+format, args...) }

func (s *Store) check() error {
	if err := sqldb.Unfit(s.db); err != nil {
		return unfit("%w", err)
	}
	if _, known := dialects[s.db.Name()]; !known {
		return unusable("unsupported kind of database: %s", s.db.Name())
	}
	return nil
}

func (s *Store) quoted() string { return s.db.Statement.Quote(s.dialect().Fold(s.table)) }

type dialect struct {
	sqldb.Kind
	lock    string // after a SELECT: no other transaction changes the row until this one ends
	taken   string // the column %s, which is %d at least, plus an argument
	kept    string // a column that selects what taken found
	read    string // the form in which the column %s is selected: the same type, whatever the column's
	kind    string // selects the type of %s, if read hides it
	value   string // a value of the counter's column, if not ?
	updated string // the type of a column that says when its row was written
	engine  string // after a table's columns
	charset string // makes the columns of {table} take all letters
	widen   string // makes the column %[2]s of the table %[1]s a BIGINT
}

var dialects = map[string]dialect{
	"mysql": {
		taken:   "LAST_INSERT_ID(GREATEST(%s, %d)) + ?",
		kept:    ", CAST(LAST_INSERT_ID() AS SIGNED) AS taken",
		updated: "TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP",
		engine:  " ENGINE = InnoDB",
		charset: "ALTER TABLE {table} CONVERT TO CHARACTER SET utf8mb4",
		widen:   "ALTER TABLE %s MODIFY %s BIGINT NOT NULL DEFAULT 1",
	},
	"postgres": {
		lock:    " FOR UPDATE",
		read:    "CAST(%s AS TEXT)", // a statement that was prepared before an ALTER TABLE goes on
		kind:    "CAST(pg_typeof(%s) AS TEXT)",
		value:   "CAST(? AS BIGINT)",
		updated: "TIMESTAMP WITH TIME ZONE NOT NULL DEFAULT CURRENT_TIMESTAMP",
		charset: "want a database with ENCODING 'UTF8'",
		widen:   "ALTER TABLE %s ALTER COLUMN %s TYPE BIGINT",
	},
	"sqlite": {
		updated: "TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP",
	},
}

func (s *Store) dialect() dialect {
	d := dialects[s.db.Name()]
	d.Kind = sqldb.KindOf(s.db.Name())
	return d
}
