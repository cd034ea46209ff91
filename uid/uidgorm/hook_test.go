package uidgorm_test

import (
	"errors"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/uid"
)

// Hooked does in BeforeCreate what its name says.
type Hooked struct {
	ID   uid.ID
	Name string `gorm:"size:64;uniqueIndex"`
	Seen uid.ID // what the hook found
}

var errHook = errors.New("hook")

func (h *Hooked) BeforeCreate(tx *gorm.DB) error {
	h.Seen = h.ID
	switch h.Name {
	case "clear":
		h.ID = 0
	case "replace":
		*h = Hooked{Name: h.Name, Seen: h.Seen}
	case "choose":
		h.ID = 7
	case "ignore":
		tx.Statement.AddClause(clause.OnConflict{DoNothing: true})
	case "fail":
		return errHook
	}
	return nil
}

// Hooks find the key, and may take it away or choose another.
func TestHooks(t *testing.T) {
	each(t, []any{&Hooked{}}, func(t *testing.T, s *store) {
		rows := []Hooked{{Name: "look"}, {Name: "clear"}, {Name: "replace"}, {Name: "choose"}}
		must(t, s.db.Create(&rows).Error)
		wantAsked(t, s.gen, 4, 2)
		for i, id := range []uid.ID{first, first + 4, first + 5, 7} {
			row := rows[i]
			wantIDs(t, row.Name+": the key that the hook found, and the last", []uid.ID{row.Seen, row.ID}, []uid.ID{first + uid.ID(i), id})
		}
		wantIDs(t, "the table", s.keys(t, &Hooked{}, "id"), []uid.ID{7, first, first + 4, first + 5})
		wantError(t, s.db.Create(&Hooked{Name: "fail"}).Error, errHook)
	})
}

// A hook may make the statement an upsert, when some keys are dealt already.
func TestHookThatUpserts(t *testing.T) {
	each(t, []any{&Hooked{}}, func(t *testing.T, s *store) {
		must(t, s.db.Create(&Hooked{ID: 7, Name: "ignore"}).Error)
		row := Hooked{Name: "ignore"}
		must(t, s.db.Create(&row).Error)
		wantIDs(t, "the key in memory", []uid.ID{row.ID}, []uid.ID{7})

		must(t, s.db.Create(&Hooked{ID: 8, Name: "clear"}).Error)
		rows := []Hooked{{Name: "ignore"}, {Name: "clear"}} // dealt a key in two goes
		must(t, s.db.Create(&rows).Error)
		wantIDs(t, "the keys in memory", []uid.ID{rows[0].ID, rows[1].ID}, []uid.ID{7, first + 1})
	})
}

// A callback that others have registered finds the key, wherever it stands.
func TestOtherCallbacks(t *testing.T) {
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		var seen []uid.ID
		look := func(db *gorm.DB) { seen = append(seen, db.Statement.Dest.(*Item).ID) }
		create := s.db.Callback().Create()
		must(t, create.Before("gorm:before_create").Register("test:1", look))
		must(t, create.Before("gorm:create").Register("test:2", look))
		must(t, create.After("gorm:create").Register("test:3", look))
		must(t, create.Register("test:4", look))
		must(t, create.Before("gorm:begin_transaction").Register("test:5", look))
		must(t, s.db.Create(&Item{}).Error)
		wantIDs(t, "what callbacks saw", seen, []uid.ID{first, first, first, first, first})
		wantAsked(t, s.gen, 1)
	})
}

// A statement that is used again gets new ids and remembers nothing. A selection that is shared
// is not written to.
func TestReusedStatement(t *testing.T) {
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		columns := append(make([]string, 0, 2), "Name")
		tx := s.db.Select(columns)
		a, b := Item{Name: "a", Size: 3}, Item{Name: "b", Size: 3}
		must(t, tx.Create(&a).Error)
		must(t, tx.Create(&b).Error)
		wantError(t, tx.Create(&Item{Name: "a"}).Error, nil) // a second row of one name
		wantAsked(t, s.gen, 1, 1, 1)
		wantIDs(t, "keys in memory", []uid.ID{a.ID, b.ID}, []uid.ID{first, first + 1})
		tx.Statement.Settings.Range(func(key, value any) bool {
			if _, gorms := key.(string); !gorms {
				t.Errorf("a setting is left: %v: %v", key, value)
			}
			return true
		})
		if got := columns[:2][1]; got != "" {
			t.Errorf("%q was written behind the selection", got)
		}
		if n := count(t, s.db.Model(&Item{}).Where("size IS NULL")); n != 2 {
			t.Error("a column that was not selected is written")
		}
	})
}
