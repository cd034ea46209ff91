//go:build unix

package worker_test

import (
	"crypto/rand"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"
	_ "modernc.org/sqlite"

	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/servertest"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

// steps restore a database from a backup.
var steps = map[string]func(path string) error{
	"mv db":     func(path string) error { return os.Rename(path, path+".old") },
	"rm db":     os.Remove,
	"mv backup": func(path string) error { return os.Rename(path+".backup", path) },
	"rm wal":    func(path string) error { return there(os.Remove(path + "-wal")) },
	"rm shm":    func(path string) error { return there(os.Remove(path + "-shm")) },
	"mv wal":    func(path string) error { return there(os.Rename(path+"-wal", path+".old-wal")) },
}

// there ignores that a file is missing.
func there(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// orders are all in which steps can come, except that the backup cannot come before the database is gone.
func orders(steps ...string) (all [][]string) {
	if len(steps) < 2 {
		return [][]string{steps}
	}
	for i, step := range steps {
		rest := slices.Delete(slices.Clone(steps), i, i+1)
		if step == "mv backup" && (slices.Contains(rest, "mv db") || slices.Contains(rest, "rm db")) {
			continue
		}
		for _, order := range orders(rest...) {
			all = append(all, append([]string{step}, order...))
		}
	}
	return all
}

func openSQLite(t *testing.T, driver, path, mode string) *gorm.DB {
	t.Helper()
	options := "?_journal_mode=" + mode
	if driver != "sqlite3" {
		options = "?_pragma=journal_mode(" + mode + ")&_pragma=busy_timeout(5000)"
	}
	// As a URI, in which a name can have a percent sign and a question mark.
	db, err := gorm.Open(sqlite.New(sqlite.Config{DriverName: driver, DSN: "file:" + (&url.URL{Path: path}).EscapedPath() + options}), &gorm.Config{Logger: logger.Discard})
	need.Must(t, err)
	pool, err := db.DB()
	need.Must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	return db
}

// A file is restored from a backup while a generator has it open, by steps in any order, at once or with a time between
// them. The generator drops its number, opens nothing until the restore is complete, and so leaves the backup as it is.
func TestFileRestored(t *testing.T) {
	need.Time(t) // not beside other tests: the pauses are those of two looks while a processor is free
	modes := map[string][][]string{
		"wal": slices.Concat(orders("mv backup", "rm wal", "rm shm"), orders("mv db", "mv backup", "rm wal", "rm shm"),
			orders("rm db", "mv backup", "mv wal", "rm shm")),
		"delete": slices.Concat(orders("mv backup"), orders("mv db", "mv backup"), orders("rm db", "mv backup")),
	}
	for _, driver := range []string{"sqlite", "sqlite3"} {
		pool, err := sql.Open(driver, ":memory:")
		need.Must(t, err)
		if err := errors.Join(pool.Ping(), pool.Close()); err != nil {
			t.Log(err) // no cgo
			continue
		}
		for mode, orders := range modes {
			for _, order := range orders {
				for _, pause := range []time.Duration{0, 250 * time.Millisecond} { // of two looks
					t.Run(fmt.Sprintf("%s/%s/%v/%s", driver, mode, pause, strings.Join(order, ",")), func(t *testing.T) {
						t.Parallel()
						testRestored(t, driver, mode, order, pause)
					})
				}
			}
		}
	}
}

// A backup that takes the file's place after a look, just before a connection opens it, is not read with the old -wal.
func TestFileRestoredAfterLook(t *testing.T) {
	pool, err := sql.Open("sqlite", ":memory:")
	need.Must(t, err)
	before := &beforeOpen{Driver: pool.Driver()}
	need.Must(t, pool.Close())
	name := "sqlite after " + rand.Text()
	sql.Register(name, before)
	path := filepath.Join(t.TempDir(), "ids.db")
	db := openSQLite(t, name, path, "wal")
	store := worker.NewStore(db, worker.StoreConfig{})
	need.Must(t, store.EnsureSchema(t.Context()))
	need.Must(t, db.Exec("VACUUM INTO ?", path+".backup").Error)
	var out logged.Text
	gen, err := uid.NewCached(t.Context(), worker.NewLeaser(db, lease.Config{Expiry: 400 * time.Millisecond, Logger: out.Logger()}), uid.CachedConfig{})
	need.Must(t, err)
	defer gen.Close()
	restore := func() { need.Must(t, steps["mv backup"](path)) }
	before.run.Store(&restore)
	servertest.Eventually(t, "the generator drops its number, and says what to do", func() bool {
		err := gen.Stats().Clock.LeaseError
		return out.Count("the number is lost") > 0 && err != nil && strings.Contains(err.Error(), "delete "+path+"-wal")
	})
}

// beforeOpen is a driver that runs a function once, before the next connection that looks at rows as other processes see them.
type beforeOpen struct {
	driver.Driver
	run atomic.Pointer[func()]
}

func (b *beforeOpen) Open(name string) (driver.Conn, error) {
	if strings.Contains(name, "mode=rw") {
		if run := b.run.Swap(nil); run != nil {
			(*run)()
		}
	}
	return b.Driver.Open(name)
}

func testRestored(t *testing.T, driver, mode string, order []string, pause time.Duration) {
	path := filepath.Join(t.TempDir(), "ids 100%20?.db")
	db := openSQLite(t, driver, path, mode)
	store := worker.NewStore(db, worker.StoreConfig{})
	need.Must(t, store.EnsureSchema(t.Context()))
	need.Must(t, db.Exec("VACUUM INTO ?", path+".backup").Error) // before any number is given
	var out logged.Text
	config := lease.Config{Expiry: 400 * time.Millisecond, Logger: out.Logger()}
	start := func(db *gorm.DB) *uid.Cached {
		gen, err := uid.NewCached(t.Context(), worker.NewLeaser(db, config), uid.CachedConfig{})
		need.Must(t, err)
		t.Cleanup(func() { _ = gen.Close() })
		return gen
	}
	gen := start(db)
	defer func() {
		if t.Failed() {
			t.Logf("the last error is %v; logged %s", gen.Stats().Clock.LeaseError, &out)
		}
	}()
	for i, step := range order {
		if i > 0 {
			time.Sleep(pause)
		}
		need.Must(t, steps[step](path))
	}
	told := false
	servertest.Eventually(t, "the generator drops its number, and has one of the backup, or says what to do", func() bool {
		err := gen.Stats().Clock.LeaseError
		told = err != nil && strings.Contains(err.Error(), "delete "+path+"-wal and "+path+"-shm")
		return out.Count("the number is lost") > 0 && (err == nil || told)
	})
	if told { // as where it made them again after they were removed
		need.Must(t, steps["rm wal"](path))
		need.Must(t, steps["rm shm"](path))
		servertest.Eventually(t, "the generator has a number of the backup", func() bool { return gen.Stats().Clock.LeaseError == nil })
	}
	fresh := openSQLite(t, driver, path, mode)
	other := start(fresh)
	if a, b := gen.Stats().Clock.Worker, other.Stats().Clock.Worker; a == b {
		t.Errorf("two generators have number %d", a)
	}
	var damage string
	need.Must(t, fresh.Raw("PRAGMA integrity_check").Scan(&damage).Error)
	if damage != "ok" {
		t.Errorf("the restored file is damaged: %s", damage)
	}
	token := func() (token string) {
		need.Must(t, fresh.Raw("SELECT token FROM WORKER_LEASE WHERE worker_id = ?", gen.Stats().Clock.Worker).Scan(&token).Error)
		return token
	}
	was := token()
	servertest.Eventually(t, "its row in the backup is renewed", func() bool { return was != "" && token() != was })
}
