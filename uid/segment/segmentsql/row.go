package segmentsql

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/uid/segment"
)

type row struct {
	tag        string // as it was asked for
	Next, Step int64  // Step is 0 if it is NULL
	gapless    bool   // Step is 0 in the table
	taken      int64  // what the connection's last UPDATE found, if the dialect keeps it
	column            // of Next
}

func unusable(format string, args ...any) error {
	return fmt.Errorf("%w: %w", segment.ErrUnusable, fmt.Errorf(format, args...))
}

func (s *Store) columns() string {
	step := s.step
	if step == "" {
		step = strconv.Itoa(sequenceStep)
	}
	form := cmp.Or(s.dialect().read, "%s")
	return fmt.Sprintf(form+" AS tag, "+form+" AS counter, "+form+" AS own_step", s.tag, s.next, step)
}

// kindOf is a column that selects the type of a value, or nothing if columns shows it.
func (s *Store) kindOf(value string) string {
	if s.dialect().kind == "" {
		return ""
	}
	return ", " + fmt.Sprintf(s.dialect().kind, value) + " AS kind"
}

// read returns the row of a tag. For an unknown tag, the row has the column alone.
func (s *Store) read(tx *gorm.DB, tag, lock string) (row, error) {
	r := row{tag: tag}
	var rows *sql.Rows
	err := s.legible(tx, tag)
	if err == nil {
		rows, err = tx.Raw("SELECT "+s.columns()+s.kindOf(s.next)+s.dialect().kept+" FROM "+s.quoted()+" WHERE "+s.tag+" = ?"+lock, tag).Rows()
	}
	switch {
	case s.dialect().Missing(err):
		return r, fmt.Errorf("%w: %q: there is no %s; create it with uidring segments create %s: %w", segment.ErrUnknownTag, tag, s, tag, err)
	case s.dialect().Charset(err):
		return r, unusable("the character set of %s of %s cannot represent %q: %s: %w", s.tag, s, tag,
			strings.ReplaceAll(s.dialect().charset, "{table}", s.quoted()), err)
	case err != nil:
		return r, err
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		return r, err
	}
	var name, kind string
	var counter sql.NullString
	var step sql.NullInt64
	n, into := 0, []any{&name, &counter, &step, &kind}
	if s.dialect().kept != "" {
		into[3] = &r.taken
	}
	for ; rows.Next(); n++ {
		if err := rows.Scan(into[:len(types)]...); err != nil {
			return r, unusable("read %q in %s: %w", tag, s, err)
		}
	}
	err = errors.Join(rows.Err(), rows.Close())
	if err == nil && n == 0 && s.dialect().kind != "" {
		err = tx.Raw("SELECT" + s.kindOf("(SELECT " + s.next + " FROM " + s.quoted() + " WHERE 1 = 0)")[1:]).Scan(&kind).Error
	}
	if err == nil {
		r.column, err = s.columnOf(types[1], kind)
	}
	if err != nil {
		return r, err
	}
	next, bad := strconv.ParseInt(counter.String, 10, 64)
	switch {
	case n == 0:
		return r, fmt.Errorf("%w: %q in %s; create it with uidring segments create %s", segment.ErrUnknownTag, tag, s, tag)
	case n > 1:
		return r, unusable("%s has %d rows for %q, want a primary key", s, n, tag)
	case !counter.Valid:
		return r, unusable("%s of %q in %s is NULL, want a number above each id in use", s.next, tag, s)
	case bad != nil:
		return r, unusable("read %q in %s: %w", tag, s, bad)
	}
	s.warnAlias(tag, name)
	r.Next, r.Step, r.gapless = next, step.Int64, step.Valid && step.Int64 == 0
	return r, nil
}

// legible returns an error if the server reads a tag as another, whose counter it would take.
func (s *Store) legible(tx *gorm.DB, tag string) error {
	if _, known := s.readable.Load(tag); known || strings.IndexFunc(tag, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return nil
	}
	switch want, err := sqldb.Garbled(tx, tag); {
	case err != nil:
		return err
	case want != "":
		return unusable("the character set of the connections cannot represent %q: want %s in the DSN", tag, want)
	}
	s.readable.Store(tag, true)
	return nil
}

// errChanged is why move did not write a counter: it had changed since it was read.
var errChanged = errors.New("segmentsql: the row was changed concurrently")

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
	value := cmp.Or(s.dialect().value, "?")
	result := tx.Exec("UPDATE "+s.quoted()+" SET "+s.set(value)+" WHERE "+s.tag+" = ? AND "+s.next+" = "+value, next, tag, old)
	return result.Error == nil && result.RowsAffected == 1, result.Error
}

// set is what an UPDATE sets if the counter becomes value.
func (s *Store) set(value string) string {
	set := s.next + " = " + value
	if s.updated != "" {
		set += ", " + s.updated + " = CURRENT_TIMESTAMP"
	}
	return set
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
		s.logger.Warn("segmentsql: two tags share one counter, because the column's collation treats them as equal",
			"store", s.String(), "tag", tag, "row", name)
	}
}
