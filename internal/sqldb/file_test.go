//go:build unix

package sqldb_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	_ "modernc.org/sqlite"

	"github.com/uidring/uidring/internal/sqldb"
	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/need"
)

// A file that is moved away may be opened once it is back, with the -wal that belongs to it, and no other may be.
func TestFileMovedBack(t *testing.T) {
	s := dbtest.New(t, "sqlite")
	s.Exec(t, "PRAGMA journal_mode = wal")
	s.Exec(t, "CREATE TABLE %s (number BIGINT)", s.Table)
	path := s.Plain()
	f, err := sqldb.WatchFile(t.Context(), s.DB)
	need.Must(t, err)
	look := func(want string) {
		t.Helper()
		err := f.Look(t.Context(), s.DB)
		if want == "" && err != nil || want != "" && (!errors.Is(err, sqldb.ErrReplaced) || !strings.HasSuffix(err.Error(), want)) {
			t.Errorf("looked: %v; want %q", err, want)
		}
	}
	rename := func(from, to string) {
		t.Helper()
		need.Must(t, os.Rename(path+from, path+to))
	}
	look("")
	rename("", ".away")
	look("there is no " + path)
	rename(".away", "")
	look("")
	rename("", ".away")
	need.Must(t, os.WriteFile(path, nil, 0o600))
	look("delete " + path + "-wal and " + path + "-shm")
	need.Must(t, os.Remove(path))
	rename(".away", "")
	look("")
	s.Exec(t, "INSERT INTO %s VALUES (1)", s.Table)
	need.Must(t, os.Remove(path+"-wal")) // which an open connection would go on writing
	look("")
	pool, err := s.DB.DB()
	need.Must(t, err)
	if open := pool.Stats().OpenConnections; open != 0 {
		t.Errorf("%d connections are open; want those to the removed -wal closed", open)
	}
}

// A -wal that a connection made since the last look belongs to the file that was there, not to the one that replaced it.
func TestFileReplacedAfterLook(t *testing.T) {
	s := dbtest.New(t, "sqlite")
	s.Exec(t, "PRAGMA journal_mode = wal")
	s.Exec(t, "CREATE TABLE %s (number BIGINT)", s.Table)
	path := s.Plain()
	f, err := sqldb.WatchFile(t.Context(), s.DB)
	need.Must(t, err)
	sqldb.CloseIdle(t.Context(), s.DB) // SQLite removes the -wal
	need.Must(t, f.Look(t.Context(), s.DB))
	s.Exec(t, "INSERT INTO %s VALUES (1)", s.Table)
	need.Must(t, os.WriteFile(path+".backup", nil, 0o600))
	need.Must(t, os.Rename(path+".backup", path))
	for range 2 {
		if err := f.Look(t.Context(), s.DB); !errors.Is(err, sqldb.ErrReplaced) || !strings.HasSuffix(err.Error(), "delete "+path+"-wal and "+path+"-shm") {
			t.Errorf("looked: %v; want that the -wal is of another file", err)
		}
	}
	need.Must(t, os.Remove(path+"-wal"))
	need.Must(t, f.Look(t.Context(), s.DB))
}

// A connection that cannot read the file, because another goes on with a -wal that was removed, is closed: the next one can
// read it as soon as the other is closed too.
func TestUnreadableFileIsOpenedAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids.db")
	open := func() *gorm.DB {
		db, err := gorm.Open(sqlite.New(sqlite.Config{DriverName: "sqlite", DSN: path}), &gorm.Config{Logger: logger.Discard})
		need.Must(t, err)
		t.Cleanup(func() { need.Must(t, dbtest.Close(db)) })
		return db
	}
	early, late := open(), open()
	need.Must(t, early.Exec("PRAGMA journal_mode = wal").Error)
	need.Must(t, early.Exec("CREATE TABLE ids (number BIGINT)").Error)
	sqldb.CloseIdle(t.Context(), late)
	need.Must(t, os.Remove(path+"-wal"))
	read := func() error {
		return sqldb.Alone(t.Context(), late, func(tx *gorm.DB) error { return tx.Exec("SELECT * FROM ids").Error })
	}
	need.Error(t, read(), nil, "disk I/O error")
	sqldb.CloseIdle(t.Context(), early)
	need.Must(t, read())
}

// A database in memory has no file to look at.
func TestNoFile(t *testing.T) {
	db, err := dbtest.Open(":memory:")
	need.Must(t, err)
	t.Cleanup(func() { need.Must(t, dbtest.Close(db)) })
	f, err := sqldb.WatchFile(t.Context(), db)
	if f != nil || err != nil || f.Look(t.Context(), db) != nil {
		t.Errorf("watches %+v, %v", f, err)
	}
}
