package uidgorm

import (
	"reflect"
	"slices"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"
)

// filled is the key of a statement's setting that holds the filled slots, from fill to
// clearUnused. It names the statement, since statements of associations inherit settings.
type filled struct{ stmt *gorm.Statement }

func remember(stmt *gorm.Statement, slots []slot) {
	if before, ok := stmt.Settings.Load(filled{stmt}); ok {
		slots = append(before.([]slot), slots...)
	}
	stmt.Settings.Store(filled{stmt}, slots)
}

// addReturning adds RETURNING to an upsert where the server has it. GORM then
// replaces the key made for a row by the key of the row found, as with keys
// that the database chooses.
func addReturning(stmt *gorm.Statement) {
	slots, ok := stmt.Settings.Load(filled{stmt})
	if !ok || !slices.Contains(stmt.BuildClauses, "RETURNING") {
		return
	}
	s := slots.([]slot)[0]
	conflict, ok := stmt.Clauses["ON CONFLICT"].Expression.(clause.OnConflict)
	switch {
	case !ok || conflict.DoNothing || s.m != nil:
		return // no other key can come back, or GORM would append it to the maps
	case len(conflict.Where.Exprs) > 0 && !single(stmt):
		return // rows that Where leaves alone are not returned: the others would shift
	case s.key.decides(conflict.Columns):
		return // a row that was there has the key that was given
	}
	returning, ok := stmt.Clauses["RETURNING"].Expression.(clause.Returning)
	if ok && (len(returning.Columns) == 0 || slices.Contains(returning.Columns, clause.Column{Name: "*"})) {
		return
	}
	columns := append(slices.Clip(returning.Columns), clause.Column{Name: s.key.field.DBName})
	if !ok { // what GORM would ask for
		for _, field := range stmt.Schema.FieldsWithDefaultDBValue {
			if field.Readable {
				columns = append(columns, clause.Column{Name: field.DBName})
			}
		}
	}
	c := stmt.Clauses["RETURNING"]
	c.Name, c.Expression = "RETURNING", clause.Returning{Columns: columns}
	stmt.Clauses["RETURNING"] = c
}

func (k *key) decides(columns []clause.Column) bool {
	if len(columns) != len(k.schema.PrimaryFields) {
		return false
	}
	for _, column := range columns {
		if !slices.Contains(k.schema.PrimaryFieldDBNames, column.Name) {
			return false
		}
	}
	return true
}

// clearUnused sets keys that no row has to zero again, as far as the count of affected rows
// shows them.
func (*Plugin) clearUnused(db *gorm.DB) {
	stmt := db.Statement
	value, ok := stmt.Settings.LoadAndDelete(filled{stmt})
	if !ok || db.Error != nil || db.DryRun || !mayConflict(stmt) {
		return
	}
	slots := value.([]slot)
	// MySQL counts 2 where it updated one.
	if db.RowsAffected == 0 || db.RowsAffected == 2 && single(stmt) {
		for i := range slots {
			slots[i].undo(stmt.Context)
		}
	}
}

// mayConflict reports whether the statement may succeed without inserting its rows.
func mayConflict(stmt *gorm.Statement) bool {
	if _, ok := stmt.Clauses["ON CONFLICT"]; ok {
		return true
	}
	insert, ok := stmt.Clauses["INSERT"].Expression.(clause.Insert)
	return ok && insert.Modifier != "" // such as IGNORE
}

func single(stmt *gorm.Statement) bool {
	rows := stmt.ReflectValue
	kind := rows.Kind()
	return kind != reflect.Slice && kind != reflect.Array || rows.Len() == 1
}
