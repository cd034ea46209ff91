package uidgorm_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/uid"
)

// Stamped has a column that the database fills, besides its key.
type Stamped struct {
	ID   uid.ID
	Name string `gorm:"size:64;uniqueIndex"`
	Size int
	Rank int `gorm:"default:(3+4)"`
}

var (
	onName = []clause.Column{{Name: "name"}}
	update = clause.OnConflict{Columns: onName, DoUpdates: clause.AssignmentColumns([]string{"size"})}
	none   = clause.OnConflict{DoNothing: true}
)

// An upsert that finds a row leaves its key as it is, there and in memory.
func TestUpsert(t *testing.T) {
	each(t, []any{&Item{}, &Stamped{}}, func(t *testing.T, s *store) {
		const there = uid.ID(7) // the key of the row that is there
		type test struct {
			name         string
			upsert       *gorm.DB
			create       []Item
			memory, rows []uid.ID
		}
		old, batch, one := []Item{{Name: "old"}}, []Item{{Name: "a"}, {Name: "old"}, {Name: "b"}}, []uid.ID{there}
		theKey := clause.Returning{Columns: []clause.Column{{Name: "id"}}}
		noneOnName := clause.OnConflict{Columns: onName, DoNothing: true}
		tests := []test{
			{"update", s.db.Clauses(update), old, one, one},
			{"update all", s.db.Clauses(clause.OnConflict{Columns: onName, UpdateAll: true}), old, one, one},
			{"update some of a batch", s.db.Clauses(update), batch,
				[]uid.ID{first, there, first + 2}, []uid.ID{there, first, first + 2}},
			{"update, returning a column", s.db.Clauses(update, clause.Returning{Columns: onName}), old, one, one},
			{"update, returning the key", s.db.Clauses(update, theKey), old, one, one},
			{"update, returning all", s.db.Clauses(update, clause.Returning{}), old, one, one},
			{"nothing", s.db.Clauses(none), old, one, one},
			{"nothing, with columns", s.db.Clauses(noneOnName), old, one, one},
			{"nothing of a batch", s.db.Clauses(none), batch,
				[]uid.ID{first, there, first + 2}, []uid.ID{there, first, first + 2}},
			{"nothing, with a set key", s.db.Clauses(none), []Item{{ID: 8, Name: "old"}}, []uid.ID{8}, one},
		}
		if modifier, ok := map[string]string{"mysql": "IGNORE", "sqlite": "OR IGNORE"}[s.Kind]; ok { // PostgreSQL has only ON CONFLICT
			tests = append(tests, test{"insert or ignore", s.db.Clauses(clause.Insert{Modifier: modifier}), old, one, one})
		}
		if s.Kind != "mysql" { // which has no conditional upsert
			never := update
			never.Where = clause.Where{Exprs: []clause.Expression{gorm.Expr("1 = 0")}}
			tests = append(tests,
				test{"update where nothing is", s.db.Clauses(never), old, one, one},
				test{"update some of a batch where nothing is", s.db.Clauses(never), []Item{{Name: "old"}, {Name: "a"}},
					[]uid.ID{there, first + 1}, []uid.ID{there, first + 1}})
		}
		for _, test := range tests {
			upsert := test.upsert.Session(&gorm.Session{})
			for size := range 2 { // what is there already, and a change
				t.Run(fmt.Sprint(test.name, " to ", size), func(t *testing.T) {
					s.empty(t, &Item{})
					must(t, s.db.Create(&Item{ID: there, Name: "old"}).Error)
					items := slices.Clone(test.create)
					for i := range items {
						items[i].Size = size
					}
					db, result := upsert, gorm.WithResult()
					if size == 1 {
						db = db.Clauses(result)
					}
					db = db.Create(&items)
					must(t, db.Error)
					if n := int64(len(test.rows) - 1); strings.HasPrefix(test.name, "nothing") && (db.RowsAffected != n || size == 1 && result.RowsAffected != n) {
						t.Errorf("%d rows are counted as inserted, and %d in the result, want %d", db.RowsAffected, result.RowsAffected, n)
					}
					wantIDs(t, "keys in memory", keysOf(items), test.memory)
					wantIDs(t, "keys in the table", s.keys(t, &Item{}, "id"), test.rows)
				})
			}
		}

		t.Run("with a column that the database fills", func(t *testing.T) {
			must(t, s.db.Create(&Stamped{ID: there, Name: "old", Rank: 9}).Error)
			rows := []Stamped{{Name: "new"}, {Name: "old"}}
			must(t, s.db.Clauses(update).Create(&rows).Error)
			if s.Kind == "mysql" && !s.MariaDB(t) { // without RETURNING, the key alone is looked up
				wantIDs(t, "the key in memory", []uid.ID{rows[1].ID}, []uid.ID{there})
				return
			}
			if rows[0].Rank != 7 || rows[1].Rank != 9 || rows[1].ID != there {
				t.Errorf("in memory: %+v", rows)
			}
			row := Stamped{Name: "old"}
			must(t, s.db.Clauses(update, clause.Returning{}).Create(&row).Error)
			if row.Rank != 9 || row.ID != there {
				t.Errorf("in memory: %+v", row)
			}
		})
		t.Run("a map", func(t *testing.T) {
			s.empty(t, &Item{})
			must(t, s.db.Create(&Item{ID: there, Name: "old"}).Error)
			m := map[string]any{"name": "old"}
			must(t, s.db.Model(&Item{}).Clauses(none).Create(&m).Error)
			maps := []map[string]any{{"name": "old", "ID": nil}}
			must(t, s.db.Model(&Item{}).Clauses(none).Create(maps).Error)
			wantIDs(t, "keys in maps of a row that is there", entries(m, maps[0]), []uid.ID{there, there})
			second := []map[string]any{{"name": "new"}, {"name": "old"}}
			must(t, s.db.Model(&Item{}).Clauses(none).Create(second).Error)
			wantIDs(t, "keys in maps of a new row and of one that is there", entries(second...)[1:], []uid.ID{there})
			must(t, s.db.Model(&Item{}).Clauses(update).Create(&maps).Error)
			if len(maps) != 1 {
				t.Errorf("GORM has added maps: %v", maps)
			}
			table := clause.Table{Name: s.schema(t, &Item{}).Table}
			must(t, s.db.Exec("CREATE UNIQUE INDEX ? ON ? (size)", clause.Table{Name: s.Table + "_size"}, table).Error)
			must(t, s.db.Create(&Item{Name: "sized", Size: 5}).Error)
			lost := []map[string]any{{"name": "a", "size": 5, "ID": nil}, {"name": "b", "size": 5}} // no tag says why
			must(t, s.db.Model(&Item{}).Clauses(none).Create(lost).Error)
			if id, has := lost[0]["ID"]; !has || id != nil || len(lost[1]) != 2 {
				t.Errorf("maps of which no row is known are left as %v", lost)
			}
		})
	})
}

// A create that fails leaves the key, and may be tried again with it.
func TestKeyAfterFailure(t *testing.T) {
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		item := Item{Name: "a"}
		wantError(t, s.db.WithContext(ctx).Clauses(none).Create(&item).Error, context.Canceled)
		wantIDs(t, "the key in memory", []uid.ID{item.ID}, []uid.ID{first})
		must(t, s.db.Create(&item).Error)
		wantAsked(t, s.gen, 1)
		wantIDs(t, "the table", s.keys(t, &Item{}, "id"), []uid.ID{first})
	})
}

// A count of no rows proves nothing where there was no conflict to find: a trigger
// may have put the row elsewhere.
func TestRowElsewhere(t *testing.T) {
	s := newStore(t, "postgres", &Item{})
	s.Exec(t, "CREATE FUNCTION %s_no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'", s.Table)
	s.Exec(t, `CREATE TRIGGER elsewhere BEFORE INSERT ON "%s" FOR EACH ROW EXECUTE FUNCTION %s_no()`, s.schema(t, &Item{}).Table, s.Table)
	item := Item{Name: "a"}
	must(t, s.db.Create(&item).Error)
	wantIDs(t, "the key in memory", []uid.ID{item.ID}, []uid.ID{first})
}
