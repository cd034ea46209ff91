package segmentsql

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/uid/segment"
)

// Create implements [segment.Creator]. It also creates the table if it is missing.
func (s *Store) Create(ctx context.Context, tag string, next, step int64) error {
	if s.step != "" && (step < 1 || step > math.MaxInt32) {
		return fmt.Errorf("segmentsql: create %q with step %d, want 1 to %d", tag, step, math.MaxInt32)
	}
	return s.create(ctx, tag, next, step)
}

// create makes a counter, which is gapless if step is 0.
func (s *Store) create(ctx context.Context, tag string, next, step int64) error {
	if err := segment.CheckTag(tag); err != nil {
		return err
	}
	if next < 1 {
		return fmt.Errorf("segmentsql: create %q from %d, want 1 or more", tag, next)
	}
	if err := s.ensureTable(ctx); err != nil {
		return err
	}
	insert := func(tx *gorm.DB) error {
		r, err := s.read(tx, tag, "")
		switch {
		case err == nil:
			return fmt.Errorf("%w: %q in %s", segment.ErrTagExists, tag, s)
		case !errors.Is(err, segment.ErrUnknownTag):
			return err
		case r.narrow():
			return unusable("%s of %s is %s, want BIGINT: %s", s.next, s, r.kind, s.widen())
		}
		columns, values := s.tag+", "+s.next, []any{tag, next}
		if s.step != "" {
			columns, values = columns+", "+s.step, append(values, step)
		}
		if err := tx.Exec("INSERT INTO "+s.quoted()+" ("+columns+") VALUES ?", values).Error; err != nil {
			return sqldb.Denied(s.db, err, s.inserting())
		}
		return s.wrote(tx, tag, next)
	}
	err := s.retry(ctx, insert)
	if err == nil || errors.Is(err, segment.ErrTagExists) {
		return err
	}
	// Another process may have been faster.
	if found := s.once(ctx, insert); errors.Is(found, segment.ErrTagExists) {
		return found
	}
	return err
}

// ensureTable makes the table if it is missing.
func (s *Store) ensureTable(ctx context.Context) error {
	look := func() error { return s.look(ctx, s.db) }
	missing := s.again(ctx, look)
	switch {
	case missing == nil || s.check() != nil:
		return missing
	case !s.dialect().Missing(missing):
		return sqldb.Denied(s.db, missing, s.Grants()...)
	}
	create, err := s.Schema()
	if err == nil {
		grants := sqldb.CreateGrants(s.db, s.table, sqldb.CreateSchema(ctx, s.db))
		err = s.retry(ctx, func(tx *gorm.DB) error { return sqldb.Denied(s.db, tx.Exec(create).Error, grants...) })
	}
	if looked := s.again(ctx, look); looked == nil || err == nil { // another process may have been faster
		return looked
	}
	return fmt.Errorf("segmentsql: create %s: %w", s, err)
}

// Schema returns the statement with which Create creates the table on this kind of database. It
// does not connect to the database.
func (s *Store) Schema() (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	columns := []string{s.tag + " VARCHAR(128) NOT NULL DEFAULT '' PRIMARY KEY", s.next + " BIGINT NOT NULL DEFAULT 1"}
	if s.step != "" {
		columns = append(columns, s.step+" INT NOT NULL", "description VARCHAR(256) DEFAULT NULL", s.updated+" "+s.dialect().updated)
	}
	return "CREATE TABLE IF NOT EXISTS " + s.quoted() + " (\n  " + strings.Join(columns, ",\n  ") + "\n)" + s.dialect().engine, nil
}
