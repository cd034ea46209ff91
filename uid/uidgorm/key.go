package uidgorm

import (
	"database/sql"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"gorm.io/gorm"
	"gorm.io/gorm/schema"

	"github.com/uidring/uidring/uid"
)

// setting is the name that GORM's tag parser gives to `gorm:"uid"`.
const setting = "UID"

var idType = reflect.TypeFor[uid.ID]()

// key is the field of a model that opted in: its primary key or, with the tag, another. It does not change.
type key struct {
	schema *schema.Schema
	field  *schema.Field
	unique func() [][]string // the columns of each unique index and constraint that tags declare
}

func newKey(s *schema.Schema, f *schema.Field) *key {
	return &key{s, f, sync.OnceValue(func() [][]string { return uniqueColumns(s) })}
}

func (k *key) String() string {
	model := k.schema.ModelType.String()
	if k.schema.ModelType.Name() == "" {
		model = k.schema.Table
	}
	return model + "." + k.field.Name
}

// findKey returns the key of a model, or nil if the model has not opted in.
func findKey(s *schema.Schema) (*key, error) {
	foreign := foreignKeys(s)
	var chosen *key
	byTag := false
	for _, f := range s.Fields {
		if f.DBName != "" && s.FieldsByDBName[f.DBName] != f {
			continue // another field of that name hides it
		}
		k := newKey(s, f)
		tagged, refused, err := k.tag()
		if err != nil {
			return nil, err
		}
		switch {
		case tagged && !k.primary() && foreign[f]:
			return nil, fmt.Errorf("%w: %s has the tag uid and refers to another row, whose key it gets", ErrKey, k)
		case !k.primary() && !tagged, refused, foreign[f]:
		case tagged && byTag:
			return nil, fmt.Errorf("%w: %s and %s both have the tag uid, want one", ErrKey, chosen, k)
		case chosen != nil && chosen.primary() != k.primary() && (tagged || k.byType()):
			return nil, fmt.Errorf("%w: %s and %s would both be filled, want one, and the tag uid:false on the other", ErrKey, chosen, k)
		case tagged:
			chosen, byTag = k, true
		case !byTag && k.byType():
			chosen = k
		}
	}
	if chosen == nil {
		return nil, nil
	}
	return chosen, chosen.check()
}

// primary reports whether the key is a primary key of the model, or a part of one.
func (k *key) primary() bool { return slices.Contains(k.schema.PrimaryFields, k.field) }

func (k *key) tag() (in, out bool, err error) {
	switch value, ok := k.field.TagSettings[setting]; {
	case !ok && k.field.TagSettings["UUID"] != "" && (k.field.DataType == schema.Int || k.field.DataType == schema.Uint || isID(k.field.IndirectFieldType)):
		return false, false, fmt.Errorf("%w: %s has the tag uuid, want uid", ErrKey, k)
	case !ok:
		return false, false, nil
	case value == setting || strings.EqualFold(value, "true"):
		return true, false, nil
	case strings.EqualFold(value, "false"):
		return false, true, nil
	default:
		return false, false, fmt.Errorf("%w: %s has the tag uid:%s, want uid or uid:false", ErrKey, k, value)
	}
}

// byType reports whether a primary key opts in by its type. Of several primary
// fields, only GORM's prioritized field does: the others are most often foreign
// keys.
func (k *key) byType() bool {
	return isID(k.field.IndirectFieldType) &&
		(len(k.schema.PrimaryFields) == 1 || k.schema.PrioritizedPrimaryField == k.field)
}

// isID reports whether a type is uid.ID, or a struct that only embeds it.
func isID(t reflect.Type) bool {
	if t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Anonymous {
		t = t.Field(0).Type
	}
	return t == idType
}

func (k *key) check() error {
	f := k.field
	switch kind := f.IndirectFieldType.Kind(); {
	case isID(f.IndirectFieldType):
	case kind == reflect.Int, kind == reflect.Int64, kind == reflect.Uint, kind == reflect.Uint64:
		if bits := min(f.IndirectFieldType.Bits(), f.Size); bits < 64 {
			return fmt.Errorf("%w: %s has %d bits, want 64", ErrKey, k, bits)
		}
	default:
		return fmt.Errorf("%w: %s is of kind %s, want a 64-bit integer", ErrKey, k, kind)
	}
	if f.AutoIncrement || f.HasDefaultValue {
		return fmt.Errorf("%w: %s gets its value from the database, want autoIncrement:false and no default in its tag", ErrKey, k)
	}
	if !f.Creatable {
		return fmt.Errorf("%w: %s is never written, want no -> and no <-:update in its tag", ErrKey, k)
	}
	if f.Updatable && !k.primary() { // Save and UpdateAll leave primary keys alone
		return fmt.Errorf("%w: %s is written by Save and updates too, want <-:create in its tag, so that a row keeps its id", ErrKey, k)
	}
	return nil
}

// foreignKeys returns the fields that get their value from the row which the
// model belongs to. Fields of GORM's own join tables count too: GORM copies
// their tags from the joined models.
func foreignKeys(s *schema.Schema) map[*schema.Field]bool {
	s.Relationships.Mux.RLock()
	defer s.Relationships.Mux.RUnlock()
	fields := map[*schema.Field]bool{}
	for _, r := range s.Relationships.Relations {
		if r.Type != schema.BelongsTo {
			continue
		}
		for _, ref := range r.References {
			fields[ref.ForeignKey] = true
		}
	}
	return fields
}

func (k *key) include(stmt *gorm.Statement) error {
	if len(stmt.Selects)+len(stmt.Omits) == 0 {
		return nil
	}
	columns, restricted := stmt.SelectAndOmitColumns(true, false)
	switch written, named := columns[k.field.DBName]; {
	case named && !written:
		return fmt.Errorf("%w: Omit names %s, which must be written", ErrKey, k)
	case !named && restricted:
		// The slice may be shared with other statements.
		stmt.Selects = append(slices.Clip(stmt.Selects), k.field.DBName)
	}
	return nil
}

// value returns an id as the field's type has it.
func (k *key) value(id uid.ID) any {
	v := reflect.New(k.field.IndirectFieldType).Elem()
	set(v, id)
	return v.Interface()
}

// parse reads an id from a column's value, which a type may store in another form.
func (k *key) parse(raw int64) (id uid.ID, err error) {
	v := reflect.New(k.field.IndirectFieldType)
	if scanner, ok := reflect.TypeAssert[sql.Scanner](v); ok {
		err = scanner.Scan(raw)
	} else {
		set(v.Elem(), uid.ID(raw))
	}
	return get(v.Elem()), err
}

func uniqueColumns(s *schema.Schema) (all [][]string) {
	for _, index := range s.ParseIndexes() {
		whole := index.Class == "UNIQUE" && index.Where == ""
		var columns []string
		for _, option := range index.Fields {
			whole = whole && option.Expression == ""
			columns = append(columns, option.DBName)
		}
		if whole {
			all = append(all, columns)
		}
	}
	for _, f := range s.Fields {
		if f.Unique {
			all = append(all, []string{f.DBName})
		}
	}
	return all
}

// hasRelatives reports whether GORM saves relatives after the row that refer to its key.
func (k *key) hasRelatives(stmt *gorm.Statement, row reflect.Value) bool {
	selected, restricted := stmt.SelectAndOmitColumns(true, false)
	all := &k.schema.Relationships
	return slices.ContainsFunc(slices.Concat(all.HasOne, all.HasMany, all.Many2Many), func(r *schema.Relationship) bool {
		if saved, named := selected[r.Name]; named && !saved || !named && restricted {
			return false
		}
		v := reflect.Indirect(r.Field.ReflectValueOf(stmt.Context, row))
		return v.IsValid() && !v.IsZero() && (v.Kind() != reflect.Slice || v.Len() > 0) &&
			slices.ContainsFunc(r.References, func(ref *schema.Reference) bool { return ref.PrimaryKey == k.field && ref.OwnPrimaryKey })
	})
}
