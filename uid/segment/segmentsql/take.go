package segmentsql

import (
	"errors"
	"fmt"
	"math"

	"gorm.io/gorm"

	"github.com/uidring/uidring/uid/segment"
)

// take raises the counter of tag by n, and returns the first of the n numbers.
//
// # Why no number is taken twice
//
// Each number is below the counter once it has been taken, and whoever takes numbers finds out what the counter was while
// nobody else can change it:
//
//   - On PostgreSQL and SQLite, the row (the file) is locked, read, and written if it still is what was read.
//   - On MySQL and MariaDB, one UPDATE raises the counter, and LAST_INSERT_ID keeps the value that it found for the same
//     connection, whatever triggers do. The row is locked until the transaction ends; in an engine without transactions, the
//     table is for as long as the statement runs.
//
// Then the row is read back: unless the counter is above all n numbers, they are not used. A rollback gives back numbers
// that nobody has seen. Nothing but Return lowers a counter, from the end of a range to where the rest begins.
//
// # Why MySQL writes first
//
// SET GLOBAL read_only, FLUSH TABLES WITH READ LOCK and backups hold a lock of the whole server. It waits for statements
// that write, and lets no further one begin. Suppose a transaction locked its row by SELECT … FOR UPDATE first. Its
// write would wait for the server's lock, that lock for another client's UPDATE, and the UPDATE for the row. All writers
// would stand still until innodb_lock_wait_timeout, 50 seconds. So one UPDATE is all that locks or writes here.
func (s *Store) take(tx *gorm.DB, tag string, n int64, gapless bool) (first int64, err error) {
	least := int64(0)
	if gapless {
		least = 1
	}
	if s.dialect().taken == "" {
		r, err := s.read(tx, tag, s.dialect().lock)
		if err == nil {
			err = s.refuse(r, n, gapless)
		}
		if err != nil {
			return 0, err
		}
		first = max(r.Next, least)
		return first, s.move(tx, r, first+n)
	}
	kind := ""
	switch {
	case gapless:
		kind = " AND " + s.step + " = 0"
	case s.step != "":
		kind = " AND (" + s.step + " <> 0 OR " + s.step + " IS NULL)"
	}
	value := fmt.Sprintf(s.dialect().taken, s.next, least)
	done, err := s.update(tx, tag, value, " BETWEEN 0 AND ?"+kind, n, math.MaxInt64-n)
	if done {
		r, err := s.read(tx, tag, "")
		if err == nil && r.Next < r.taken+n {
			err = s.tooNarrow(r.column, r.taken+n)
		}
		return r.taken, err
	}
	return 0, s.explain(tx, tag, err, func(r row) (next int64, err error) { return max(r.Next, least) + n, s.refuse(r, n, gapless) })
}

// raise raises the counter of tag to next unless it is there, and returns what it then is.
func (s *Store) raise(tx *gorm.DB, tag string, next int64) (now int64, err error) {
	if s.dialect().taken == "" {
		r, err := s.read(tx, tag, s.dialect().lock)
		if now = max(r.Next, next); err != nil || now == r.Next {
			return now, err
		}
		return now, s.move(tx, r, next)
	}
	if _, err = s.update(tx, tag, "?", " < ?", next, next); err == nil {
		r, err := s.read(tx, tag, "")
		if err == nil && r.Next < next {
			err = s.tooNarrow(r.column, next)
		}
		return r.Next, err
	}
	return 0, s.explain(tx, tag, err, func(row) (int64, error) { return next, nil })
}

// update sets the counter of tag to a value, which has one argument, if the counter is as a condition with one argument
// says. It reports whether it changed one row.
func (s *Store) update(tx *gorm.DB, tag, value, condition string, of, to int64) (bool, error) {
	if err := s.legible(tx, tag); err != nil {
		return false, err
	}
	result := tx.Exec("UPDATE "+s.quoted()+" SET "+s.set(value)+" WHERE "+s.tag+" = ? AND "+s.next+condition, of, tag, to)
	return result.Error == nil && result.RowsAffected == 1, result.Error
}

// explain returns why an UPDATE failed with err, or changed no row or several. next returns what the counter was to become.
func (s *Store) explain(tx *gorm.DB, tag string, err error, next func(row) (int64, error)) error {
	if s.dialect().Transient(err) || tx.Statement.Context.Err() != nil {
		return err
	}
	r, why := s.read(tx, tag, "")
	if why == nil {
		var to int64
		if to, why = next(r); why == nil && to > r.greatest {
			why = s.tooNarrow(r.column, to)
		}
	}
	switch {
	case err == nil && why == nil:
		return errChanged
	case err == nil, errors.Is(why, segment.ErrUnusable), errors.Is(why, segment.ErrUnknownTag), errors.Is(why, segment.ErrUsedUp):
		return why
	default:
		return err
	}
}

// refuse returns why n numbers cannot be taken of a counter, or nil.
func (s *Store) refuse(r row, n int64, gapless bool) error {
	switch {
	case gapless && !r.gapless:
		return unusable("%q in %s is a segment's counter, since its step is %d, want 0: CreateGapless makes a gapless counter", r.tag, s, r.Step)
	case !gapless && r.gapless:
		return unusable("%q in %s is gapless, since its step is 0: draw its numbers with NextGapless, or set its step to 1 or more", r.tag, s)
	case n < 1:
		return unusable("the step of %q in %s is %d, want 1 or more", r.tag, s, n)
	case r.Next < 0:
		return unusable("%s of %q in %s is %d, want 1 or more; raise it with uidring segments set", s.next, r.tag, s, r.Next)
	case n > math.MaxInt64-r.Next:
		return fmt.Errorf("%w: %q in %s has %d ids left, not %d", segment.ErrUsedUp, r.tag, s, math.MaxInt64-r.Next, n)
	}
	return nil
}
