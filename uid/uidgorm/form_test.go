package uidgorm_test

import (
	"errors"
	"math/bits"
	"reflect"
	"testing"

	"gorm.io/gorm"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidgorm"
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
	TypedID struct{ uid.ID }
	Typed   struct {
		ID TypedID
	}
	TypedPointed struct {
		ID *TypedID
	}
	Pointed struct {
		ID *uid.ID `gorm:"primaryKey"`
	}
	PointedTagged struct {
		ID **int64 `gorm:"primaryKey;autoIncrement:false;uid"`
	}
	Base struct {
		ID uid.ID `gorm:"primaryKey"`
	}
	Embedding struct {
		Base
	}
	EmbeddingPointer struct {
		*Base
	}
	EmbeddingByTag struct {
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
	CompositePlain struct {
		Region string `gorm:"primaryKey;size:8"`
		Number uint64 `gorm:"primaryKey;uid"` // which GORM does not take for its own
	}
)

// forms are the forms in which a model opts in.
var forms = []struct {
	model  any    // a pointer to the zero value
	column string // of the key
}{
	{&Tagged{}, "no"},
	{&Unsigned{}, "id"},
	{&Order{}, "id"},
	{&Typed{}, "id"},
	{&TypedPointed{}, "id"},
	{&Pointed{}, "id"},
	{&PointedTagged{}, "id"},
	{&Embedding{}, "id"},
	{&EmbeddingPointer{}, "id"},
	{&EmbeddingByTag{}, "head_id"},
	{&Hiding{}, "id"},
	{&Column{}, "order_no"},
	{&Composite{}, "id"},
	{&CompositeTagged{}, "number"},
	{&CompositeBoth{}, "number"},
	{&CompositePlain{}, "number"},
}

// keyIn returns a key, through pointers.
func keyIn(value any) uid.ID {
	v := reflect.ValueOf(value)
	for v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if v.Kind() == reflect.Struct {
		v = v.Field(0)
	}
	if v.CanInt() {
		return uid.ID(v.Int())
	}
	return uid.ID(v.Uint())
}

func TestForms(t *testing.T) {
	var models []any
	for _, form := range forms {
		models = append(models, form.model)
	}
	each(t, models, func(t *testing.T, s *store) {
		for _, form := range forms {
			model := reflect.TypeOf(form.model).Elem()
			t.Run(model.Name(), func(t *testing.T) {
				s.gen.reset()
				stmt := gorm.Statement{DB: s.db}
				must(t, stmt.Parse(form.model))
				field := stmt.Schema.FieldsByDBName[form.column]
				key := func(row reflect.Value) uid.ID {
					value, _ := field.ValueOf(t.Context(), row)
					return keyIn(value)
				}

				one := reflect.New(model)
				must(t, s.db.Create(one.Interface()).Error)

				many := reflect.MakeSlice(reflect.SliceOf(model), 2, 2)
				must(t, s.db.Create(many.Interface()).Error)

				byColumn, byField := map[string]any{}, map[string]any{}
				for _, f := range stmt.Schema.PrimaryFields {
					zero := reflect.Zero(f.FieldType).Interface()
					byColumn[f.DBName], byField[f.Name] = zero, zero
				}
				byColumn[form.column], byField[field.Name] = 0, nil
				must(t, s.db.Model(form.model).Create(byColumn).Error)
				must(t, s.db.Model(form.model).Create(byField).Error)
				if got, want := reflect.TypeOf(byColumn[form.column]), field.IndirectFieldType; got != want {
					t.Errorf("the map has a %v, want a %v", got, want)
				}

				wantAsked(t, s.gen, 1, 2, 1, 1)
				got := []uid.ID{key(one), key(many.Index(0)), key(many.Index(1)), keyIn(byColumn[form.column]), keyIn(byField[field.Name])}
				wantIDs(t, "keys in memory", got, s.gen.dealt())
				wantIDs(t, "keys in the table", s.keys(t, form.model, form.column), s.gen.dealt())
			})
		}
	})
}

// An int has 64 bits or not.
func TestInt(t *testing.T) {
	type Row struct {
		ID int `gorm:"autoIncrement:false;uid"`
	}
	s := newStore(t, "sqlite", &Row{})
	row := Row{}
	err := s.db.Create(&row).Error
	if bits.UintSize == 64 {
		must(t, err)
		wantIDs(t, "the key", []uid.ID{uid.ID(row.ID)}, []uid.ID{first})
	} else if wantAll(t, err, "Row.ID has 32 bits, want 64"); !errors.Is(err, uidgorm.ErrModel) {
		t.Errorf("%v does not match ErrModel", err)
	}
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
		must(t, db.Table(s.table(t, &Account{})).Create(map[string]any{}).Error) // of no model
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
