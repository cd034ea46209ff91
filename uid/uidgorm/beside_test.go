package uidgorm_test

import (
	"fmt"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
)

// Beside has an id beside its key, which the database counts up. Rows that are older than the column have none.
type Beside struct {
	ID   int64
	Name string `gorm:"size:64;uniqueIndex"`
	Size int
	UID  uid.ID `gorm:"column:uid;uid;<-:create"`
}

// BesidePointer is Beside with an id that can be read as nil.
type BesidePointer struct {
	ID   int64
	Name string  `gorm:"size:64;uniqueIndex"`
	UID  *uid.ID `gorm:"column:uid;uid;<-:create"`
}

// An id beside the key is filled in whatever way rows are created. The key stays the database's.
func TestBesideKey(t *testing.T) {
	each(t, []any{&Beside{}, &BesidePointer{}}, func(t *testing.T, s *store) {
		one, many, ptr := Beside{Name: "a"}, []Beside{{Name: "b"}, {Name: "c", UID: 5}, {Name: "d"}}, BesidePointer{Name: "a"}
		must(t, s.db.Create(&one).Error)
		must(t, s.db.Create(&many).Error)
		must(t, s.db.Create(&ptr).Error)
		must(t, s.db.Model(&Beside{}).Create(map[string]any{"name": "e"}).Error)
		must(t, s.db.Select("name").Create(&Beside{Name: "f"}).Error)
		must(t, s.db.Save(&Beside{Name: "g"}).Error)
		must(t, s.db.FirstOrCreate(&Beside{Name: "h"}, Beside{Name: "h"}).Error)
		wantIDs(t, "memory", []uid.ID{one.UID, many[0].UID, many[1].UID, many[2].UID, *ptr.UID}, []uid.ID{first, first + 1, 5, first + 2, first + 3})
		wantIDs(t, "rows", s.keys(t, &Beside{}, "uid"), []uid.ID{5, first, first + 1, first + 2, first + 4, first + 5, first + 6, first + 7})
		if one.ID == 0 || uid.ID(one.ID) >= first || many[2].ID == 0 {
			t.Errorf("the keys are %d and %d, want the database's", one.ID, many[2].ID)
		}
		if got := definition(t, s, &Beside{}, "uid"); got.Type != "bigint" || got.Extra != "" {
			t.Errorf("the column is %+v", got)
		}
		wantError(t, s.db.Omit("uid").Create(&Beside{Name: "i"}).Error, uidgorm.ErrKey, "Omit names uidgorm_test.Beside.UID")
	})
}

// A row keeps the id that it has, or has not, whatever updates it.
func TestBesideKeyStays(t *testing.T) {
	each(t, []any{&Beside{}, &BesidePointer{}}, func(t *testing.T, s *store) {
		for _, old := range []uid.ID{7, 0} {
			insert := func() *Beside {
				s.empty(t, &Beside{})
				row := map[string]any{"name": "old", "size": 1, "uid": nil}
				if old != 0 {
					row["uid"] = int64(old)
				}
				must(t, s.db.Table(s.schema(t, &Beside{}).Table).Create(row).Error)
				read := new(Beside)
				must(t, s.db.First(read, "name = ?", "old").Error)
				return read
			}
			onName := []clause.Column{{Name: "name"}}
			for name, update := range map[string]func(row *Beside) (memory *Beside, err error){
				"save":         func(row *Beside) (*Beside, error) { row.Size = 2; return row, s.db.Save(row).Error },
				"save, zeroed": func(row *Beside) (*Beside, error) { row.UID, row.Size = 0, 2; return nil, s.db.Save(row).Error },
				"updates": func(row *Beside) (*Beside, error) {
					return row, s.db.Model(row).Updates(map[string]any{"size": 2, "UID": 9}).Error
				},
				"update all": func(*Beside) (*Beside, error) {
					made := &Beside{Name: "old", Size: 2}
					return made, s.db.Clauses(clause.OnConflict{Columns: onName, UpdateAll: true}).Create(made).Error
				},
				"do nothing": func(*Beside) (*Beside, error) {
					made := &Beside{Name: "old", Size: 2}
					return made, s.db.Clauses(clause.OnConflict{Columns: onName, DoNothing: true}).Create(made).Error
				},
				"some of a batch": func(*Beside) (*Beside, error) {
					made := []Beside{{Name: "new"}, {Name: "old", Size: 2}}
					err := s.db.Clauses(clause.OnConflict{Columns: onName, DoUpdates: clause.AssignmentColumns([]string{"size"})}).Create(&made).Error
					if made[0].UID != first {
						err = fmt.Errorf("the new row has %d", made[0].UID)
					}
					return &made[1], err
				},
			} {
				row := insert()
				if row.UID != old {
					t.Fatalf("read %d, want %d", row.UID, old)
				}
				memory, err := update(row)
				must(t, err)
				var stored []uid.ID
				must(t, s.db.Model(&Beside{}).Where("name = ?", "old").Pluck("COALESCE(uid, 0)", &stored).Error)
				wantIDs(t, name+": the row has", stored, []uid.ID{old})
				if memory != nil && name != "updates" && memory.UID != old {
					t.Errorf("%s: memory has %d, want %d", name, memory.UID, old)
				}
			}
		}
	})
}

// MySQL has no RETURNING. The id of a row that was kept is found, and the key is the one that the database chose.
func TestBesideKeyOnMySQL(t *testing.T) {
	s := newStore(t, "mysql", &Beside{})
	db := s.Reopen(t, func(gorm.Dialector) gorm.Dialector { return handles["mysql-"](s.Store, t) }, gorm.Config{NamingStrategy: s.db.NamingStrategy})
	must(t, db.Use(uidgorm.New(s.gen, uidgorm.Config{})))
	old := Beside{Name: "old", UID: 7}
	must(t, db.Create(&old).Error)
	one, batch := Beside{Name: "old", Size: 2}, []Beside{{Name: "new"}, {Name: "old", Size: 3}}
	must(t, db.Clauses(update).Create(&one).Error)
	must(t, db.Clauses(update).Create(&batch).Error)
	wantIDs(t, "memory", []uid.ID{one.UID, batch[1].UID}, []uid.ID{7, 7})
	if one.ID != old.ID {
		t.Errorf("the key is %d, want %d", one.ID, old.ID)
	}
}

// What would change the ids of rows, or leave one of two without, is refused.
func TestBesideKeyRefused(t *testing.T) {
	each(t, nil, func(t *testing.T, s *store) {
		for model, part := range map[any]string{
			&struct {
				ID  int64
				UID uid.ID `gorm:"uid"`
			}{}: ".UID is written by Save and updates too, want <-:create in its tag",
			&struct {
				ID  uid.ID
				UID uid.ID `gorm:"uid;<-:create"`
			}{}: ".ID and ", // ...UID would both be filled
			&struct {
				UID uid.ID `gorm:"uid;<-:create"`
				ID  uid.ID
			}{}: ".ID would both be filled, want one, and the tag uid:false on the other",
			&struct {
				ID     int64
				ItemID uid.ID `gorm:"uid;<-:create"`
				Item   Item
			}{}: ".ItemID has the tag uid and refers to another row",
		} {
			wantError(t, s.db.Session(&gorm.Session{DryRun: true}).Create(model).Error, uidgorm.ErrKey, part)
		}
		allowed := &struct {
			ID  uid.ID `gorm:"uid:false"`
			UID uid.ID `gorm:"uid;<-:create"`
		}{ID: 3}
		must(t, s.db.Session(&gorm.Session{DryRun: true}).Create(allowed).Error)
		if allowed.ID != 3 || allowed.UID != first {
			t.Errorf("%+v", allowed)
		}
	})
}
