package sqldb_test

import (
	"testing"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/internal/test/dbtest"
)

// A table is judged alike in every SQL mode.
func TestKeyless(t *testing.T) {
	for _, mode := range []string{"sql_mode=''", "sql_mode='ANSI'", "sql_mode='ANSI,TRADITIONAL,NO_BACKSLASH_ESCAPES'"} {
		for column, keyless := range map[string]bool{"id INT PRIMARY KEY": false, "id INT UNIQUE": false, "id INT": true, "id INT, UNIQUE (id, n)": true} {
			s := dbtest.New(t, "mysql")
			s.Exec(t, "CREATE TABLE %s (n INT, %s)", s.Table, column)
			if got, err := sqldb.Keyless(t.Context(), s.Open(t, s.With(mode)), [2]string{s.Table, "id"}); (got == s.Table) != keyless || err != nil {
				t.Errorf("%s: %s: Keyless() = %q, %v, want the table: %t", mode, column, got, err, keyless)
			}
		}
	}
}
