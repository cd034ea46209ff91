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

// Errors that a retry can mend, or another connection, are distinguished from others, and from
// an existing row.
func TestErrorsOfKinds(t *testing.T) {
	mysql := func(code string) error { return errors.New("Error " + code + " (HY000): words") }
	sqlite := func(words string) error { return errors.New(words + " (5)") }
	for _, tt := range []struct {
		dialect                     string
		err                         error
		transient, duplicate, stale bool
	}{
		{"mysql", mysql("1213"), true, false, false},
		{"mysql", mysql("1205"), true, false, false},
		{"mysql", mysql("1020"), true, false, false},
		{"mysql", mysql("1062"), false, true, false},
		{"mysql", mysql("1045"), false, false, false},
		{"mysql", errors.New("Error 1040: Too many connections"), true, false, false}, // before the connection knows of SQL states
		{"mysql", mysql("1290"), false, false, true},
		{"mysql", mysql("1792"), false, false, true},
		{"mysql", mysql("1836"), false, false, true},
		{"mysql", mysql("1047"), false, false, true},
		{"postgres", withState("40001"), true, false, false},
		{"postgres", withState("40P01"), true, false, false},
		{"postgres", withState("23505"), false, true, false},
		{"postgres", withState("42501"), false, false, false},
		{"postgres", withState("25006"), false, false, true},
		{"sqlite", sqlite("database is locked"), true, false, false},
		{"sqlite", sqlite("database table is locked"), true, false, false},
		{"sqlite", sqlite("UNIQUE constraint failed: w.worker_id"), false, true, false},
		{"sqlite", sqlite("disk I/O error"), false, false, true},
		{"sqlite", sqlite("attempt to write a readonly database"), false, false, true},
		{"sqlite", sqlite("no such table"), false, false, false},
	} {
		d := KindOf(tt.dialect)
		if d.Transient(tt.err) != tt.transient || d.Duplicate(tt.err) != tt.duplicate || d.Stale(tt.err) != tt.stale {
			t.Errorf("%s: %v: transient %t, duplicate %t, stale %t; want %t, %t, %t", tt.dialect, tt.err,
				d.Transient(tt.err), d.Duplicate(tt.err), d.Stale(tt.err), tt.transient, tt.duplicate, tt.stale)
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
