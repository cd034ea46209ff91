package uidgorm

import (
	"context"
	"database/sql/driver"
	"fmt"
	"reflect"

	"gorm.io/gorm"

	"github.com/uidring/uidring/uid"
)

// slot is where one zero key is stored: in a struct, or in a map.
type slot struct {
	key  *key
	row  reflect.Value // the struct
	m    map[string]any
	name string // in m
	old  any    // in m
	held bool   // whether m had the name
	at   int    // among the rows of the statement
	id   uid.ID // that the slot has, unless GORM has replaced it
}

func (s *slot) put(ctx context.Context, id uid.ID) {
	s.id = id
	if s.m != nil {
		s.m[s.name] = s.key.value(id)
		return
	}
	set(s.key.field.ReflectValueOf(ctx, s.row), id)
}

func (s *slot) undo(ctx context.Context) {
	switch {
	case s.m == nil:
		s.key.field.ReflectValueOf(ctx, s.row).SetZero()
	case s.held:
		s.m[s.name] = s.old
	default:
		delete(s.m, s.name)
	}
}

// replaced reports whether GORM has put another key into the row.
func (s *slot) replaced(ctx context.Context) bool {
	return s.m == nil && get(s.key.field.ReflectValueOf(ctx, s.row)) != s.id
}

// get reads an id from where set writes it.
func get(v reflect.Value) uid.ID {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Pointer:
		return 0
	case v.Kind() == reflect.Struct:
		return uid.ID(v.Field(0).Int())
	case v.CanInt():
		return uid.ID(v.Int())
	default:
		return uid.ID(v.Uint())
	}
}

// set writes an id to an integer. A pointer gets a new one: the old one may be shared.
func set(v reflect.Value, id uid.ID) {
	for v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	switch {
	case v.Kind() == reflect.Struct: // that embeds a uid.ID
		v.Field(0).SetInt(int64(id))
	case v.CanInt():
		v.SetInt(int64(id))
	default:
		v.SetUint(uint64(id))
	}
}

// slots returns where the zero keys are stored, in the order of the rows.
func (k *key) slots(stmt *gorm.Statement) (slots []slot, err error) {
	switch dest := stmt.Dest.(type) { // GORM takes these maps, and a pointer to either
	case map[string]any:
		return k.inMaps([]map[string]any{dest})
	case *map[string]any:
		return k.inMaps([]map[string]any{*dest})
	case []map[string]any:
		return k.inMaps(dest)
	case *[]map[string]any:
		return k.inMaps(*dest)
	}
	rows := stmt.ReflectValue
	if kind := rows.Kind(); kind != reflect.Slice && kind != reflect.Array {
		return k.inStruct(stmt.Context, nil, rows, 0)
	}
	for i := range rows.Len() {
		if slots, err = k.inStruct(stmt.Context, slots, rows.Index(i), i); err != nil {
			return nil, fmt.Errorf("%w (row %d)", err, i)
		}
	}
	return slots, nil
}

func (k *key) inStruct(ctx context.Context, slots []slot, row reflect.Value, at int) ([]slot, error) {
	if row.Kind() == reflect.Pointer && row.IsNil() {
		return slots, nil // which GORM refuses
	}
	row = reflect.Indirect(row)
	// GORM takes other structs too, as long as they have the same fields.
	if row.Type() != k.schema.ModelType && (row.Kind() != reflect.Struct || !row.CanConvert(k.schema.ModelType)) {
		return nil, fmt.Errorf("%w: %s: the value is a %s, want a %s, a pointer to one, or a map", ErrKey, k, row.Type(), k.schema.ModelType)
	}
	value, zero := k.field.ValueOf(ctx, row)
	if !zero && (k.field.FieldType.Kind() != reflect.Pointer || !isZero(value)) {
		return slots, nil
	}
	if !row.CanAddr() {
		return nil, fmt.Errorf("%w: %s: the struct is a copy, want a pointer to the %s", ErrKey, k, row.Type())
	}
	return append(slots, slot{key: k, row: row, at: at}), nil
}

func (k *key) inMaps(rows []map[string]any) ([]slot, error) {
	slots := make([]slot, 0, len(rows))
	for i, row := range rows {
		if row == nil {
			return nil, fmt.Errorf("%w: %s: the map is nil, want one that can be written", ErrKey, k)
		}
		s := slot{key: k, m: row, name: k.field.DBName, at: i}
		for name, value := range row {
			if k.schema.LookUpField(name) != k.field {
				continue
			}
			if s.held {
				return nil, fmt.Errorf("%w: %s is in map %d as %q and as %q, want one", ErrKey, k, i, s.name, name)
			}
			s.name, s.old, s.held = name, value, true
		}
		if !s.held || isZero(s.old) {
			slots = append(slots, s)
		}
	}
	return slots, nil
}

// isZero reports whether a value stands for no key: NULL or 0, behind pointers too, or
// a driver.Valuer that returns one of these.
func isZero(value any) bool {
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	if !v.IsValid() || v.IsZero() {
		return true
	}
	valuer, ok := reflect.TypeAssert[driver.Valuer](v)
	if !ok {
		return false
	}
	given, err := valuer.Value()
	return err == nil && (given == nil || given == int64(0))
}
