package uidgorm_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
)

// Item opts in by the type of its key.
type Item struct {
	ID   uid.ID
	Name string `gorm:"size:64;uniqueIndex"`
	Size int
}

// way is one way in which GORM creates.
type way struct {
	name  string
	asked []int                               // of the generator, call by call
	do    func(db *gorm.DB) ([]uid.ID, error) // keys as they are in memory afterwards
}

// structs is a way to create n items. It asks for all ids at once, unless asked says otherwise.
func structs(name string, n int, create func(db *gorm.DB, items []Item) error, asked ...int) way {
	if asked == nil {
		asked = []int{n}
	}
	return keyed(name, make([]uid.ID, n), create, asked...)
}

// keyed is a way to create an item with each of the keys, which may be 0.
func keyed(name string, keys []uid.ID, create func(db *gorm.DB, items []Item) error, asked ...int) way {
	return way{name, asked, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(len(keys))
		for i, key := range keys {
			items[i].ID = key
		}
		err := create(db, items)
		return keysOf(items), err
	}}
}

// maps is structs for maps.
func maps(name string, n int, create func(db *gorm.DB, rows []map[string]any) error, asked ...int) way {
	if asked == nil {
		asked = []int{n}
	}
	return way{name, asked, func(db *gorm.DB) ([]uid.ID, error) {
		rows := rows(n)
		err := create(db.Model(&Item{}), rows)
		return entries(rows...), err
	}}
}

// named returns n items without keys.
func named(n int) []Item {
	items := make([]Item, n)
	for i := range items {
		items[i].Name = fmt.Sprint("item ", i)
	}
	return items
}

// pointers returns what points at items.
func pointers(items []Item) []*Item {
	pointers := make([]*Item, len(items))
	for i := range items {
		pointers[i] = &items[i]
	}
	return pointers
}

func keysOf(items []Item) (ids []uid.ID) {
	for _, item := range items {
		ids = append(ids, item.ID)
	}
	return ids
}

// rows returns n maps without keys.
func rows(n int) []map[string]any {
	maps := make([]map[string]any, n)
	for i := range maps {
		maps[i] = map[string]any{"name": fmt.Sprint("item ", i), "Size": i}
	}
	return maps
}

// entries returns the keys in maps, wherever they are.
func entries(maps ...map[string]any) (ids []uid.ID) {
	for _, m := range maps {
		for _, name := range []string{"id", "ID"} {
			if value, ok := m[name]; ok {
				ids = append(ids, keyIn(value))
			}
		}
	}
	return ids
}

var ways = []way{
	structs("a pointer", 1, func(db *gorm.DB, items []Item) error { return db.Create(&items[0]).Error }),
	structs("a pointer to a pointer", 1, func(db *gorm.DB, items []Item) error { return db.Create(new(&items[0])).Error }),
	structs("a slice", 3, func(db *gorm.DB, items []Item) error { return db.Create(items).Error }),
	structs("a pointer to a slice", 3, func(db *gorm.DB, items []Item) error { return db.Create(&items).Error }),
	structs("a slice of pointers", 3, func(db *gorm.DB, items []Item) error { return db.Create(pointers(items)).Error }),
	structs("an array of pointers", 2, func(db *gorm.DB, items []Item) error { return db.Create([2]*Item(pointers(items))).Error }),
	structs("a pointer to an array", 2, func(db *gorm.DB, items []Item) error { return db.Create((*[2]Item)(items)).Error }),
	structs("in batches", 7, func(db *gorm.DB, items []Item) error { return db.CreateInBatches(items, 3).Error }, 3, 3, 1),
	keyed("some keys set", []uid.ID{0, 7, 0}, func(db *gorm.DB, items []Item) error { return db.Create(&items).Error }, 2),
	keyed("all keys set", []uid.ID{7, 8}, func(db *gorm.DB, items []Item) error { return db.Create(&items).Error }),
	keyed("a set key in a copy", []uid.ID{7}, func(db *gorm.DB, items []Item) error { return db.Create(items[0]).Error }),
	structs("some columns selected", 2, func(db *gorm.DB, items []Item) error { return db.Select("Name").Create(&items).Error }),
	structs("all columns selected", 1, func(db *gorm.DB, items []Item) error { return db.Select("*").Create(&items).Error }),
	structs("a column omitted", 1, func(db *gorm.DB, items []Item) error {
		return db.Omit("Size", clause.Associations).Create(&items).Error
	}),
	structs("another struct of the same fields", 1, func(db *gorm.DB, items []Item) error {
		type twin Item
		return db.Model(&Item{}).Create((*twin)(&items[0])).Error
	}),

	maps("a map", 1, func(db *gorm.DB, rows []map[string]any) error { return db.Create(rows[0]).Error }),
	maps("a pointer to a map", 1, func(db *gorm.DB, rows []map[string]any) error { return db.Create(&rows[0]).Error }),
	maps("maps", 3, func(db *gorm.DB, rows []map[string]any) error { return db.Create(rows).Error }),
	maps("a pointer to maps", 3, func(db *gorm.DB, rows []map[string]any) error { return db.Create(&rows).Error }),
	maps("a map with a zero key", 7, func(db *gorm.DB, rows []map[string]any) error {
		for i, zero := range []any{nil, 0, uid.ID(0), new(uid.ID), (*uid.ID)(nil), sql.NullInt64{Int64: 9}, sql.NullInt64{Valid: true}} {
			rows[i][[]string{"id", "ID"}[i%2]] = zero
		}
		return db.Create(rows).Error
	}),
	maps("maps, some keys set", 3, func(db *gorm.DB, rows []map[string]any) error {
		rows[0]["id"], rows[1]["ID"] = uid.ID(7), new(uid.ID(8))
		return db.Create(rows).Error
	}, 1),
	{"a map with a key in SQL", nil, func(db *gorm.DB) ([]uid.ID, error) {
		return []uid.ID{7}, db.Model(&Item{}).Create(map[string]any{"id": gorm.Expr("3 + 4")}).Error
	}},
	maps("a map, some columns selected", 1, func(db *gorm.DB, rows []map[string]any) error {
		return db.Select("name").Create(rows[0]).Error
	}),

	structs("save", 1, func(db *gorm.DB, items []Item) error { return db.Save(&items[0]).Error }),
	keyed("save a slice", []uid.ID{7, 0, 0}, func(db *gorm.DB, items []Item) error { return db.Save(&items).Error }, 2),
	keyed("save what has a key and no row", []uid.ID{7}, func(db *gorm.DB, items []Item) error { return db.Save(&items[0]).Error }),
	keyed("save what has a row", []uid.ID{7}, func(db *gorm.DB, items []Item) error {
		return errors.Join(db.Create(&items[0]).Error, db.Save(&items[0]).Error)
	}),
	structs("first or create", 1, func(db *gorm.DB, items []Item) error {
		return db.Where(Item{Name: "new"}).Attrs(Item{Size: 2}).FirstOrCreate(&items[0]).Error
	}),
	{"first or create that finds", nil, func(db *gorm.DB) ([]uid.ID, error) {
		if err := db.Create(&Item{ID: 7, Name: "set"}).Error; err != nil || db.DryRun {
			return nil, err
		}
		var item Item
		err := db.Where(Item{Name: "set"}).FirstOrCreate(&item).Error
		return []uid.ID{item.ID}, err
	}},
	structs("generics", 1, func(db *gorm.DB, items []Item) error { return gorm.G[Item](db).Create(context.Background(), &items[0]) }),
	{"generics, by assignment", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		name := clause.Assignment{Column: clause.Column{Name: "name"}, Value: "new"}
		return []uid.ID{first}, gorm.G[Item](db).Set(name).Create(context.Background())
	}},
	structs("an insert clause", 1, func(db *gorm.DB, items []Item) error { return db.Clauses(clause.Insert{}).Create(&items).Error }),
	structs("do nothing that finds nothing", 2, func(db *gorm.DB, items []Item) error { return db.Clauses(none).Create(&items).Error }),
}

// modes are kinds of session that all ways go through.
var modes = map[string]func(db *gorm.DB, do func(db *gorm.DB) error) error{
	"plain":                  session(gorm.Session{}),
	"no hooks":               session(gorm.Session{SkipHooks: true}),
	"prepared":               session(gorm.Session{PrepareStmt: true}),
	"no default transaction": session(gorm.Session{SkipDefaultTransaction: true}),
	"dry run":                session(gorm.Session{DryRun: true}),
	"transaction":            func(db *gorm.DB, do func(*gorm.DB) error) error { return db.Transaction(do) },
	"nested transaction": func(db *gorm.DB, do func(*gorm.DB) error) error {
		return db.Transaction(func(tx *gorm.DB) error { return tx.Transaction(do) })
	},
}

func session(s gorm.Session) func(*gorm.DB, func(*gorm.DB) error) error {
	return func(db *gorm.DB, do func(*gorm.DB) error) error { return do(db.Session(&s)) }
}

// Each way takes the ids that it needs with one call, and all of them become keys. A dry
// run takes keys as a real one does, and inserts nothing.
func TestWays(t *testing.T) {
	need.Time(t)
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		for mode, run := range modes {
			for _, way := range ways {
				t.Run(mode+"/"+way.name, func(t *testing.T) {
					s.empty(t, &Item{})
					var inMemory []uid.ID
					err := run(s.db, func(db *gorm.DB) (err error) {
						inMemory, err = way.do(db)
						return err
					})
					must(t, err)
					wantAsked(t, s.gen, way.asked...)
					for _, id := range s.gen.dealt() {
						if !slices.Contains(inMemory, id) {
							t.Errorf("%d was dealt and is not in memory: %v", id, inMemory)
						}
					}
					slices.Sort(inMemory)
					if mode == "dry run" {
						inMemory = nil
					}
					wantIDs(t, "keys in the table", s.keys(t, &Item{}, "id"), inMemory)
				})
			}
		}
	})
}
