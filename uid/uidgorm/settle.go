package uidgorm

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/uid"
)

// settle gives each row of an upsert the key that it has in the database: where another row
// was kept, the key of that. It sets a key that it cannot find to zero, and fails if relatives
// would refer to it.
func (*Plugin) settle(db *gorm.DB) {
	stmt := db.Statement
	c := begun(stmt)
	stmt.Settings.Delete(current{stmt})
	_, upserts := stmt.Clauses["ON CONFLICT"]
	if c == nil || db.Error != nil || db.DryRun || len(c.slots) == 0 || !upserts && modifier(stmt) == "" {
		return
	}
	dealt := len(c.slots)
	slots := slices.DeleteFunc(c.slots, func(s slot) bool { return s.replaced(stmt.Context) }) // by RETURNING
	if c.doNothing {
		if db.RowsAffected -= int64(dealt - len(slots)); stmt.Result != nil {
			stmt.Result.RowsAffected = db.RowsAffected
		}
	}
	if c.insertedAll(db) {
		return
	}
	lost, err := c.key.missing(stmt, slots)
	if err == nil && len(lost) > 0 {
		lost, err = c.find(stmt, lost)
	}
	for _, s := range lost {
		s.undo(stmt.Context)
		if err == nil && (c.nested || s.m == nil && c.key.hasRelatives(stmt, s.row)) {
			err = fmt.Errorf("%w: %s (row %d): related rows would need its key; tag the columns that conflict "+
				"as unique or uniqueIndex, or set the row's key", ErrConflict, c.key, s.at)
		}
	}
	if err != nil {
		_ = db.AddError(err)
	}
}

// missing returns the slots whose key is in no row.
func (k *key) missing(stmt *gorm.Statement, slots []slot) ([]slot, error) {
	keys := make([]any, len(slots))
	for i, s := range slots {
		keys[i] = k.value(s.id)
	}
	column := clause.Column{Name: k.field.DBName}
	found, err := k.query(stmt, "SELECT 0, ? FROM ? WHERE ? IN ?", column, clause.Table{Name: stmt.Table}, column, keys)
	return slices.DeleteFunc(slots, func(s slot) bool { return slices.Contains(found[0], s.id) }), err
}

// find gives each slot the key of the row that was kept in its place, and returns the slots
// for which there is not exactly one such row.
func (c *creation) find(stmt *gorm.Statement, slots []slot) (lost []slot, err error) {
	if c.detects && single(stmt) {
		raw, err := stmt.Result.Result.LastInsertId()
		if err != nil {
			return slots, err
		}
		id, err := c.key.parse(raw)
		slots[0].put(stmt.Context, id)
		return nil, err
	}
	query := "SELECT %d, ? FROM ? WHERE %s"
	if stmt.Name() == "mysql" { // where the transaction may be older than the row
		query = "(" + query + " LOCK IN SHARE MODE)"
	}
	for part := range slices.Chunk(slots, 100) { // SQLite takes 500 at most
		var queries []string
		var vars []any
		for i, s := range part {
			if same, values := c.same(stmt, s.at); same != "" {
				queries = append(queries, fmt.Sprintf(query, i, same))
				vars = append(vars, clause.Column{Name: c.key.field.DBName}, clause.Table{Name: stmt.Table})
				vars = append(vars, values...)
			}
		}
		found, err := c.key.query(stmt, strings.Join(queries, " UNION ALL "), vars...)
		if err != nil {
			return nil, err
		}
		for i, s := range part {
			if len(found[i]) == 1 {
				s.put(stmt.Context, found[i][0])
			} else {
				lost = append(lost, s)
			}
		}
	}
	return lost, nil
}

// same returns a condition for rows that have what a row of the statement has in the columns
// that conflict, or "" if it cannot.
func (c *creation) same(stmt *gorm.Statement, at int) (condition string, vars []any) {
	inserted, _ := stmt.Clauses["VALUES"].Expression.(clause.Values)
	conflict, _ := stmt.Clauses["ON CONFLICT"].Expression.(clause.OnConflict)
	unique := c.key.unique()
	if len(conflict.Columns) > 0 && stmt.Name() != "mysql" { // which looks at all
		unique = [][]string{nil}
		for _, column := range conflict.Columns {
			unique[0] = append(unique[0], column.Name)
		}
	}
	var conditions []string
	for _, columns := range unique {
		var equal []string
		var values []any
		for _, name := range columns {
			i := slices.IndexFunc(inserted.Columns, func(column clause.Column) bool { return column.Name == name })
			if i < 0 {
				break
			}
			if _, computed := inserted.Values[at][i].(clause.Expression); computed {
				break
			}
			equal = append(equal, "? = ?")
			values = append(values, clause.Column{Name: name}, inserted.Values[at][i])
		}
		if len(equal) == len(columns) {
			conditions = append(conditions, strings.Join(equal, " AND "))
			vars = append(vars, values...)
		}
	}
	return strings.Join(conditions, " OR "), vars
}

// query sends a query of numbers and keys, and returns the keys by their number. It sends it
// where the statement was sent, past callbacks that would have it read from a replica.
func (k *key) query(stmt *gorm.Statement, query string, vars ...any) (found map[int][]uid.ID, err error) {
	found = map[int][]uid.ID{}
	if query == "" {
		return found, nil
	}
	q := stmt.DB.Session(&gorm.Session{NewDB: true}).Raw(query, vars...)
	began, text := time.Now(), q.Statement.SQL.String()
	defer func() {
		q.Logger.Trace(stmt.Context, began, func() (string, int64) {
			return q.Explain(text, q.Statement.Vars...), int64(len(found))
		}, err)
	}()
	rows, err := stmt.ConnPool.QueryContext(stmt.Context, text, q.Statement.Vars...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var n int
		id := reflect.New(reflect.PointerTo(k.field.IndirectFieldType)) // nil for NULL
		if err := rows.Scan(&n, id.Interface()); err != nil {
			return nil, err
		}
		if !id.Elem().IsNil() {
			found[n] = append(found[n], get(id.Elem()))
		}
	}
	return found, rows.Err()
}
