package backfill

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/sqldb"
)

// window is how many rows are read at once, so that a table without an index on its times is
// sorted once for that many rows.
const window = 10_000

// maxBatch keeps UPDATE, whose time per row grows with the batch, below a second.
const maxBatch = 2000

// retryFor is how long a statement is retried, updateFor how long an UPDATE may take.
const (
	retryFor  = 2 * time.Minute
	updateFor = time.Minute
)

// table is a table that can be filled.
type table struct {
	db                *gorm.DB
	kind              sqldb.Kind
	name              string
	key, time, column column
	kept              string // assignments of columns that MySQL would set to the present time in each UPDATE
	indexes           []index
	zone              *time.Location // of times that have none
	format            int            // of the last time that was a text
	ids               *bits.Allocator
	notify            func(format string, args ...any)
}

// row is what is read of a row. Key and time are as the database has them, for the next SELECT.
type row struct {
	key, time any
	at        time.Time
	id        *int64
}

// quote returns a name as statements have it.
func (t *table) quote(c column) string { return t.db.Statement.Quote(clause.Column{Name: c.Name}) }

// sql replaces {table}, {key}, {time}, {text} and {column}. {text} is a time as it is read.
func (t *table) sql(text string) string {
	read := t.quote(t.time)
	if t.db.Name() == "sqlite" { // or the driver makes a time of it, and loses how it is stored
		read = "CAST(" + read + " AS TEXT)"
	}
	return strings.NewReplacer("{table}", t.db.Statement.Quote(clause.Table{Name: t.name}), "{key}", t.quote(t.key),
		"{time}", t.quote(t.time), "{text}", read, "{column}", t.quote(t.column)).Replace(text)
}

// empty returns rows without an id that follow last in the order of time and key.
func (t *table) empty(ctx context.Context, last *row) ([]row, error) {
	empty := "{column} IS NULL"
	if t.db.Name() == "postgres" { // whose statistics, from before, make it sort the whole table for the few rows that they expect
		empty = "CASE WHEN {column} IS NULL THEN TRUE END"
	}
	query, vars := "SELECT {key}, {text}, {column} FROM {table} WHERE "+empty, []any{}
	switch {
	case last == nil:
	case t.db.Name() == "mysql": // which finds no index for a comparison of pairs
		query, vars = query+" AND ({time} > ? OR {time} = ? AND {key} > ?)", []any{last.time, last.time, last.key}
	default:
		query, vars = query+" AND ({time}, {key}) > (?, ?)", []any{last.time, last.key}
	}
	return t.read(ctx, query+" ORDER BY {time}, {key}", vars...)
}

// full returns rows with an id that follow last in the order of the key.
func (t *table) full(ctx context.Context, last *row) ([]row, error) {
	query, vars := "SELECT {key}, {text}, {column} FROM {table} WHERE {column} IS NOT NULL", []any{}
	if last != nil {
		query, vars = query+" AND {key} > ?", []any{last.key}
	}
	return t.read(ctx, query+" ORDER BY {key}", vars...)
}

func (t *table) read(ctx context.Context, query string, vars ...any) (rows []row, err error) {
	err = t.retry(ctx, "read rows of "+t.name, func(tx *gorm.DB) error {
		rows = rows[:0]
		found, err := tx.Raw(t.sql(query+fmt.Sprintf(" LIMIT %d", window)), vars...).Rows()
		if err != nil {
			return err
		}
		defer found.Close()
		for found.Next() {
			var r row
			if err := found.Scan(&r.key, &r.time, &r.id); err != nil {
				return err
			}
			r.key = t.key.value(r.key)
			if r.at, err = t.instant(r.time); err != nil {
				return backoff.Permanent(fmt.Errorf("%s of the row with %s %v: %w", t.time.Name, t.key.Name, r.key, err))
			}
			rows = append(rows, r)
		}
		return errors.Join(found.Err(), found.Close())
	})
	return rows, err
}

// update writes the ids of rows that have none yet. A row that got one meanwhile keeps it, so an UPDATE
// whose answer was lost can be sent again.
func (t *table) update(ctx context.Context, rows []row) (updated int64, err error) {
	vars := make([]any, 0, 3*len(rows))
	for _, r := range rows {
		vars = append(vars, r.key, *r.id)
	}
	var query string
	if t.db.Name() == "sqlite" { // where CASE, which compares a row's key with those before it, takes longer than all else
		query = "UPDATE {table} SET {column} = uidring.column2 FROM (VALUES (?, ?)" + strings.Repeat(", (?, ?)", len(rows)-1) + ") uidring WHERE {table}.{key} = uidring.column1 AND {table}.{column} IS NULL"
	} else {
		query = "UPDATE {table} SET {column} = CASE {key}" + strings.Repeat(" WHEN ? THEN ?", len(rows)) + " ELSE {column} END" + t.kept + " WHERE {key} IN (?" + strings.Repeat(", ?", len(rows)-1) + ") AND {column} IS NULL"
		for _, r := range rows {
			vars = append(vars, r.key)
		}
	}
	err = t.retry(ctx, "write ids to "+t.name, func(tx *gorm.DB) error {
		limited, cancel := context.WithTimeout(ctx, updateFor)
		defer cancel()
		done := tx.WithContext(limited).Exec(t.sql(query), vars...)
		updated = done.RowsAffected
		return done.Error
	})
	return updated, err
}

// retry runs statements until they succeed, fail for good, or have failed for two minutes.
func (t *table) retry(ctx context.Context, doing string, f func(tx *gorm.DB) error) error {
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := sqldb.Alone(ctx, t.db, f)
		if t.kind.Denied(err) || t.kind.Missing(err) || t.kind.Unfit(err) || t.kind.Duplicate(err) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithMaxElapsedTime(retryFor), backoff.WithNotify(func(err error, after time.Duration) {
		t.notify("%s: %v; the next attempt is in %v", doing, err, after.Round(time.Millisecond))
	}))
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// formats are those in which SQLite's functions and drivers write times.
var formats = []string{
	"2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999 -0700 MST",
	"2006-01-02 15:04:05.999999999", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04", time.DateOnly,
}

// instant returns the instant of a time as the database has it.
func (t *table) instant(raw any) (at time.Time, err error) {
	switch v := raw.(type) {
	case nil:
		return at, errors.New("it is NULL")
	case time.Time:
		if t.time.zoned() {
			return v, nil
		}
		return time.Date(v.Year(), v.Month(), v.Day(), v.Hour(), v.Minute(), v.Second(), v.Nanosecond(), t.zone), nil
	case string:
		// time.Time.String ends with a reading of the monotonic clock.
		v, _, _ = strings.Cut(v, " m=")
		for i := range formats { // the one that the last row had comes first
			this := (t.format + i) % len(formats)
			if at, err = time.ParseInLocation(formats[this], v, t.zone); err == nil {
				t.format = this
				return at, nil
			}
		}
	}
	return at, fmt.Errorf("%v is not a time such as 2026-01-31 23:59:59", raw)
}

// column is a column as the catalog has it.
type column struct {
	Name, Type string
	Nullable   bool
	Extra      string
}

// value returns a value as it is compared: MySQL's driver gives texts as bytes.
func (c column) value(v any) any {
	switch text, ok := v.([]byte); {
	case !ok:
		return v
	case strings.Contains(c.Type, "binary") || strings.Contains(c.Type, "blob") || c.Type == "bytea":
		return octets(text)
	default:
		return string(text)
	}
}

// octets is a value that GORM does not take for a list.
type octets []byte

// Value implements driver.Valuer.
func (o octets) Value() (driver.Value, error) { return []byte(o), nil }

// zoned reports whether times are instants.
func (c column) zoned() bool {
	return strings.HasPrefix(c.Type, "timestamp") && !strings.Contains(c.Type, "without")
}

// index is an index of all rows. It has no row for what is not a column.
type index struct {
	Name            string
	Columns         string // with commas between
	Unique, Primary bool
}
