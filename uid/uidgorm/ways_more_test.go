package uidgorm_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/uid"
)

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
			if id, ok := m[name].(uid.ID); ok {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

var maps = []way{
	{"a map", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		m := rows(1)[0]
		err := db.Model(&Item{}).Create(m).Error
		return entries(m), err
	}},
	{"a pointer to a map", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		m := rows(1)[0]
		err := db.Model(Item{}).Create(&m).Error
		return entries(m), err
	}},
	{"a pointer to a nil map", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		var m map[string]any
		err := db.Model(&Item{}).Create(&m).Error
		return entries(m), err
	}},
	{"maps", []int{3}, func(db *gorm.DB) ([]uid.ID, error) {
		m := rows(3)
		err := db.Model(&Item{}).Create(m).Error
		return entries(m...), err
	}},
	{"a pointer to maps", []int{3}, func(db *gorm.DB) ([]uid.ID, error) {
		m := rows(3)
		err := db.Model(&Item{}).Create(&m).Error
		return entries(m...), err
	}},
	{"maps, one of them nil", []int{2}, func(db *gorm.DB) ([]uid.ID, error) {
		m := rows(2)
		m[1] = nil
		err := db.Model(&Item{}).Create(m).Error
		return entries(m...), err
	}},
	{"a pointer to maps, one of them nil", []int{2}, func(db *gorm.DB) ([]uid.ID, error) {
		m := rows(2)
		m[1] = nil
		err := db.Model(&Item{}).Create(&m).Error
		return entries(m...), err
	}},
	{"maps in batches", []int{2, 1}, func(db *gorm.DB) ([]uid.ID, error) {
		m := rows(3)
		err := db.Model(&Item{}).CreateInBatches(m, 2).Error
		return entries(m...), err
	}},
	{"a map with a zero key", []int{7}, func(db *gorm.DB) ([]uid.ID, error) {
		m := rows(7)
		m[0]["id"], m[1]["ID"], m[2]["id"], m[3]["ID"], m[4]["id"] = nil, 0, uid.ID(0), new(uid.ID), (*uid.ID)(nil)
		m[5]["id"], m[6]["id"] = sql.NullInt64{Int64: 9}, sql.NullInt64{Valid: true}
		err := db.Model(&Item{}).Create(m).Error
		return entries(m...), err
	}},
	{"maps, some keys set", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		m := rows(3)
		m[0]["id"], m[1]["ID"] = uid.ID(7), ptr(uid.ID(8))
		err := db.Model(&Item{}).Create(m).Error
		return append(entries(m...), 8), err
	}},
	{"a map with a key in SQL", nil, func(db *gorm.DB) ([]uid.ID, error) {
		m := rows(1)[0]
		m["id"] = gorm.Expr("3 + 4")
		err := db.Model(&Item{}).Create(m).Error
		return []uid.ID{7}, err
	}},
	{"a map, some columns selected", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		m := rows(1)[0]
		err := db.Model(&Item{}).Select("name").Create(m).Error
		return entries(m), err
	}},
}

var others = []way{
	{"save", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(1)
		err := db.Save(&items[0]).Error
		return keysOf(items), err
	}},
	{"save a slice", []int{2}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(3)
		items[0].ID = 7
		err := db.Save(&items).Error
		return keysOf(items), err
	}},
	{"save what has a key and no row", nil, func(db *gorm.DB) ([]uid.ID, error) {
		item := Item{ID: 7, Name: "set"}
		err := db.Save(&item).Error
		return []uid.ID{item.ID}, err
	}},
	{"first or create", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		var item Item
		err := db.Where(Item{Name: "new"}).Attrs(Item{Size: 2}).FirstOrCreate(&item).Error
		return []uid.ID{item.ID}, err
	}},
	{"save what has a row", nil, func(db *gorm.DB) ([]uid.ID, error) {
		item := Item{ID: 7, Name: "set"}
		err := errors.Join(db.Create(&item).Error, db.Save(&item).Error)
		return []uid.ID{item.ID}, err
	}},
	{"first or create that finds", nil, func(db *gorm.DB) ([]uid.ID, error) {
		if err := db.Create(&Item{ID: 7, Name: "set"}).Error; err != nil || db.DryRun {
			return nil, err
		}
		var item Item
		err := db.Where(Item{Name: "set"}).FirstOrCreate(&item).Error
		return []uid.ID{item.ID}, err
	}},
	{"another struct of the same fields", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		type twin Item
		item := twin{Name: "new"}
		err := db.Model(&Item{}).Create(&item).Error
		return []uid.ID{item.ID}, err
	}},
	{"generics", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(1)
		err := gorm.G[Item](db).Create(context.Background(), &items[0])
		return keysOf(items), err
	}},
	{"generics, with a result", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(1)
		result := gorm.WithResult()
		err := gorm.G[Item](db, result).Select("Name").Create(context.Background(), &items[0])
		return keysOf(items), err
	}},
	{"generics in batches", []int{2, 1}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(3)
		err := gorm.G[Item](db).CreateInBatches(context.Background(), &items, 2)
		return keysOf(items), err
	}},
	{"generics, by assignment", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		err := gorm.G[Item](db).Set(clause.Assignment{Column: clause.Column{Name: "name"}, Value: "new"}).
			Create(context.Background())
		return []uid.ID{first}, err
	}},
	{"an insert clause", []int{1}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(1)
		err := db.Clauses(clause.Insert{}).Create(&items).Error
		return keysOf(items), err
	}},
	{"an upsert that finds nothing", []int{2}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(2)
		err := db.Clauses(clause.OnConflict{UpdateAll: true}).Create(&items).Error
		return keysOf(items), err
	}},
	{"do nothing that finds nothing", []int{2}, func(db *gorm.DB) ([]uid.ID, error) {
		items := named(2)
		err := db.Clauses(clause.OnConflict{DoNothing: true}).Create(&items).Error
		return keysOf(items), err
	}},
}
