package uidgorm_test

import (
	"fmt"
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

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

var ways = slices.Concat(structs, maps, others)

var structs = []way{
	{"a pointer", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(1)
		err := db.Create(&items[0]).Error
		return keysOf(items), err
	}},
	{"a pointer to a pointer", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(1)
		p := &items[0]
		err := db.Create(&p).Error
		return keysOf(items), err
	}},
	{"a slice", []int{3}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(3)
		err := db.Create(items).Error
		return keysOf(items), err
	}},
	{"a pointer to a slice", []int{3}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(3)
		err := db.Create(&items).Error
		return keysOf(items), err
	}},
	{"a slice of pointers", []int{3}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(3)
		err := db.Create(pointers(items)).Error
		return keysOf(items), err
	}},
	{"a pointer to a slice of pointers", []int{3}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(3)
		p := pointers(items)
		err := db.Create(&p).Error
		return keysOf(items), err
	}},
	{"an array of pointers", []int{2}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(2)
		err := db.Create([2]*Item(pointers(items))).Error
		return keysOf(items), err
	}},
	{"a pointer to an array", []int{2}, func(db *gorm.DB) ([]uid.ID, error) {
		items := [2]Item(named(2))
		err := db.Create(&items).Error
		return keysOf(items[:]), err
	}},
	{"a pointer to an array of pointers", []int{2}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(2)
		p := [2]*Item(pointers(items))
		err := db.Create(&p).Error
		return keysOf(items), err
	}},
	{"in batches", []int{3, 3, 1}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(7)
		err := db.CreateInBatches(items, 3).Error
		return keysOf(items), err
	}},
	{"in batches of pointers", []int{2, 1}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(3)
		p := pointers(items)
		err := db.CreateInBatches(&p, 2).Error
		return keysOf(items), err
	}},
	{"a batch size of the session", []int{2, 2}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(4)
		err := db.Session(&gorm.Session{CreateBatchSize: 2}).Create(&items).Error
		return keysOf(items), err
	}},
	{"some keys set", []int{2}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(3)
		items[1].ID = 7
		err := db.Create(&items).Error
		return keysOf(items), err
	}},
	{"all keys set", nil, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(2)
		items[0].ID, items[1].ID = 7, 8
		err := db.Create(&items).Error
		return keysOf(items), err
	}},
	{"a set key in a copy", nil, func(db *gorm.DB) ([]uid.ID, error) {
		err := db.Create(Item{ID: 7, Name: "set"}).Error
		return []uid.ID{7}, err
	}},
	{"some columns selected", []int{2}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(2)
		err := db.Select("Name").Create(&items).Error
		return keysOf(items), err
	}},
	{"all columns selected", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(1)
		err := db.Select("*").Create(&items).Error
		return keysOf(items), err
	}},
	{"a column omitted", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(1)
		err := db.Omit("Size", clause.Associations).Create(&items).Error
		return keysOf(items), err
	}},
}

// mode is a kind of session that all ways go through.
type mode struct {
	name string
	run  func(db *gorm.DB, do func(db *gorm.DB) error) error
}

func session(s gorm.Session) func(*gorm.DB, func(*gorm.DB) error) error {
	return func(db *gorm.DB, do func(*gorm.DB) error) error { return do(db.Session(&s)) }
}

var modes = []mode{
	{"plain", session(gorm.Session{})},
	{"no hooks", session(gorm.Session{SkipHooks: true})},
	{"prepared", session(gorm.Session{PrepareStmt: true})},
	{"no default transaction", session(gorm.Session{SkipDefaultTransaction: true})},
	{"transaction", func(db *gorm.DB, do func(*gorm.DB) error) error {
		return db.Transaction(do)
	}},
	{"nested transaction", func(db *gorm.DB, do func(*gorm.DB) error) error {
		return db.Transaction(func(tx *gorm.DB) error { return tx.Transaction(do) })
	}},
}

func TestWays(t *testing.T) {
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		for _, mode := range modes {
			for _, way := range ways {
				t.Run(mode.name+"/"+way.name, func(t *testing.T) {
					s.empty(t, &Item{})
					var inMemory []uid.ID
					err := mode.run(s.db, func(db *gorm.DB) (err error) {
						inMemory, err = way.do(db)
						return err
					})
					must(t, err)
					wantAsked(t, s.gen, way.asked...)
					slices.Sort(inMemory)
					wantIDs(t, "keys in memory and in the table", inMemory, s.keys(t, &Item{}, "id"))
					for _, id := range s.gen.dealt() {
						if !slices.Contains(inMemory, id) {
							t.Errorf("%d was dealt and is in no row", id)
						}
					}
				})
			}
		}
	})
}

// A dry run takes keys as a real one does, and inserts nothing.
func TestDryRun(t *testing.T) {
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		for _, way := range ways {
			t.Run(way.name, func(t *testing.T) {
				s.empty(t, &Item{})
				inMemory, err := way.do(s.db.Session(&gorm.Session{DryRun: true}))
				must(t, err)
				wantAsked(t, s.gen, way.asked...)
				for _, id := range s.gen.dealt() {
					if !slices.Contains(inMemory, id) {
						t.Errorf("%d was dealt and is not in memory: %v", id, inMemory)
					}
				}
				wantIDs(t, "the table", s.keys(t, &Item{}, "id"), []uid.ID{})
			})
		}
	})
}
