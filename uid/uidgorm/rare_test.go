package uidgorm_test

import (
	"errors"
	"fmt"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
)

// Page has an index that holds for some rows only.
type Page struct {
	ID   uid.ID
	Slug string `gorm:"size:64;uniqueIndex:,where:live = 1"`
	Name string `gorm:"size:64;unique"`
	Live int
}

// On SQLite, where the plugin wraps the dialector, a nested transaction is rolled back alone, and errors are translated.
func TestNested(t *testing.T) {
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		undone := errors.New("undone")
		must(t, s.db.Transaction(func(tx *gorm.DB) error {
			must(t, tx.Create(&Item{Name: "a"}).Error)
			err := tx.Transaction(func(tx *gorm.DB) error { return errors.Join(tx.Create(&Item{Name: "b"}).Error, undone) })
			wantError(t, err, undone)
			return tx.Create(&Item{Name: "c"}).Error
		}))
		wantIDs(t, "the table", s.keys(t, &Item{}, "id"), []uid.ID{first, first + 2})
		plain := s.Reopen(t, nil, gorm.Config{TranslateError: true, NamingStrategy: s.db.NamingStrategy})
		twice := plain.Create(&Item{ID: 7, Name: "a"}).Error
		s.db.TranslateError = true
		if err := s.db.Create(&Item{Name: "a"}).Error; err == nil || errors.Is(err, gorm.ErrDuplicatedKey) != errors.Is(twice, gorm.ErrDuplicatedKey) {
			t.Errorf("%v; without the plugin %v", err, twice) // which SQLite's driver without cgo does not translate
		}
	})
	s := dbtest.New(t, "sqlite")
	bare := s.Reopen(t, func(d gorm.Dialector) gorm.Dialector { return dbtest.Dialector{Dialector: d} }, gorm.Config{})
	must(t, bare.Use(uidgorm.New(&counter{next: first}, uidgorm.Config{})))
	must(t, bare.Transaction(func(tx *gorm.DB) error {
		wantError(t, tx.SavePoint("a").Error, gorm.ErrUnsupportedDriver)
		tx.Error = nil
		wantError(t, tx.RollbackTo("a").Error, gorm.ErrUnsupportedDriver)
		tx.Error = nil
		return nil
	}))
}

// An upsert by the name of a constraint finds a row under another key.
func TestNamedConstraint(t *testing.T) {
	s := newStore(t, "postgres", &Page{})
	must(t, s.db.Create(&Page{ID: 7, Name: "old"}).Error)
	constraint := `"uni_` + s.schema(t, &Page{}).Table + `_name"` // GORM does not quote it
	page := Page{Name: "old", Slug: "new"}
	must(t, s.db.Clauses(clause.OnConflict{OnConstraint: constraint, DoUpdates: clause.AssignmentColumns([]string{"slug"})}).Create(&page).Error)
	wantIDs(t, "the key in memory", []uid.ID{page.ID}, []uid.ID{7})
}

// Seat has a key of two columns, one of which is unique alone.
type Seat struct {
	Number int64  `gorm:"primaryKey;autoIncrement:false;unique"`
	ID     uid.ID `gorm:"primaryKey"`
	Name   string
}

// An upsert by one column of the key finds a row with another id.
func TestPartOfTheKey(t *testing.T) {
	for _, kind := range []string{"sqlite", "postgres"} { // MySQL looks at all unique columns
		s := newStore(t, kind, &Seat{})
		must(t, s.db.Create(&Seat{Number: 1, ID: 7}).Error)
		seat := Seat{Number: 1, Name: "new"}
		number := []clause.Column{{Name: "number"}}
		must(t, s.db.Clauses(clause.OnConflict{Columns: number, DoUpdates: clause.AssignmentColumns([]string{"name"})}).Create(&seat).Error)
		wantIDs(t, kind+": the key in memory", []uid.ID{seat.ID}, []uid.ID{7})
	}
}

// A row outside a partial index is not mistaken for the row that was kept.
func TestPartialIndex(t *testing.T) {
	for _, kind := range []string{"sqlite", "postgres"} { // MySQL has none
		s := newStore(t, kind, &Page{})
		must(t, s.db.Create([]*Page{{ID: 7, Slug: "same", Name: "a"}, {ID: 8, Slug: "other", Name: "b"}}).Error)
		page := Page{Slug: "same", Name: "b"}
		must(t, s.db.Clauses(none).Create(&page).Error)
		wantIDs(t, kind+": the key in memory", []uid.ID{page.ID}, []uid.ID{8})
	}
}

// An upsert finds the key of a row that was committed after the transaction's snapshot was taken.
func TestOlderSnapshot(t *testing.T) {
	s := newStore(t, "mysql", &Item{})
	pool, err := s.DB.DB()
	must(t, err)
	pool.SetMaxOpenConns(1)
	_ = s.DB.Exec("SET SESSION innodb_snapshot_isolation = OFF").Error // of MariaDB, which would refuse the upsert
	db := s.Reopen(t, func(gorm.Dialector) gorm.Dialector { return handles["mysql-"](s.Store, t) }, gorm.Config{NamingStrategy: s.db.NamingStrategy})
	must(t, db.Use(uidgorm.New(&counter{next: first}, uidgorm.Config{})))
	must(t, db.Transaction(func(tx *gorm.DB) error {
		if n := count(t, tx.Model(&Item{})); n != 0 {
			t.Errorf("%d rows are there", n)
		}
		other := s.Open(t, s.URL)
		must(t, other.Table(s.schema(t, &Item{}).Table).Create(map[string]any{"id": 7, "name": "old"}).Error)
		items := []Item{{Name: "old"}, {Name: "new"}}
		must(t, tx.Clauses(none).Create(&items).Error)
		wantIDs(t, "keys in memory", keysOf(items), []uid.ID{7, first + 1})
		return nil
	}))
}

// More rows are looked up than a database takes in one statement.
func TestManyRowsKept(t *testing.T) {
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		var old, items []Item
		var want []uid.ID
		for i := range 600 {
			old = append(old, Item{ID: uid.ID(i + 1), Name: fmt.Sprint(i)})
			items, want = append(items, Item{Name: fmt.Sprint(i)}), append(want, uid.ID(i+1))
		}
		must(t, s.db.Create(&old).Error)
		must(t, s.db.Clauses(none).Create(&items).Error)
		wantIDs(t, "keys in memory", keysOf(items), want)
	})
}

// Of relatives whose keys the app has set, one is there under another key. With RETURNING, the link refers to that.
func TestRelativesWithKeys(t *testing.T) {
	k := newKin(t, "mysql", true)
	if !k.MariaDB(t) {
		return // without RETURNING, a key that was set stays
	}
	tag := Tag{Name: "tag", Lang: "en"}
	must(t, k.db.Create(&tag).Error)
	person := Person{Name: "p", Tags: []Tag{{ID: 5, Name: "tag", Lang: "en"}, {ID: 6, Name: "new", Lang: "en"}}}
	must(t, k.db.Create(&person).Error)
	wantIDs(t, "keys of the tags", []uid.ID{person.Tags[0].ID, person.Tags[1].ID}, []uid.ID{tag.ID, 6})
	if got := k.check(t, "SELECT tag_id, tags.id FROM person_tags LEFT JOIN tags ON tag_id = tags.id"); got != "right" {
		t.Errorf("the links are %s", got)
	}
}

// An empty slice has no relatives, so nobody needs the key of the row, and the row may lack one.
func TestEmptyRelatives(t *testing.T) {
	for _, handle := range []string{"sqlite", "postgres"} { // where no RETURNING tells the key
		k := newKin(t, handle, true)
		people := clause.Table{Name: k.Table + "_people"}
		must(t, k.db.Exec("CREATE UNIQUE INDEX ? ON ? (rank)", clause.Table{Name: k.Table + "_rank"}, people).Error)
		must(t, k.db.Create(&Person{Name: "old", Rank: 5}).Error)
		person := Person{Name: "new", Rank: 5, Pets: []*Pet{}, Toys: []Toy{}, Tags: []Tag{}}
		must(t, k.db.Clauses(none).Create(&person).Error)
		wantIDs(t, "the key in memory", []uid.ID{person.ID}, []uid.ID{0})
		person = Person{Name: "new", Rank: 5, Pets: []*Pet{{Name: "p"}}}
		wantError(t, k.db.Clauses(none).Create(&person).Error, uidgorm.ErrConflict)
	}
}

// Shop has stalls that refer to its name, and not to its key.
type Shop struct {
	ID     uid.ID
	Name   string  `gorm:"size:64;unique"`
	Code   string  `gorm:"size:64;unique"`
	Stalls []Stall `gorm:"foreignKey:ShopName;references:Name;constraint:-"`
}

type Stall struct {
	ID       uid.ID
	ShopName string `gorm:"size:64"`
}

// A row that conflicts with two others has the key of neither. That is an error only if relatives refer to the key.
func TestTwoRowsKept(t *testing.T) {
	for _, kind := range []string{"sqlite", "postgres"} { // where no RETURNING tells the key
		s := newStore(t, kind, &Stall{}, &Shop{})
		must(t, s.db.Create([]*Shop{{ID: 7, Name: "a", Code: "a"}, {ID: 8, Name: "b", Code: "b"}}).Error)
		shop := Shop{Name: "a", Code: "b", Stalls: []Stall{{}}}
		must(t, s.db.Clauses(none).Create(&shop).Error)
		wantIDs(t, kind+": the key in memory", []uid.ID{shop.ID}, []uid.ID{0})
		if shop.Stalls[0].ShopName != "a" {
			t.Errorf("%s: the stall is %+v", kind, shop.Stalls[0])
		}
	}
}

// With FullSaveAssociations, one new relative of several parents is inserted once, and all parents have its key.
func TestSharedRelative(t *testing.T) {
	for handle := range handles {
		k := newKin(t, handle, true)
		db := k.db.Session(&gorm.Session{FullSaveAssociations: true})
		town, toys := &Town{Name: "town"}, []Toy{{Name: "toy"}}
		pet := &Pet{Name: "pet", Toys: toys}
		people := []Person{{Name: "a", Town: town, Pets: []*Pet{pet}}, {Name: "b", Town: town, Pets: []*Pet{pet}}, {Name: "c", Town: &Town{Name: "other"}}}
		must(t, db.Create(&people).Error)
		wantIDs(t, handle+": keys of towns", []uid.ID{people[0].TownID, people[1].TownID}, []uid.ID{town.ID, town.ID})
		wantIDs(t, handle+": the pet's owner", []uid.ID{pet.OwnerID}, []uid.ID{people[1].ID})
		for model, want := range map[any]int64{&Town{}: 2, &Pet{}: 1, &Toy{}: 1, &Person{}: 3} {
			if n := count(t, k.db.Model(model)); n != want {
				t.Errorf("%s: %d rows of %T, want %d", handle, n, model, want)
			}
		}
		for _, links := range []string{
			"SELECT p.town_id, r.id FROM people p, towns r WHERE p.name = 'b' AND r.name = 'town'",
			"SELECT r.owner_id, p.id FROM people p, pets r WHERE p.name = 'b'",
			"SELECT r.owner_id, p.id FROM pets p, toys r",
		} {
			if got := k.check(t, links); got != "right" {
				t.Errorf("%s: %s: %s", handle, links, got)
			}
		}
	}
}

// A row that the app passes twice is sent twice, as without the plugin: only relatives may be shared.
func TestSameRowTwice(t *testing.T) {
	s := newStore(t, "sqlite", &Club{})
	club := &Club{Name: "a"}
	wantError(t, s.db.Create([]*Club{club, club}).Error, nil) // else one key was accepted twice, or one row was sent
}

// Checked has a key that the database refuses to be 0.
type Checked struct {
	ID   uid.ID `gorm:"check:id <> 0"`
	Name string
}

// A handle without the plugin stores a struct's zero as its key, unless the tag check forbids that.
func TestHandleWithoutPlugin(t *testing.T) {
	each(t, []any{&Item{}, &Checked{}}, func(t *testing.T, s *store) {
		bare := s.Reopen(t, nil, gorm.Config{NamingStrategy: s.db.NamingStrategy})
		must(t, bare.Create(&Item{Name: "a"}).Error)
		if err := bare.Create(&Checked{Name: "a"}).Error; err == nil {
			t.Error("a key of 0 was stored in spite of the check")
		}
		checked := Checked{Name: "a"}
		must(t, s.db.Create(&checked).Error)
		wantIDs(t, "keys of items", s.keys(t, &Item{}, "id"), []uid.ID{0})
		wantIDs(t, "keys with a check", s.keys(t, &Checked{}, "id"), []uid.ID{checked.ID})
	})
}
