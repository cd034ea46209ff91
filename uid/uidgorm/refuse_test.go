package uidgorm_test

import (
	"errors"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
)

type (
	Counted struct {
		ID int64 `gorm:"primaryKey;uid"`
	}
	CountedID struct {
		ID uid.ID `gorm:"primaryKey;autoIncrement"`
	}
	Defaulted struct {
		ID uid.ID `gorm:"primaryKey;default:7"`
	}
	Text struct {
		ID string `gorm:"primaryKey;uid"`
	}
	Narrow struct {
		ID int32 `gorm:"primaryKey;autoIncrement:false;uid"`
	}
	NarrowColumn struct {
		ID int64 `gorm:"primaryKey;autoIncrement:false;size:32;uid"`
	}
	NotPrimary struct {
		ID    int64
		Other int64 `gorm:"uid"`
	}
	Two struct {
		A int64 `gorm:"primaryKey;uid"`
		B int64 `gorm:"primaryKey;uid"`
	}
	More struct {
		ID struct {
			uid.ID
			Shard int64
		} `gorm:"primaryKey;uid"`
	}
	Unknown struct {
		ID uid.ID `gorm:"uid:maybe"`
	}
	ReadOnly struct {
		ID uid.ID `gorm:"->"`
	}
)

// A model whose key cannot be filled is refused by whatever creates it.
func TestModelsRefused(t *testing.T) {
	each(t, nil, func(t *testing.T, s *store) {
		for _, test := range []struct {
			model any
			parts []string
		}{
			{&Counted{}, []string{"uidgorm_test.Counted.ID gets its value from the database, want autoIncrement:false"}},
			{&CountedID{}, []string{"uidgorm_test.CountedID.ID gets its value from the database, want autoIncrement:false"}},
			{&Defaulted{}, []string{"Defaulted.ID gets its value from the database", "no default"}},
			{&Text{}, []string{"Text.ID is of kind string, want a 64-bit integer"}},
			{&Narrow{}, []string{"Narrow.ID is of kind int32, want a 64-bit integer"}},
			{&NarrowColumn{}, []string{"NarrowColumn.ID has 32 bits, want 64"}},
			{&More{}, []string{"More.ID is of kind struct, want a 64-bit integer"}},
			{&NotPrimary{}, []string{"NotPrimary.Other has the tag uid, want it on a primary key"}},
			{&Two{}, []string{"Two.A and", "Two.B both have the tag uid, want one"}},
			{&Unknown{}, []string{"Unknown.ID has the tag uid:maybe, want uid or uid:false"}},
			{&ReadOnly{}, []string{"ReadOnly.ID is never written"}},
			{&struct {
				ID string `gorm:"uid"`
			}{}, []string{".ID is of kind string, want"}},
		} {
			for range 2 { // the second time from what is remembered
				err := s.db.Session(&gorm.Session{DryRun: true}).Create(test.model).Error
				wantAll(t, err, append(test.parts, "uidgorm: bad key")...)
				if !errors.Is(err, uidgorm.ErrModel) {
					t.Errorf("%v does not match ErrModel", err)
				}
			}
			err := s.db.Model(test.model).Create(map[string]any{"name": "x"}).Error
			if !errors.Is(err, uidgorm.ErrModel) {
				t.Errorf("a map: %v does not match ErrModel", err)
			}
		}
		wantAsked(t, s.gen)
		if sent := s.log.beginning("INSERT"); len(sent) > 0 {
			t.Errorf("sent %q", sent)
		}
	})
}

// What cannot take a key is refused, and nothing is inserted.
func TestValuesRefused(t *testing.T) {
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		model := s.db.Model(&Item{}).Session(&gorm.Session{})
		items := named(1)
		for _, test := range []struct {
			name  string
			err   error
			parts []string
		}{
			{"a copy", s.db.Create(items[0]).Error, []string{"uidgorm_test.Item.ID: the struct is a copy, want a pointer"}},
			{"an array", s.db.Create([1]Item(items)).Error, []string{"Item.ID: the struct is a copy, want a pointer", "(row 0)"}},
			{"another struct", model.Create(&Plain{}).Error, []string{"Item.ID: the value is a uidgorm_test.Plain, want a uidgorm_test.Item"}},
			{"other structs", model.Create([]Plain{{}, {}}).Error, []string{"the value is a uidgorm_test.Plain", "(row 0)"}},
			{"interfaces", model.Create([]any{&Item{}}).Error, []string{"the value is a interface {}"}},
			{"pointers to maps", model.Create([]*map[string]any{{}}).Error, []string{"the value is a map[string]interface {}"}},
			{"a map of another type", model.Create(namedMap{}).Error, []string{"the value is a uidgorm_test.namedMap"}},
			{"a nil map", model.Create(map[string]any(nil)).Error, []string{"Item.ID: the map is nil, want a map that can be written"}},
			{"a pointer to a nil map", model.Create(new(map[string]any)).Error, []string{"Item.ID: the map is nil"}},
			{"maps, one of them nil", model.Create([]map[string]any{{"name": "x"}, nil}).Error, []string{"Item.ID: the map is nil"}},
			{"a key given twice", model.Create(map[string]any{"id": 0, "ID": 7}).Error, []string{`Item.ID is in map 0 as "`, "want one"}},
			{"a key omitted", s.db.Omit("ID").Create(&items).Error, []string{"Omit names uidgorm_test.Item.ID, want it written"}},
			{"a set key omitted", s.db.Omit("id").Create(&Item{ID: 7}).Error, []string{"Omit names uidgorm_test.Item.ID"}},
			{"a map's key omitted", model.Omit("ID").Create(map[string]any{"name": "x"}).Error, []string{"Omit names uidgorm_test.Item.ID"}},
		} {
			wantAll(t, test.err, append(test.parts, "uidgorm: key cannot be filled")...)
			if !errors.Is(test.err, uidgorm.ErrValue) {
				t.Errorf("%s: %v does not match ErrValue", test.name, test.err)
			}
		}
		if sent := s.log.beginning("INSERT"); len(sent) > 0 {
			t.Errorf("sent %q", sent)
		}
		// What GORM refuses itself.
		for _, err := range []error{
			s.db.Create([]Item{}).Error,
			s.db.Create(&[]*Item{}).Error,
			s.db.Create((*Item)(nil)).Error,
			s.db.Create([]*Item{nil}).Error,
			model.Create([]map[string]any{}).Error,
			model.Create((*map[string]any)(nil)).Error,
		} {
			if err == nil || errors.Is(err, uidgorm.ErrValue) {
				t.Errorf("error %v, want one of GORM's", err)
			}
		}
		wantAsked(t, s.gen)
		wantIDs(t, "the table", s.keys(t, &Item{}, "id"), []uid.ID{})
	})
}

type namedMap map[string]any

// While the generator gives nothing, nothing is inserted and nothing changed.
func TestGeneratorFails(t *testing.T) {
	boom := errors.New("boom")
	fails := []struct {
		name  string
		fill  func(ids []uid.ID) (int, error)
		is    error
		parts []string
	}{
		{"ring empty", func([]uid.ID) (int, error) { return 0, uid.ErrNotReady }, uid.ErrNotReady,
			[]string{"no id for uidgorm_test.Item.ID: got 0 of 3: uid: no id is ready"}},
		{"partial", func(ids []uid.ID) (int, error) { return copy(ids, []uid.ID{first, first + 1}), boom }, boom,
			[]string{"got 2 of 3: boom"}},
		{"partial, without an error", func(ids []uid.ID) (int, error) { return copy(ids, []uid.ID{first}), nil },
			uidgorm.ErrGenerator, []string{"got 1 of 3: and no error"}},
		{"zero", func(ids []uid.ID) (int, error) { return len(ids), nil }, uidgorm.ErrGenerator, []string{"got 0, want it above 0"}},
		{"negative", func(ids []uid.ID) (int, error) {
			for i := range ids {
				ids[i] = uid.ID(-i)
			}
			return len(ids), nil
		}, uidgorm.ErrGenerator, []string{"want it above 0"}},
	}
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		for _, fail := range fails {
			t.Run(fail.name, func(t *testing.T) {
				s.log.reset()
				s.gen.fill = fail.fill
				items, maps := named(3), rows(3)
				for _, err := range []error{
					s.db.Create(&items).Error,
					s.db.Session(&gorm.Session{SkipHooks: true}).Create(&items).Error,
					s.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&items).Error,
					s.db.Model(&Item{}).Create(maps).Error,
					s.db.Transaction(func(tx *gorm.DB) error { return tx.Create(&items).Error }),
				} {
					wantAll(t, err, append(fail.parts, "uidgorm: no id for uidgorm_test.Item.ID: got ")...)
					if !errors.Is(err, fail.is) || !errors.Is(err, uidgorm.ErrGenerator) {
						t.Errorf("%v does not match %v and ErrGenerator", err, fail.is)
					}
				}
				wantIDs(t, "keys in memory", append(keysOf(items), entries(maps...)...), []uid.ID{0, 0, 0})
				wantIDs(t, "the table", s.keys(t, &Item{}, "id"), []uid.ID{})
				if sent := s.log.beginning("INSERT"); len(sent) > 0 {
					t.Errorf("sent %q", sent)
				}
			})
		}
	})
}

// When ids run out in the middle, what was written before is rolled back.
func TestGeneratorFailsInAssociation(t *testing.T) {
	eachSocial(t, func(t *testing.T, s *store) {
		for i := range 8 { // as many statements as newUser takes ids for
			s.gen.reset()
			left := i
			s.gen.fill = func(ids []uid.ID) (int, error) {
				if left--; left < 0 {
					return 0, uid.ErrClosed
				}
				for i := range ids {
					ids[i], s.gen.next = s.gen.next, s.gen.next+1
				}
				return len(ids), nil
			}
			err := s.db.Create(new(newUser("ann"))).Error
			if !errors.Is(err, uid.ErrClosed) {
				t.Fatalf("after %d calls: error %v, want %v", i, err, uid.ErrClosed)
			}
			for _, model := range social {
				wantIDs(t, "the table", s.keys(t, model, "id"), []uid.ID{})
			}
		}
	})
}
