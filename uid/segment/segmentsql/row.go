package segmentsql

import (
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gorm.io/gorm"

	"github.com/uidring/uidring/uid/segment"
)

type row struct {
	tag        string // as it was asked for
	Next, Step int64  // Step is 0 if it is NULL
	gapless    bool   // Step is 0 in the table
	column            // of Next
}

func unusable(format string, args ...any) error {
	return fmt.Errorf("%w: %w", segment.ErrUnusable, fmt.Errorf(format, args...))
}

func (s *Store) negative(r row) error {
	return unusable("%s of %q in %s is %d, want 1 or more: uidring segments set raises it", s.next, r.tag, s, r.Next)
}

func (s *Store) columns() string {
	step := s.step
	if step == "" {
		step = strconv.Itoa(SequenceStep)
	}
	return s.tag + " AS tag, " + s.next + " AS counter, " + step + " AS own_step"
}

// read returns the row of a tag. For an unknown tag, the row has the column alone.
func (s *Store) read(tx *gorm.DB, tag, lock string) (row, error) {
	r := row{tag: tag}
	rows, err := tx.Raw("SELECT "+s.columns()+" FROM "+s.quoted()+" WHERE "+s.tag+" = ?"+lock, tag).Rows()
	if s.dialect().Missing(err) {
		return r, fmt.Errorf("%w: %q: there is no %s; uidring segments create %s makes it: %w", segment.ErrUnknownTag, tag, s, tag, err)
	}
	if err != nil {
		return r, err
	}
	defer rows.Close()
	if r.column, err = s.columnOf(rows); err != nil {
		return r, err
	}
	var name string
	var next, step sql.NullInt64
	n := 0
	for ; rows.Next(); n++ {
		if err := rows.Scan(&name, &next, &step); err != nil {
			return r, unusable("read %q in %s: %w", tag, s, err)
		}
	}
	switch err := errors.Join(rows.Err(), rows.Close()); {
	case err != nil:
		return r, err
	case n == 0:
		return r, fmt.Errorf("%w: %q in %s; uidring segments create %s makes it", segment.ErrUnknownTag, tag, s, tag)
	case n > 1:
		return r, unusable("%s has %d rows for %q, want a primary key", s, n, tag)
	case !next.Valid:
		return r, unusable("%s of %q in %s is NULL, want a number above each id in use", s.next, tag, s)
	}
	s.warnAlias(tag, name)
	r.Next, r.Step, r.gapless = next.Int64, step.Int64, step.Valid && step.Int64 == 0
	return r, nil
}

// errChanged is why move did not write a counter: it had changed since it was read.
var errChanged = errors.New("segmentsql: the row was changed meanwhile")

func (s *Store) move(tx *gorm.DB, r row, next int64) error {
	if next > r.greatest {
		return s.tooNarrow(r.column, next)
	}
	done, err := s.swap(tx, r.tag, r.Next, next)
	switch {
	case err != nil:
		return err
	case !done:
		return errChanged
	}
	return s.wrote(tx, r.tag, next)
}

// swap writes a counter if it still is old, and reports whether it did. A column that holds
// the old value holds a lower one.
func (s *Store) swap(tx *gorm.DB, tag string, old, next int64) (bool, error) {
	set := s.next + " = ?"
	if s.updated != "" {
		set += ", " + s.updated + " = CURRENT_TIMESTAMP"
	}
	result := tx.Exec("UPDATE "+s.quoted()+" SET "+set+" WHERE "+s.tag+" = ? AND "+s.next+" = ?", next, tag, old)
	return result.Error == nil && result.RowsAffected == 1, result.Error
}

// wrote returns an error, with which tx is rolled back, unless the table has the counter
// to which it was raised. A server without strict mode writes the greatest value that the column
// holds, and reports success. A trigger may write any value.
func (s *Store) wrote(tx *gorm.DB, tag string, next int64) error {
	r, err := s.read(tx, tag, "")
	// Without transactions, other processes may have raised it since. None lowers it below
	// next: no other has a range that ends there.
	if err == nil && r.Next < next {
		return s.tooNarrow(r.column, next)
	}
	return err
}

// warnAlias logs, once for each tag, that the row of a tag has another tag, which the
// column's collation takes for the same.
func (s *Store) warnAlias(tag, name string) {
	if strings.TrimRight(name, " ") == tag { // a CHAR is padded
		return
	}
	if _, known := s.aliases.LoadOrStore(tag, true); !known {
		s.logger.Warn("segmentsql: two tags share one counter, since the column's collation takes them for equal",
			"store", s.String(), "tag", tag, "row", name)
	}
}
