package sqldb_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
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

// A session whose statements could be rolled back is refused by the name of what makes it so.
func TestUncommitted(t *testing.T) {
	s := dbtest.New(t, "mysql")
	for option, refused := range map[string]bool{
		"autocommit=1": false, "autocommit=0": true, "completion_type='CHAIN'": true, "completion_type='RELEASE'": false, "completion_type='NO_CHAIN'": false,
	} {
		err := sqldb.Uncommitted(t.Context(), s.Open(t, s.With(option)))
		name, _, _ := strings.Cut(option, "=")
		if errors.Is(err, sqldb.ErrUncommitted) != refused || refused && !strings.Contains(err.Error(), "want a DSN without "+name) {
			t.Errorf("%s: %v", option, err)
		}
	}
	need.Must(t, sqldb.Uncommitted(t.Context(), dbtest.New(t, "sqlite").DB))
}
