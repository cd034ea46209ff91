package uidgorm

import (
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// creation is what the plugin remembers of a statement from fill to settle.
type creation struct {
	key    *key
	slots  []slot // that were filled
	nested bool   // whether GORM saves the rows as relatives of another row

	returns   bool // whether RETURNING brings the key of every row, of new and of old ones
	doNothing bool // whether returned old rows were not updated, and do not count as affected
	detects   bool // whether LastInsertId is 0 unless a row was found
}

// current is the key of a statement's setting that holds its creation. It names the
// statement, since statements of associations inherit settings.
type current struct{ stmt *gorm.Statement }

// associating is GORM's setting in statements that save associations.
const associating = "gorm:saved_association_map"

// begin returns the statement's creation, a new one the first time.
func begin(stmt *gorm.Statement, k *key) *creation {
	if c := begun(stmt); c != nil {
		return c
	}
	_, nested := stmt.Settings.Load(associating)
	c := &creation{key: k, nested: nested}
	stmt.Settings.Store(current{stmt}, c)
	return c
}

// leaveOutTwins makes a statement of relatives have each row once. A new relative of two parents comes twice, has one key,
// and PostgreSQL refuses an upsert that meets a row twice.
func leaveOutTwins(stmt *gorm.Statement) {
	rows := stmt.ReflectValue
	if _, nested := stmt.Settings.Load(associating); !nested || rows.Kind() != reflect.Slice || rows.Type().Elem().Kind() != reflect.Pointer {
		return
	}
	seen, distinct := map[uintptr]bool{}, reflect.MakeSlice(rows.Type(), 0, rows.Len())
	for i := range rows.Len() {
		if row := rows.Index(i); !seen[row.Pointer()] {
			seen[row.Pointer()], distinct = true, reflect.Append(distinct, row)
		}
	}
	if distinct.Len() < rows.Len() {
		stmt.ReflectValue = distinct
	}
}

func begun(stmt *gorm.Statement) *creation {
	value, _ := stmt.Settings.Load(current{stmt})
	c, _ := value.(*creation)
	return c
}

// prepare makes an upsert tell which rows it found, as far as the database can. With
// RETURNING, GORM replaces the key made for a row by the key of the row found, as with keys
// that the database chooses.
func (c *creation) prepare(stmt *gorm.Statement) {
	c.slots = slices.DeleteFunc(c.slots, func(s slot) bool { return s.replaced(stmt.Context) }) // by a hook
	conflict, ok := stmt.Clauses["ON CONFLICT"].Expression.(clause.OnConflict)
	inMySQL := stmt.Name() == "mysql"
	switch {
	case !ok || modifier(stmt) != "":
		return // rows that were ignored are not returned: the others would shift
	case !inMySQL && (conflict.DoNothing || c.key.decides(conflict)):
		return // as here, or a row that was there has the key that was given
	case len(conflict.Where.Exprs) > 0 && !single(stmt):
		return // as above
	case !slices.Contains(stmt.BuildClauses, "RETURNING") || !ofStructs(stmt.ReflectValue.Type()): // GORM would append to maps
		if inMySQL && len(c.slots) > 0 {
			c.detect(stmt, conflict)
		}
		return
	case conflict.DoNothing && len(c.slots) == 0 && !c.followed(stmt):
		return // so that old rows do not count as affected
	}
	c.returns, c.doNothing = true, conflict.DoNothing
	returning, ok := stmt.Clauses["RETURNING"].Expression.(clause.Returning)
	if ok && (len(returning.Columns) == 0 || slices.Contains(returning.Columns, clause.Column{Name: "*"})) {
		return
	}
	columns := append(slices.Clip(returning.Columns), clause.Column{Name: c.key.field.DBName})
	if !ok { // what GORM would ask for
		for _, field := range stmt.Schema.FieldsWithDefaultDBValue {
			if field.Readable {
				columns = append(columns, clause.Column{Name: field.DBName})
			}
		}
	}
	change := stmt.Clauses["RETURNING"]
	change.Name, change.Expression = "RETURNING", clause.Returning{Columns: columns}
	stmt.Clauses["RETURNING"] = change
}

// followed reports whether other rows refer to the keys of the statement.
func (c *creation) followed(stmt *gorm.Statement) bool {
	rows := stmt.ReflectValue
	switch {
	case c.nested:
		return true
	case rows.Kind() == reflect.Struct:
		return c.key.hasRelatives(stmt, rows)
	}
	for i := range rows.Len() {
		if reflect.Indirect(rows.Index(i)).Kind() == reflect.Struct && c.key.hasRelatives(stmt, rows.Index(i)) {
			return true
		}
	}
	return false
}

// lastInsertID is LAST_INSERT_ID(column), which MySQL evaluates only for a row that is there.
type lastInsertID clause.Column

func (id lastInsertID) Build(builder clause.Builder) {
	_, _ = builder.WriteString("LAST_INSERT_ID(")
	builder.WriteQuoted(clause.Column(id))
	_ = builder.WriteByte(')')
}

// detect makes the result's LastInsertId tell whether a row was found.
func (c *creation) detect(stmt *gorm.Statement, conflict clause.OnConflict) {
	if first := stmt.Schema.PrioritizedPrimaryField; first != nil && first.HasDefaultValue {
		return // GORM would take it for the key that the database chose
	}
	column := clause.Column{Name: c.key.field.DBName}
	same := clause.Assignment{Column: column, Value: lastInsertID(column)}
	if !slices.Contains(conflict.DoUpdates, same) {
		conflict.DoUpdates = append(slices.Clip(conflict.DoUpdates), same)
		stmt.AddClause(conflict)
	}
	if stmt.Result == nil {
		stmt.Result = gorm.WithResult()
	}
	c.detects = true
}

// decides reports whether a conflict is one of the key, so that a row that was there has the
// key that was given.
func (k *key) decides(conflict clause.OnConflict) bool {
	switch {
	case conflict.OnConstraint != "":
		return false
	case len(conflict.Columns) == 0:
		return conflict.UpdateAll // GORM adds the columns of the key
	case len(conflict.Columns) != len(k.schema.PrimaryFields):
		return false
	}
	for _, column := range conflict.Columns {
		if !slices.Contains(k.schema.PrimaryFieldDBNames, column.Name) {
			return false
		}
	}
	return true
}

// insertedAll reports whether no row was found for certain.
func (c *creation) insertedAll(db *gorm.DB) bool {
	stmt := db.Statement
	conflict, upserts := stmt.Clauses["ON CONFLICT"].Expression.(clause.OnConflict)
	_, returning := stmt.Clauses["RETURNING"]
	switch {
	case c.returns:
		return len(conflict.Where.Exprs) == 0 || db.RowsAffected > 0 // in the rows that have their new keys still
	case c.detects:
		id, err := stmt.Result.Result.LastInsertId()
		return err == nil && id == 0
	case upserts && stmt.Name() == "mysql":
		return false
	case upserts && !conflict.DoNothing:
		return c.key.decides(conflict)
	default: // GORM counts wrong where it reads some rows of a batch
		inserted, _ := stmt.Clauses["VALUES"].Expression.(clause.Values)
		return db.RowsAffected == int64(len(inserted.Values)) && (!returning || single(stmt))
	}
}

// modifier returns what the statement has after INSERT, such as IGNORE.
func modifier(stmt *gorm.Statement) string {
	insert, _ := stmt.Clauses["INSERT"].Expression.(clause.Insert)
	return insert.Modifier
}

func single(stmt *gorm.Statement) bool {
	rows := stmt.ReflectValue
	kind := rows.Kind()
	return kind != reflect.Slice && kind != reflect.Array || rows.Len() == 1
}

func ofStructs(t reflect.Type) bool {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}
