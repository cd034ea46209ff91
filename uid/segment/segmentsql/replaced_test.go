//go:build unix

package segmentsql_test

import (
	"errors"
	"os"
	"testing"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/internal/test/dbtest"
)

// Ranges come from the file that is there, not from one that was replaced while a connection had it open.
func TestFileReplaced(t *testing.T) {
	for _, mode := range []string{"wal", "delete"} {
		s := dbtest.New(t, "sqlite")
		s.Exec(t, "PRAGMA journal_mode = %s", mode)
		store, path := created(t, s), s.Plain()
		s.Exec(t, "VACUUM INTO '%s.backup'", path)
		reserves(t, store, "orders", 10, 1)
		must(t, os.Rename(path, path+".old"))
		_, _, err := store.Reserve(t.Context(), "orders", 10)
		wantErr(t, err, sqldb.ErrReplaced)
		must(t, os.Rename(path+".backup", path))
		if mode == "wal" {
			_, _, err := store.Reserve(t.Context(), "orders", 10)
			wantErr(t, err, sqldb.ErrReplaced, "delete "+path+"-wal and ")
			must(t, errors.Join(os.Remove(path+"-wal"), os.Remove(path+"-shm")))
		}
		reserves(t, store, "orders", 10, 1)
		reserves(t, store, "orders", 10, 11)
	}
}
