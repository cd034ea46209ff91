package worker

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// The record is row -1 of WORKER_NODE: what all generators of the database must agree on. HOST_NAME and
// PORT have the layout of the ids and the day of the first start, and TYPE says how numbers are taken.
const recordID = -1

// The types of the record. Other rows have a lease.NodeType.
const (
	typeDrawn   = 3 // new numbers are the next keys of WORKER_NODE
	typeDivided = 4 // configs name the numbers, or the ranges of numbers, that their generators may take
)

// The dates of the record are later than those of all other rows, so that a job that deletes old rows leaves it. MySQL's
// TIMESTAMP ends in January 2038. At noon, clocks are changed in no time zone.
const recordDates = "'2037-12-31', '2037-12-31 12:00:00', '2037-12-31 12:00:00'"

// record is the record as it was read.
type record struct {
	Host string `gorm:"column:host"`
	Port string `gorm:"column:port"`
	Type int    `gorm:"column:type"`
}

// layout returns the layout and the day of the first start, which is empty if a person wrote the record.
func (r record) layout() (layout, since string) {
	text := r.Host
	if r.Port != emptyPort {
		text += r.Port
	}
	layout, since, _ = strings.Cut(text, ",since=")
	return layout, since
}

func (r record) divided() bool { return r.Type == typeDivided }

// emptyPort stands for no text, which some settings of a server take for NULL.
const emptyPort = "-"

// newRecord is the record of a first start.
func newRecord(t leasestore.Terms, now time.Time) record {
	r := record{Type: typeDrawn}
	if t.Chosen {
		r.Type = typeDivided
	}
	return r.with(t.Layout, now.UTC().Format(time.DateOnly))
}

// width is how many characters each of the record's two columns has.
const width = 64

// with has another layout. The day of the first start is left out if there is no room.
func (r record) with(layout, since string) record {
	text := layout
	if dated := layout + ",since=" + since; since != "" && len(dated) <= 2*width {
		text = dated
	}
	n := min(len(text), width)
	r.Host, r.Port = text[:n], text[n:]
	if r.Port == "" {
		r.Port = emptyPort
	}
	return r
}

const selectRecord = "SELECT host_name AS host, port AS port, type AS type FROM {table} WHERE id = -1"

// record returns nil if there is none.
func (t *table) record(ctx context.Context) (*record, error) {
	var rows []record
	if err := t.ask(ctx, &rows, selectRecord); err != nil || len(rows) == 0 {
		return nil, err
	}
	if r := rows[0]; len(rows) > 1 || r.Type != typeDrawn && r.Type != typeDivided {
		return nil, leasestore.Transient(fmt.Errorf("%w: row -1 of %s, which has the layout of the ids, reads %+v; want one row with TYPE %d or %d",
			ErrMixed, t.name, rows, typeDrawn, typeDivided))
	}
	return &rows[0], nil
}

// swapLayout is SwapLayout of a leasestore.Store, for a Registry too. Of two first starts at once, one inserts the
// record, and the other reads it. probe fails if the user lacks a right for what follows. A change of the layout
// keeps how numbers are taken.
func swapLayout(ctx context.Context, leases *table, old string, t leasestore.Terms, probe func(context.Context) error) (string, error) {
	nodes := leases.nodes
	asks := t.Layout == "" // and writes nothing
	for {
		r, err := nodes.record(ctx)
		if err != nil && !(asks && errors.Is(err, ErrNoTable)) {
			return "", err
		}
		if r != nil {
			remembered, _ := r.layout()
			switch {
			case asks:
				return remembered, nil
			case r.divided() != t.Chosen && (old == "" || old == t.Layout):
				return "", r.refuse(nodes, t)
			case remembered != old || remembered == t.Layout:
				return remembered, nil
			}
			if done, err := nodes.replaceRecord(ctx, *r, t.Layout); done || err != nil {
				return t.Layout, err
			}
			continue
		}
		if old != "" && !asks {
			return "", nil
		}
		again, err := first(ctx, leases, t, asks)
		switch {
		case again:
			continue
		case err != nil || asks:
			return "", err
		}
		if err := probe(ctx); err != nil {
			return "", err
		}
		if err := insertRecord(ctx, leases, newRecord(t, time.Now())); err != nil && !nodes.dialect().Duplicate(err) {
			return "", err
		}
	}
}

// first refuses a first start where rows show that it is none. again is true if the record is there by now. The
// record is made before the first lease, so whoever sees a lease and still no record knows that it is gone. To a generator
// that asks for the layout, keys without a record, as Java's uid-generator leaves them, are those of ids with an unknown one.
func first(ctx context.Context, leases *table, t leasestore.Terms, asks bool) (again bool, err error) {
	nodes := leases.nodes
	if asks {
		if err := leases.beside(ctx); err != nil {
			return false, err
		}
	}
	leased, counted, err := leases.leased(ctx)
	drawn := false
	if err == nil && !leased && (asks || t.Chosen) {
		drawn, err = nodes.drawn(ctx)
	}
	if asks && errors.Is(err, ErrNoTable) {
		return false, nil
	}
	if err != nil || !leased && !drawn {
		return false, err
	}
	if r, err := nodes.record(ctx); r != nil || err != nil && !(asks && errors.Is(err, ErrNoTable)) {
		return r != nil, err
	}
	switch {
	case asks && leased:
		return false, &lease.UnknownLayoutError{Store: leases.name, Err: gone(leases, counted)}
	case asks:
		return false, &lease.UnknownLayoutError{Store: nodes.name}
	case drawn:
		return false, (&record{Type: typeDrawn}).refuse(nodes, t)
	}
	return false, gone(leases, counted)
}

// gone is the error of leases without a record. counted says that one was counted for a range.
func gone(leases *table, counted bool) error {
	number := typeDrawn
	if counted {
		number = typeDivided
	}
	return fmt.Errorf("%w: %[2]s has rows, but row -1 of %[3]s, which has the layout of their ids, is gone. If %[3]s was truncated or restored, "+
		"first run: uidring workers raise NUMBER, with the greatest number in use. Then run this, with the layout that generators log when they start: "+
		"INSERT INTO %[3]s (ID, HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) VALUES (-1, 'LAYOUT', '-', %[4]d, %[5]s), "+
		"where TYPE is %[6]d if numbers are drawn, and %[7]d if configs have ranges or assigned numbers",
		ErrMixed, leases.name, leases.nodes.name, number, recordDates, typeDrawn, typeDivided)
}

// absent recognizes the error for a table that is missing, or may not be read; of an unknown kind of database, any error.
func (t *table) absent(ctx context.Context, err error) bool {
	d := t.dialect()
	return d.Missing(err) || d.Denied(err) || err != nil && d.now == "" && ctx.Err() == nil
}

// leased reports whether there is a leased number, and whether one was counted for a range. A table that is missing, or may
// not be read, has none.
func (t *table) leased(ctx context.Context) (leased, counted bool, err error) {
	var least []int64
	err = t.ask(ctx, &least, "SELECT worker_id FROM {table} ORDER BY worker_id LIMIT 1")
	if t.absent(ctx, err) {
		return false, false, nil
	}
	return len(least) > 0, len(least) > 0 && least[0] < 0, err
}

// drawn reports whether a key was ever drawn: the counter shows it, or, where that may not be read, the rows.
func (t *table) drawn(ctx context.Context) (bool, error) {
	var rows []int64
	if err := t.ask(ctx, &rows, "SELECT id FROM {table} WHERE id > 0 ORDER BY id LIMIT 1"); err != nil || len(rows) > 0 {
		return len(rows) > 0, err
	}
	next, err := t.counter(ctx)
	if t.dialect().Transient(err) || ctx.Err() != nil {
		return false, err
	}
	return err == nil && next > 1, nil
}

// counter returns the next key as the database counts it, 0 if that is not known.
func (t *table) counter(ctx context.Context) (next int64, err error) {
	switch t.db.Name() {
	case "mysql": // information_schema may be a day old
		err = t.reads(ctx, func(tx *gorm.DB) error {
			var name, text string
			err := tx.Raw("SHOW CREATE TABLE "+t.quoted()).Row().Scan(&name, &text)
			if found := autoIncrement.FindStringSubmatch(text); err == nil && found != nil {
				next, err = strconv.ParseInt(found[1], 10, 64)
			}
			return err
		})
	case "postgres":
		err = t.reads(ctx, func(tx *gorm.DB) error {
			var sequence string
			err := tx.Raw("SELECT COALESCE(pg_get_serial_sequence(?, 'id'), '')", t.quoted()).Scan(&sequence).Error
			if err == nil && sequence != "" {
				err = tx.Raw("SELECT COALESCE(pg_sequence_last_value(CAST(? AS REGCLASS)), 0) + 1", sequence).Scan(&next).Error
			}
			return sqldb.Denied(t.db, err, "USAGE ON SEQUENCE "+sequence)
		})
	case "sqlite":
		err = t.ask(ctx, &next, "SELECT COALESCE(MAX(seq), 0) + 1 FROM sqlite_sequence WHERE name = ? COLLATE NOCASE", t.name[strings.LastIndexByte(t.name, '.')+1:])
	}
	return next, err
}

var autoIncrement = regexp.MustCompile(`\) .*\bAUTO_INCREMENT=(\d+)`)

// insertRecord makes the record unless there is a lease, whose record was lost, and expects that it is there, and once. A
// key may not accept -1.
func insertRecord(ctx context.Context, leases *table, r record) error {
	t := leases.nodes
	insert := "INSERT INTO {table} (id, " + nodeColumns + ") SELECT -1, ?, ?, " + strconv.Itoa(r.Type) + ", " + recordDates + " FROM (SELECT 1 AS one) once"
	wrote, err := t.exec(ctx, insert+" WHERE NOT EXISTS (SELECT 1 FROM "+leases.quoted()+")", r.Host, r.Port)
	if t.absent(ctx, err) {
		wrote, err = t.exec(ctx, insert, r.Host, r.Port)
	}
	if err == nil && wrote == 0 {
		// There is a lease by now, which a session of READ UNCOMMITTED sees before it is committed. Its record is there.
		is, err := t.record(ctx)
		leased := is != nil
		if err == nil && !leased {
			leased, _, err = leases.leased(ctx)
		}
		if err == nil && !leased { // a trigger may do that
			err = fmt.Errorf("%w: %w", ErrKey, errIgnored)
		}
		return err // the next look finds the record or the lease
	}
	if err != nil && !t.dialect().Unfit(err) {
		return err
	}
	var rows int64
	if err == nil {
		if err = t.ask(ctx, &rows, "SELECT COUNT(*) FROM {table} WHERE id = -1"); err != nil || rows == 1 {
			return err
		}
		_, _ = t.exec(ctx, "DELETE FROM {table} WHERE id <> -1 AND host_name = ? AND port = ?", r.Host, r.Port) // MySQL wrote another key
		err = fmt.Errorf("%d rows have the key -1, want 1", rows)
	}
	alter := "ALTER TABLE " + t.quoted() + " MODIFY ID BIGINT NOT NULL AUTO_INCREMENT"
	if t.db.Name() == "postgres" {
		alter = "ALTER TABLE " + t.quoted() + " ALTER COLUMN id SET GENERATED BY DEFAULT"
	}
	return fmt.Errorf("%w: %s cannot store row -1, which keeps the layout of the ids: %w; want an id that accepts -1 and is unique, as after: %s", ErrKey, t.name, err, alter)
}

// replaceRecord changes the layout of the record if that is still as it was read.
func (t *table) replaceRecord(ctx context.Context, was record, layout string) (bool, error) {
	_, since := was.layout()
	is := was.with(layout, since)
	wrote, err := t.execWith(ctx, []string{"SELECT, INSERT, UPDATE ON " + t.name}, "UPDATE {table} SET host_name = ?, port = ? WHERE id = -1 AND host_name = ? AND port = ?",
		is.Host, is.Port, was.Host, was.Port)
	return wrote == 1, err
}

// A KindError says that the numbers of a database are taken in another way than a generator takes its own. It matches
// ErrMixed. Numbers are drawn, one after another, by Registries and by Leasers without Numbers and an Assigner; or they
// are divided among Leasers with Numbers or an Assigner. The first start of a database decides.
type KindError struct {
	Table   string      // the Registry's table, whose row -1 says how
	Divided bool        // how the database's numbers are taken; the generator wants the other way
	Since   string      // the day of the first start, as 2026-11-28; empty if unknown
	Numbers lease.Range // the numbers that the generator may take
}

func (r *record) refuse(nodes *table, t leasestore.Terms) error {
	_, since := r.layout()
	return &KindError{Table: nodes.name, Divided: r.divided(), Since: since, Numbers: t.Within}
}

// Way says, for an error, how the numbers are taken.
func (e *KindError) Way() string {
	since := ""
	if e.Since != "" {
		since = " since " + e.Since
	}
	if e.Divided {
		return fmt.Sprintf("the numbers of this database are divided by ranges or assigned%s (row -1 of %s), so no generator may draw the next one", since, e.Table)
	}
	return fmt.Sprintf("the numbers of this database are drawn one after another%s (row -1 of %s), so no generator may choose %d to %d for itself", since, e.Table, e.Numbers.From, e.Numbers.To)
}

func (e *KindError) Error() string {
	out := "leave out Numbers and the Assigner in lease.Config"
	if e.Divided {
		out = "set Numbers or an Assigner in lease.Config, and use no Registry"
	}
	return fmt.Sprintf("%v: %s; %s; or, if these ids never share a column with the others, set another Prefix in the worker.StoreConfig or RegistryConfig", ErrMixed, e.Way(), out)
}

// Is reports whether target is ErrMixed.
func (e *KindError) Is(target error) bool { return target == ErrMixed }

// foreign refuses a generator that chooses its numbers if another program has drawn one of them, and returns how many
// keys have rows. The counter shows keys whose rows were deleted, where it may be read.
func (t *table) foreign(ctx context.Context, within leasestore.Range) (keys int64, err error) {
	var is struct {
		Keys int64  `gorm:"column:found"`
		Own  *int64 `gorm:"column:own"`
	}
	err = t.ask(ctx, &is, "SELECT COUNT(*) AS found, MIN(CASE WHEN id BETWEEN ? AND ? THEN id END) AS own FROM {table} WHERE id > 0", within.From, within.To)
	if err != nil {
		return 0, err
	}
	next, unread := t.counter(ctx)
	switch {
	case is.Own != nil:
		next = *is.Own + 1
	case t.dialect().Transient(unread) || ctx.Err() != nil:
		return 0, unread
	case unread != nil || max(within.From, 1) >= next: // there is no key 0
		return is.Keys, nil
	}
	return 0, fmt.Errorf("%w: this generator may take %s, and another program has drawn keys of %s, such as %d; choose numbers above its keys, "+
		"and stop the program: in this database, generators choose their numbers", ErrMixed, within, t.name, next-1)
}
