package uidgorm_test

import (
	"slices"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
)

type (
	Company struct {
		ID   int64  `gorm:"autoIncrement:false;uid"`
		Name string `gorm:"size:64"`
	}
	Card struct {
		ID     uid.ID
		UserID uid.ID
		Number string
	}
	Address struct {
		ID     uid.ID
		UserID uid.ID
		Street string
	}
	Language struct {
		ID   int64 `gorm:"autoIncrement:false;uid"`
		Name string
	}
	Club struct {
		ID   uid.ID
		Name string
	}
	// UserClub is a join table with a key of its own.
	UserClub struct {
		ID     uid.ID
		UserID uid.ID `gorm:"uniqueIndex:idx_user_club"`
		ClubID uid.ID `gorm:"uniqueIndex:idx_user_club"`
	}
	User struct {
		ID        int64  `gorm:"autoIncrement:false;uid"` // GORM copies the tag to its join tables
		Name      string `gorm:"size:64"`
		CompanyID *int64
		Company   *Company   // belongs to
		Card      Card       // has one
		Addresses []Address  // has many
		Languages []Language `gorm:"many2many:user_languages"`
		Clubs     []*Club    `gorm:"many2many:user_clubs"`
		ManagerID *int64
		Manager   *User
	}
)

func newUser(name string) User {
	return User{
		Name:      name,
		Company:   &Company{Name: name},
		Card:      Card{Number: name},
		Addresses: []Address{{Street: "a"}, {Street: "b"}},
		Languages: []Language{{Name: "de"}, {Name: "en"}},
		Clubs:     []*Club{{Name: "x"}},
		Manager:   &User{Name: "boss of " + name},
	}
}

var social = []any{&Company{}, &Card{}, &Address{}, &Language{}, &Club{}, &User{}, &UserClub{}}

// wantAllOnce checks that each id that was dealt is the key of one row, of whatever
// table.
func wantAllOnce(t *testing.T, s *store) {
	t.Helper()
	var all []uid.ID
	for _, model := range social {
		all = append(all, s.keys(t, model, "id")...)
	}
	slices.Sort(all)
	wantIDs(t, "keys of all rows", all, s.gen.dealt())
}

func TestAssociations(t *testing.T) {
	each(t, social, func(t *testing.T, s *store) {
		for _, session := range []gorm.Session{{}, {SkipHooks: true}, {FullSaveAssociations: true}, {SkipDefaultTransaction: true}} {
			users := []User{newUser("ann"), newUser("bob")}
			s.gen.asked = nil
			must(t, s.db.Session(&session).Create(&users).Error)
			// users, companies, managers, cards, addresses, languages, clubs, and the
			// rows that join users and clubs
			wantAsked(t, s.gen, 2, 2, 2, 2, 4, 4, 2, 2)
			for _, u := range users {
				if *u.CompanyID != u.Company.ID || *u.ManagerID != u.Manager.ID || u.Card.UserID != uid.ID(u.ID) ||
					u.Addresses[1].UserID != uid.ID(u.ID) {
					t.Errorf("keys do not fit together: %+v", u)
				}
			}
			wantAllOnce(t, s)
		}
		must(t, s.db.Create(new(newUser("cid"))).Error)
		wantAllOnce(t, s)
		if s.Kind != "mysql" { // where each unique column makes a conflict
			wantUnsent(t, s.log, "INSERT.* RETURNING|SELECT 0") // keys that are known
		}
		if n := count(t, s.db.Table(s.Table+"_user_languages")); n != 4*4+2 {
			t.Errorf("%d rows join users and languages, want 18", n)
		}
	})
}

// A selection reaches into what is selected, and an omission too.
func TestSelectedAssociations(t *testing.T) {
	each(t, social, func(t *testing.T, s *store) {
		user := newUser("ann")
		must(t, s.db.Select("Name", "Addresses", "Addresses.Street").Create(&user).Error)
		wantAsked(t, s.gen, 1, 2)
		wantAllOnce(t, s)
		user = newUser("bob")
		wantError(t, s.db.Omit("Addresses.ID").Create(&user).Error, uidgorm.ErrKey, "Omit names uidgorm_test.Address.ID, which must be written")
		if n := count(t, s.db.Model(&User{})); n != 1 {
			t.Errorf("%d users, want 1", n)
		}
	})
}

// What is created while something else is updated.
func TestAssociationMode(t *testing.T) {
	each(t, social, func(t *testing.T, s *store) {
		user := User{Name: "ann"}
		must(t, s.db.Create(&user).Error)

		of := func(name string) *gorm.Association { return s.db.Model(&user).Association(name) }
		for _, step := range []struct {
			name  string
			asked []int
			do    func() error
		}{
			{"append to has many", []int{2}, func() error { return of("Addresses").Append(&[]Address{{Street: "c"}, {Street: "d"}}) }},
			{"append a map to has many", []int{1}, func() error { return of("Addresses").Append(map[string]any{"street": "e"}) }},
			{"append to many to many", []int{1}, func() error { return of("Languages").Append(&Language{Name: "fr"}) }},
			{"append to many to many with a model of the join", []int{1, 1}, func() error { return of("Clubs").Append(&Club{Name: "y"}) }},
			{"replace belongs to", []int{1}, func() error { return of("Company").Replace(&Company{Name: "acme"}) }},
			{"replace has one", []int{1}, func() error { return of("Card").Replace(&Card{Number: "2"}) }},
			{"save an owner with new children", []int{1}, func() error {
				user.Addresses = append(user.Addresses, Address{Street: "f"})
				user.Clubs = nil
				return s.db.Omit("Company", "Card", "Languages", "Manager").Save(&user).Error
			}},
			{"update an owner with new children", []int{1}, func() error {
				return s.db.Updates(&User{ID: user.ID, Name: "ann", Company: &Company{Name: "other"}}).Error
			}},
			{"generics, to every owner", []int{1}, func() error {
				street := clause.Assignment{Column: clause.Column{Name: "street"}, Value: "g"}
				_, err := gorm.G[User](s.db).Where("id = ?", user.ID).
					Set(clause.Association{Association: "Addresses", Type: clause.OpCreate, Set: clause.Set{street}}).Update(t.Context())
				return err
			}},
		} {
			t.Run(step.name, func(t *testing.T) {
				s.gen.asked = nil
				must(t, step.do())
				wantAsked(t, s.gen, step.asked...)
			})
		}
		wantAllOnce(t, s)
		if n := count(t, s.db.Table(s.Table+"_user_languages")); n != 1 {
			t.Errorf("%d rows join users and languages, want 1", n)
		}
	})
}
