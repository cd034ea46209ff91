package uidgorm_test

import (
	"database/sql/driver"
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"testing"

	"gorm.io/gorm"

	"github.com/uidring/uidring/uid"
)

type (
	Tagged struct {
		No int64 `gorm:"primaryKey;autoIncrement:false;uid"`
	}
	Unsigned struct {
		ID uint64 `gorm:"autoIncrement:false;uid:true"`
	}
	OrderID int64
	Order   struct {
		ID OrderID `gorm:"primaryKey;autoIncrement:false;type:bigint;uid"`
	}
	TypedID      struct{ uid.ID }
	Typed        struct{ ID TypedID }
	TypedPointed struct{ ID *TypedID }
	Pointed      struct {
		ID *uid.ID `gorm:"primaryKey"`
	}
	PointedTagged struct {
		ID **int64 `gorm:"primaryKey;autoIncrement:false;uid"`
	}
	Base struct {
		ID uid.ID `gorm:"primaryKey"`
	}
	Embedding        struct{ Base }
	EmbeddingPointer struct{ *Base }
	EmbeddingByTag   struct {
		Head *Base `gorm:"embedded;embeddedPrefix:head_"`
	}
	BaseTagged struct {
		ID int64 `gorm:"uid"`
	}
	Hiding struct {
		BaseTagged // whose ID is hidden
		ID         uid.ID
	}
	Column struct {
		Number uid.ID `gorm:"primaryKey;column:order_no"`
	}
	Composite struct {
		Tenant uid.ID `gorm:"primaryKey"`
		ID     uid.ID `gorm:"primaryKey"`
	}
	CompositeTagged struct {
		Region string `gorm:"primaryKey;size:8"`
		Number uid.ID `gorm:"primaryKey;uid"`
		Shard  uid.ID `gorm:"primaryKey"`
	}
	CompositeBoth struct {
		ID     uid.ID `gorm:"primaryKey"`
		Number uid.ID `gorm:"primaryKey;uid"` // comes first, since it says so
		Tenant uid.ID `gorm:"primaryKey"`
	}
	Sized struct {
		ID int `gorm:"autoIncrement:false;uid"`
	}
	SizedUnsigned struct {
		ID uint `gorm:"autoIncrement:false;uid"`
	}
	CompositePlain struct {
		Region string `gorm:"primaryKey;size:8"`
		Number uint64 `gorm:"primaryKey;uid"` // which GORM does not take for its own
	}
)

// forms are the forms in which a model opts in, by the column of the key.
var forms = map[string][]any{
	"id": {
		&Unsigned{}, &Order{}, &Typed{}, &TypedPointed{}, &Pointed{}, &PointedTagged{},
		&Embedding{}, &EmbeddingPointer{}, &Hiding{}, &Composite{}, sized[0], sized[1],
	},
	"no":       {&Tagged{}},
	"head_id":  {&EmbeddingByTag{}},
	"order_no": {&Column{}},
	"number":   {&CompositeTagged{}, &CompositeBoth{}, &CompositePlain{}},
}

// sized are refused where they have 32 bits.
var sized = []any{&Sized{}, &SizedUnsigned{}}

// keyIn returns a key of any type, behind pointers too.
func keyIn(value any) uid.ID {
	sent, _ := driver.DefaultParameterConverter.ConvertValue(value)
	id, _ := sent.(int64)
	return uid.ID(id)
}

func TestForms(t *testing.T) {
	var all []any
	for _, models := range forms {
		all = append(all, models...)
	}
	each(t, all, func(t *testing.T, s *store) {
		for column, models := range forms {
			for _, model := range models {
				if bits.UintSize == 64 || !slices.Contains(sized, model) {
					t.Run(fmt.Sprintf("%T", model), func(t *testing.T) { s.wantFilled(t, model, column) })
				}
			}
		}
	})
}

// wantFilled creates rows of a model as structs and as maps, and checks that all get keys.
func (s *store) wantFilled(t *testing.T, model any, column string) {
	t.Helper()
	s.gen.reset()
	of := s.schema(t, model)
	field := of.FieldsByDBName[column]

	one := reflect.New(of.ModelType)
	must(t, s.db.Create(one.Interface()).Error)
	many := reflect.MakeSlice(reflect.SliceOf(of.ModelType), 2, 2)
	must(t, s.db.Create(many.Interface()).Error)

	byColumn, byField := map[string]any{}, map[string]any{}
	for _, f := range of.PrimaryFields {
		zero := reflect.Zero(f.FieldType).Interface()
		byColumn[f.DBName], byField[f.Name] = zero, zero
	}
	byColumn[column], byField[field.Name] = 0, nil
	must(t, s.db.Model(model).Create(byColumn).Error)
	must(t, s.db.Model(model).Create(byField).Error)
	if got, want := reflect.TypeOf(byColumn[column]), field.IndirectFieldType; got != want {
		t.Errorf("the map has a %v, want a %v", got, want)
	}

	wantAsked(t, s.gen, 1, 2, 1, 1)
	var got []uid.ID
	for _, row := range []reflect.Value{one, many.Index(0), many.Index(1)} {
		value, _ := field.ValueOf(t.Context(), row)
		got = append(got, keyIn(value))
	}
	got = append(got, keyIn(byColumn[column]), keyIn(byField[field.Name]))
	wantIDs(t, "keys in memory", got, s.gen.dealt())
	wantIDs(t, "keys in the table", s.keys(t, model, column), s.gen.dealt())
}

// A pointer to a zero key may be shared, so it is replaced.
func TestPointerToZero(t *testing.T) {
	each(t, []any{&Pointed{}}, func(t *testing.T, s *store) {
		var zero uid.ID
		rows := []Pointed{{ID: &zero}, {ID: &zero}}
		must(t, s.db.Create(&rows).Error)
		wantIDs(t, "keys", []uid.ID{*rows[0].ID, *rows[1].ID, zero}, []uid.ID{first, first + 1, 0})
	})
}

type (
	Plain struct {
		ID   int64
		Name string
	}
	OptedOut struct {
		ID   uid.ID `gorm:"uid:false"`
		Name string
	}
	Account struct {
		ID      uid.ID
		Profile Profile
	}
	// Profile shares its key with the account that it belongs to.
	Profile struct {
		AccountID uid.ID `gorm:"primaryKey"`
		Account   *Account
		Name      string
	}
	// Membership is of two others, and has no key of its own.
	Membership struct {
		Left  uid.ID `gorm:"primaryKey"`
		Right uid.ID `gorm:"primaryKey"`
	}
	Keyless struct {
		Other uid.ID
		Name  string
	}
)

// Models that have not opted in are left alone, zero keys and all.
func TestNotOptedIn(t *testing.T) {
	models := []any{&Plain{}, &OptedOut{}, &Account{}, &Profile{}, &Membership{}, &Keyless{}}
	each(t, models, func(t *testing.T, s *store) {
		db := s.db.Session(&gorm.Session{DryRun: true})
		for _, value := range []any{&Plain{}, &OptedOut{}, &Profile{}, &Membership{}, &Keyless{}, []Keyless{{}, {}}} {
			must(t, db.Create(value).Error)
		}
		must(t, db.Table(s.schema(t, &Account{}).Table).Create(map[string]any{}).Error) // of no model
		wantAsked(t, s.gen)

		plain := Plain{}
		must(t, s.db.Create(&plain).Error)
		if plain.ID != 1 {
			t.Errorf("the database chose %d, want 1", plain.ID)
		}
		account := Account{Profile: Profile{Name: "x"}}
		must(t, s.db.Create(&account).Error)
		wantAsked(t, s.gen, 1)
		wantIDs(t, "the key that a profile shares", []uid.ID{account.Profile.AccountID}, []uid.ID{account.ID})
	})
}
