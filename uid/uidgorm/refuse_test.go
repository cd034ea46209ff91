package uidgorm_test

import (
	"cmp"
	"errors"
	"math/bits"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
)

type Counted struct {
	ID int64 `gorm:"primaryKey;uid"`
}

type Two struct {
	A int64 `gorm:"primaryKey;uid"`
	B int64 `gorm:"primaryKey;uid"`
}

// A model whose key cannot be filled is refused by whatever creates it.
func TestModelsRefused(t *testing.T) {
	each(t, nil, func(t *testing.T, s *store) {
		refused := map[any]string{
			&Counted{}: "uidgorm_test.Counted.ID gets its value from the database, want autoIncrement:false",
			&struct {
				ID uid.ID `gorm:"primaryKey;autoIncrement"`
			}{}: ".ID gets its value from the database, want autoIncrement:false",
			&struct {
				ID uid.ID `gorm:"primaryKey;default:7"`
			}{}: ".ID gets its value from the database, want autoIncrement:false and no default",
			&struct {
				ID string `gorm:"primaryKey;uid"`
			}{}: ".ID is of kind string, want a 64-bit integer",
			&struct {
				ID int32 `gorm:"primaryKey;autoIncrement:false;uid"`
			}{}: ".ID is of kind int32, want a 64-bit integer",
			&struct {
				ID int64 `gorm:"primaryKey;autoIncrement:false;size:32;uid"`
			}{}: ".ID has 32 bits, want 64",
			&struct {
				ID struct {
					uid.ID
					Shard int64
				} `gorm:"primaryKey;uid"`
			}{}: ".ID is of kind struct, want a 64-bit integer",
			&Two{}: "uidgorm_test.Two.A and uidgorm_test.Two.B both have the tag uid, want one",
			&struct {
				ID uid.ID `gorm:"uid:maybe"`
			}{}: ".ID has the tag uid:maybe, want uid or uid:false",
			&struct {
				ID int64 `gorm:"autoIncrement:false;uuid"`
			}{}: ".ID has the tag uuid, want uid",
			&struct {
				ID uid.ID `gorm:"->"`
			}{}: ".ID is never written",
		}
		if bits.UintSize == 32 {
			refused[sized[0]], refused[sized[1]] = ".ID has 32 bits, want 64", ".ID has 32 bits, want 64"
		}
		for model, part := range refused {
			dry := s.db.Session(&gorm.Session{DryRun: true})
			for range 2 { // the second time from what is remembered
				wantError(t, dry.Create(model).Error, uidgorm.ErrKey, part, "uidgorm: key cannot be filled")
			}
			wantError(t, s.db.Model(model).Create(map[string]any{"name": "x"}).Error, uidgorm.ErrKey, part)
		}
		wantAsked(t, s.gen)
		wantUnsent(t, s.log, "INSERT")
	})
}

// What cannot take a key is refused, and nothing is inserted.
func TestValuesRefused(t *testing.T) {
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		model := s.db.Model(&Item{}).Session(&gorm.Session{})
		items := named(1)
		for _, refused := range []struct {
			err   error
			parts []string
		}{
			{s.db.Create(items[0]).Error, []string{"uidgorm_test.Item.ID: the struct is a copy, want a pointer"}},
			{s.db.Create([1]Item(items)).Error, []string{"Item.ID: the struct is a copy, want a pointer", "(row 0)"}},
			{model.Create(&Plain{}).Error, []string{"Item.ID: the value is a uidgorm_test.Plain, want a uidgorm_test.Item"}},
			{model.Create([]Plain{{}, {}}).Error, []string{"the value is a uidgorm_test.Plain", "(row 0)"}},
			{model.Create([]any{&Item{}}).Error, []string{"the value is a interface {}"}},
			{model.Create([]*map[string]any{{}}).Error, []string{"the value is a map[string]interface {}"}},
			{model.Create(namedMap{}).Error, []string{"the value is a uidgorm_test.namedMap"}},
			{model.Create(map[string]any(nil)).Error, []string{"Item.ID: the map is nil, want one that can be written"}},
			{model.Create(new(map[string]any)).Error, []string{"Item.ID: the map is nil"}},
			{model.Create([]map[string]any{{"name": "x"}, nil}).Error, []string{"Item.ID: the map is nil"}},
			{model.Create(map[string]any{"id": 0, "ID": 7}).Error, []string{`Item.ID is in map 0 as "`, "want one"}},
			{s.db.Omit("ID").Create(&items).Error, []string{"Omit names uidgorm_test.Item.ID, which must be written"}},
			{s.db.Omit("id").Create(&Item{ID: 7}).Error, []string{"Omit names uidgorm_test.Item.ID"}},
			{model.Omit("ID").Create(map[string]any{"name": "x"}).Error, []string{"Omit names uidgorm_test.Item.ID"}},
		} {
			wantError(t, refused.err, uidgorm.ErrKey, append(refused.parts, "uidgorm: key cannot be filled")...)
		}
		wantUnsent(t, s.log, "INSERT")
		// What GORM refuses itself.
		for _, err := range []error{
			s.db.Create([]Item{}).Error,
			s.db.Create(&[]*Item{}).Error,
			s.db.Create((*Item)(nil)).Error,
			s.db.Create([]*Item{nil}).Error,
			model.Create([]map[string]any{}).Error,
			model.Create((*map[string]any)(nil)).Error,
		} {
			if err == nil || errors.Is(err, uidgorm.ErrKey) {
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
		name string
		ids  []uid.ID // the first ids that the generator fills
		err  error
		part string
	}{
		{"ring empty", nil, uid.ErrNotReady, "got 0 of 3: uid: no id is ready"},
		{"partial", []uid.ID{first, first + 1}, boom, "got 2 of 3: boom"},
		{"partial, without an error", []uid.ID{first}, nil, "got 1 of 3: the generator returned no error"},
		{"zero", []uid.ID{first, first + 1, 0}, nil, "got 0, want more than 0"},
		{"negative", []uid.ID{first, -1, first + 1}, nil, "got -1, want more than 0"},
	}
	each(t, []any{&Item{}}, func(t *testing.T, s *store) {
		for _, fail := range fails {
			t.Run(fail.name, func(t *testing.T) {
				s.log.Reset()
				s.gen.fill = func(ids []uid.ID) (int, error) { return copy(ids, fail.ids), fail.err }
				items, maps := named(3), rows(3)
				for _, err := range []error{
					s.db.Create(&items).Error,
					s.db.Session(&gorm.Session{SkipHooks: true}).Create(&items).Error,
					s.db.Clauses(clause.OnConflict{DoNothing: true}).Create(&items).Error,
					s.db.Model(&Item{}).Create(maps).Error,
					s.db.Transaction(func(tx *gorm.DB) error { return tx.Create(&items).Error }),
				} {
					wantError(t, err, cmp.Or(fail.err, uidgorm.ErrGenerator), fail.part)
					wantError(t, err, uidgorm.ErrGenerator, "uidgorm: no id for uidgorm_test.Item.ID: got ")
				}
				wantIDs(t, "keys in memory", append(keysOf(items), entries(maps...)...), []uid.ID{0, 0, 0})
				wantIDs(t, "the table", s.keys(t, &Item{}, "id"), []uid.ID{})
				wantUnsent(t, s.log, "INSERT")
			})
		}
	})
}
