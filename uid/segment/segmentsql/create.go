package segmentsql

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gorm.io/gorm"

	"github.com/uidring/uidring/uid/segment"
)

// Create implements [segment.Creator]. It also makes a missing table.
func (s *Store) Create(ctx context.Context, tag string, next, step int64) error {
	if err := segment.CheckTag(tag); err != nil {
		return err
	}
	if next < 1 || s.step != "" && (step < 1 || step > math.MaxInt32) {
		return fmt.Errorf("segmentsql: create %q from %d with step %d, want both 1 or more, and a step up to %d",
			tag, next, step, math.MaxInt32)
	}
	if err := s.ensureTable(ctx); err != nil {
		return err
	}
	insert := func(tx *gorm.DB) error {
		switch _, err := s.read(tx, tag, ""); {
		case err == nil:
			return fmt.Errorf("%w: %q in %s", segment.ErrTagExists, tag, s)
		case !errors.Is(err, segment.ErrUnknownTag):
			return err
		}
		if s.step == "" {
			return tx.Exec("INSERT INTO "+s.quoted()+" ("+s.tag+", "+s.next+") VALUES (?, ?)", tag, next).Error
		}
		return tx.Exec("INSERT INTO "+s.quoted()+" ("+s.tag+", "+s.next+", "+s.step+") VALUES (?, ?, ?)", tag, next, step).Error
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

// ensureTable makes the table if it is missing. It reads the table and not a
// catalogue, because later statements find the table by the same rules: search path,
// case of letters, rights.
func (s *Store) ensureTable(ctx context.Context) error {
	look := func(tx *gorm.DB) error {
		return tx.Exec("SELECT " + s.tag + " FROM " + s.quoted() + " WHERE 1 = 0").Error
	}
	missing := s.retry(ctx, look)
	if missing == nil || s.check() != nil || !s.dialect().Missing(missing) {
		return missing
	}
	columns := s.tag + " VARCHAR(128) NOT NULL DEFAULT '' PRIMARY KEY, " + s.next + " BIGINT NOT NULL DEFAULT 1"
	if s.step != "" {
		columns += ", " + s.step + " INT NOT NULL, description VARCHAR(256) DEFAULT NULL, " + s.updated + " " + s.dialect().updated
	}
	create := "CREATE TABLE IF NOT EXISTS " + s.quoted() + " (" + columns + ")" + s.dialect().engine
	err := s.retry(ctx, func(tx *gorm.DB) error { return tx.Exec(create).Error })
	if err == nil || s.retry(ctx, look) == nil { // another process may have been faster
		return nil
	}
	return fmt.Errorf("segmentsql: create %s: %w", s, err)
}
