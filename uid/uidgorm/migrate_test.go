package uidgorm_test

import (
	"reflect"
	"testing"

	"github.com/uidring/uidring/uid"
)

// Line has ids in all places: the key, a foreign key, and one that may be NULL.
type Line struct {
	ID     uid.ID
	ItemID uid.ID
	Item   Item
	Next   *uid.ID
}

// definition returns what the database says of a column: its type, and what would have the
// database choose a value.
func definition(t *testing.T, s *store, model any, column string) (is struct{ Type, Extra string }) {
	t.Helper()
	query := map[string]string{
		"mysql": "SELECT REPLACE(column_type, '(20)', '') AS type, concat(extra, coalesce(nullif(column_default, 'NULL'), '')) AS extra " +
			"FROM information_schema.columns WHERE table_schema = database() AND table_name = ? AND column_name = ?",
		"postgres": "SELECT data_type AS type, " +
			"coalesce(column_default, '') || CASE is_identity WHEN 'YES' THEN 'identity' ELSE '' END AS extra " +
			"FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = ? AND column_name = ?",
		"sqlite": "SELECT lower(type) AS type, coalesce(dflt_value, '') AS extra FROM pragma_table_info(?) WHERE name = ?",
	}[s.Kind]
	must(t, s.db.Raw(query, s.schema(t, model).Table, column).Scan(&is).Error)
	return is
}

// With the plugin in use, migration makes BIGINTs that the database does not
// count up. A second migration changes nothing.
func TestMigration(t *testing.T) {
	models := []any{&Item{}, &Line{}, &Tagged{}, &Unsigned{}, &Order{}, &Embedding{}, &Composite{}, &CompositePlain{}}
	each(t, models, func(t *testing.T, s *store) {
		const plain = "bigint"
		unsigned := map[string]string{"mysql": "bigint unsigned", "postgres": "bigint", "sqlite": "bigint"}[s.Kind]
		for _, want := range []struct {
			model  any
			column string
			is     string
		}{
			{&Item{}, "id", plain}, {&Line{}, "id", plain}, {&Line{}, "item_id", plain}, {&Line{}, "next", plain},
			{&Tagged{}, "no", plain}, {&Unsigned{}, "id", unsigned}, {&Order{}, "id", plain}, {&Embedding{}, "id", plain},
			{&Composite{}, "id", plain}, {&Composite{}, "tenant", plain}, {&CompositePlain{}, "number", unsigned},
		} {
			got := definition(t, s, want.model, want.column)
			if got.Type != want.is || got.Extra != "" {
				t.Errorf("%T.%s is %+v, want %s", want.model, want.column, got, want.is)
			}
		}

		s.log.Reset()
		must(t, s.db.AutoMigrate(models...))
		wantUnsent(t, s.log, "(ALTER|CREATE|DROP)")

		wantError(t, s.db.Table(s.schema(t, &Item{}).Table).Create(map[string]any{"name": "x"}).Error, nil)
		for _, model := range []any{&Tagged{}, &Unsigned{}, &Embedding{}} { // which have no other column
			key := s.schema(t, model).PrioritizedPrimaryField.DBName
			wantError(t, s.db.Table(s.schema(t, model).Table).Create(map[string]any{key: nil}).Error, nil)
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
