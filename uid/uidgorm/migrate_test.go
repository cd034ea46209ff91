package uidgorm_test

import (
	"reflect"
	"testing"

	"gorm.io/gorm/schema"

	"github.com/uidring/uidring/uid"
)

// Line has ids in all places: the key, a foreign key, and one that may be NULL.
type Line struct {
	ID     uid.ID
	ItemID uid.ID
	Item   Item
	Next   *uid.ID
}

// column is what a database says of a column.
type column struct {
	Name  string
	Type  string
	Extra string // what would have the database choose a value
}

// columns returns a table's columns by name, as the database has them.
func columns(t *testing.T, s *store, table string) map[string]column {
	t.Helper()
	query := map[string]string{
		"mysql": "SELECT column_name AS name, column_type AS type, concat(extra, coalesce(nullif(column_default, 'NULL'), '')) AS extra " +
			"FROM information_schema.columns WHERE table_schema = database() AND table_name = ?",
		"postgres": "SELECT column_name AS name, data_type AS type, " +
			"coalesce(column_default, '') || CASE is_identity WHEN 'YES' THEN 'identity' ELSE '' END AS extra " +
			"FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ?",
		"sqlite": "SELECT name, lower(type) AS type, coalesce(dflt_value, '') AS extra FROM pragma_table_info(?)",
	}[s.Kind]
	var found []column
	must(t, s.db.Raw(query, table).Scan(&found).Error)
	byName := map[string]column{}
	for _, c := range found {
		byName[c.Name] = c
	}
	return byName
}

// With the plugin in use, migration makes BIGINTs that the database does not
// count up. A second migration changes nothing.
func TestMigration(t *testing.T) {
	models := []any{&Item{}, &Line{}, &Tagged{}, &Unsigned{}, &Order{}, &Embedding{}, &Composite{}, &CompositePlain{}}
	each(t, models, func(t *testing.T, s *store) {
		plain := map[string]string{"mysql": "bigint(20)", "postgres": "bigint", "sqlite": "bigint"}[s.Kind]
		// A plain integer gets the name that GORM has for it, unless its tag says
		// type:bigint, as Order's does.
		tagged := map[string]string{"mysql": "bigint(20)", "postgres": "bigint", "sqlite": "integer"}[s.Kind]
		unsigned := map[string]string{"mysql": "bigint(20) unsigned", "postgres": "bigint", "sqlite": "integer"}[s.Kind]
		for _, want := range []struct {
			model  any
			column string
			is     string
		}{
			{&Item{}, "id", plain}, {&Line{}, "id", plain}, {&Line{}, "item_id", plain}, {&Line{}, "next", plain},
			{&Tagged{}, "no", tagged}, {&Unsigned{}, "id", unsigned}, {&Order{}, "id", plain}, {&Embedding{}, "id", plain},
			{&Composite{}, "id", plain}, {&Composite{}, "tenant", plain}, {&CompositePlain{}, "number", unsigned},
		} {
			got := columns(t, s, s.table(t, want.model))[want.column]
			if got.Type != want.is && got.Type+"(20)" != want.is || got.Extra != "" {
				t.Errorf("%T.%s is %+v, want %s", want.model, want.column, got, want.is)
			}
		}

		s.log.reset()
		must(t, s.db.AutoMigrate(models...))
		for _, word := range []string{"ALTER", "CREATE", "DROP"} {
			if sent := s.log.beginning(word); len(sent) > 0 {
				t.Errorf("migrated again: %q", sent)
			}
		}

		if s.Kind != "sqlite" { // where a key that is no INTEGER may be NULL
			if err := s.db.Exec("INSERT INTO " + quoted(s, &Item{}, t) + " (name) VALUES ('x')").Error; err == nil {
				t.Error("a row without a key was inserted")
			}
		}
		line := Line{Item: Item{Name: "x"}}
		must(t, s.db.Create(&line).Error)
		var read Line
		must(t, s.db.Preload("Item").First(&read, line.ID).Error)
		if !reflect.DeepEqual(read, line) {
			t.Errorf("read %+v, want %+v", read, line)
		}
	})
}

func quoted(s *store, model any, t *testing.T) string {
	if s.Kind == "mysql" {
		return "`" + s.table(t, model) + "`"
	}
	return `"` + s.table(t, model) + `"`
}

// The type says what column it wants.
func TestDataType(t *testing.T) {
	typer, ok := any(uid.ID(0)).(schema.GormDataTypeInterface)
	if !ok || typer.GormDataType() != "bigint" {
		t.Error("uid.ID has no method GormDataType that returns bigint")
	}
}
