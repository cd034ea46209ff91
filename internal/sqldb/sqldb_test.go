package sqldb

import (
	"errors"
	"testing"

	"gorm.io/gorm"
)

// withState is an error of PostgreSQL's driver.
type withState string

func (e withState) Error() string    { return "SQLSTATE " + string(e) }
func (e withState) SQLState() string { return string(e) }

// Errors that a retry can mend are distinguished from others, and from an
// existing row.
func TestErrorsOfKinds(t *testing.T) {
	mysql := func(code string) error { return errors.New("Error " + code + " (HY000): words") }
	sqlite := func(words string) error { return errors.New(words + " (5)") }
	for _, tt := range []struct {
		dialect              string
		err                  error
		transient, duplicate bool
	}{
		{"mysql", mysql("1213"), true, false},
		{"mysql", mysql("1205"), true, false},
		{"mysql", mysql("1020"), true, false},
		{"mysql", mysql("1062"), false, true},
		{"mysql", mysql("1045"), false, false},
		{"postgres", withState("40001"), true, false},
		{"postgres", withState("40P01"), true, false},
		{"postgres", withState("23505"), false, true},
		{"postgres", withState("42501"), false, false},
		{"sqlite", sqlite("database is locked"), true, false},
		{"sqlite", sqlite("database table is locked"), true, false},
		{"sqlite", sqlite("UNIQUE constraint failed: w.worker_id"), false, true},
		{"sqlite", sqlite("disk I/O error"), false, false},
	} {
		d := KindOf(tt.dialect)
		if d.Transient(tt.err) != tt.transient || d.Duplicate(tt.err) != tt.duplicate {
			t.Errorf("%s: %v: transient %t, duplicate %t; want %t, %t", tt.dialect, tt.err,
				d.Transient(tt.err), d.Duplicate(tt.err), tt.transient, tt.duplicate)
		}
	}
}

// A handle that was not made by GORM's Open is refused, and does not panic.
func TestUnfit(t *testing.T) {
	for _, db := range []*gorm.DB{nil, {}, {Config: &gorm.Config{}}, {Statement: &gorm.Statement{}}} {
		if Unfit(db) == nil {
			t.Errorf("%+v is not refused", db)
		}
	}
}
