//go:build unix

package segmentsql_test

import (
	"errors"
	"os"
	"strings"
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
		if _, _, err := store.Reserve(t.Context(), "orders", 10); !errors.Is(err, sqldb.ErrReplaced) {
			t.Errorf("%s: reserved from a file that was moved: %v", mode, err)
		}
		must(t, os.Rename(path+".backup", path))
		if mode == "wal" {
			if _, _, err := store.Reserve(t.Context(), "orders", 10); !errors.Is(err, sqldb.ErrReplaced) || !strings.Contains(err.Error(), "delete "+path+"-wal and ") {
				t.Errorf("reserved beside the -wal of another file: %v", err)
			}
			must(t, errors.Join(os.Remove(path+"-wal"), os.Remove(path+"-shm")))
		}
		reserves(t, store, "orders", 10, 1)
		reserves(t, store, "orders", 10, 11)
	}
}
