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
	"sync"
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
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
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
	if !strings.HasPrefix(driver, "sqlite3") {
		options = "?_pragma=journal_mode(" + mode + ")&_pragma=busy_timeout(5000)"
	}
	// As a URI, in which a name can have a percent sign and a question mark.
	pool, err := sql.Open(driver, "file:"+(&url.URL{Path: path}).EscapedPath()+options)
	need.Must(t, err)
	t.Cleanup(func() { _ = pool.Close() })
	var db *gorm.DB
	servertest.Eventually(t, "the file can be opened", func() bool { // not while another has a -wal open that was removed
		db, err = gorm.Open(sqlite.New(sqlite.Config{Conn: pool}), &gorm.Config{Logger: logger.Discard})
		return err == nil
	})
	return db
}

// A file is restored from a backup while a generator has it open, by steps in any order, at once or with a time between
// them, or is moved or removed. The generator drops its number, opens nothing until the restore is complete, and so leaves
// the backup as it is.
func TestFileRestored(t *testing.T) {
	need.Time(t) // not beside other tests: the pauses are those of two looks while a processor is free
	modes := map[string][][]string{
		"wal": slices.Concat(orders("mv backup", "rm wal", "rm shm"), orders("mv db", "mv backup", "rm wal", "rm shm"),
			orders("rm db", "mv backup", "mv wal", "rm shm"), [][]string{{"mv db", "rm wal", "rm shm"}, {"rm db", "rm wal", "rm shm"}}),
		"delete": slices.Concat(orders("mv backup"), orders("mv db", "mv backup"), orders("rm db", "mv backup"), orders("mv db"), orders("rm db")),
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

// A copy takes the file's place while the app uses the pool's only connection, which then can write nothing any more.
func TestFileCopiedInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids.db")
	db := openSQLite(t, "sqlite", path, "delete")
	pool, err := db.DB()
	need.Must(t, err)
	pool.SetMaxOpenConns(1)
	gen, err := uid.NewCached(t.Context(), worker.NewLeaser(db, lease.Config{Expiry: 400 * time.Millisecond}), uid.CachedConfig{})
	need.Must(t, err)
	defer gen.Close()
	used, err := pool.Conn(t.Context())
	need.Must(t, err)
	content, err := os.ReadFile(path)
	need.Must(t, errors.Join(err, os.WriteFile(path+".backup", content, 0o600), steps["mv backup"](path)))
	servertest.Eventually(t, "a renewal waits in vain", func() bool { return gen.Stats().Clock.LeaseError != nil })
	need.Must(t, used.Close())
	servertest.Eventually(t, "the same number is renewed", func() bool { c := gen.Stats().Clock; return c.LeaseError == nil && c.WorkerChanges == 0 })
}

// A backup that takes the file's place after a look, just before a connection opens it, is not read with the old -wal.
func TestFileRestoredAfterLook(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids.db")
	var restore atomic.Bool
	db := openHooked(t, "sqlite", path, "wal", func() {
		if restore.Swap(false) {
			need.Must(t, steps["mv backup"](path))
		}
	})
	need.Must(t, worker.NewStore(db, worker.StoreConfig{}).EnsureSchema(t.Context()))
	need.Must(t, db.Exec("VACUUM INTO ?", path+".backup").Error)
	var out logged.Text
	gen, err := uid.NewCached(t.Context(), worker.NewLeaser(db, lease.Config{Expiry: 400 * time.Millisecond, Logger: out.Logger()}), uid.CachedConfig{})
	need.Must(t, err)
	defer gen.Close()
	restore.Store(true)
	servertest.Eventually(t, "the generator drops its number, and says what to do", func() bool {
		err := gen.Stats().Clock.LeaseError
		return out.Count("the number is lost") > 0 && err != nil && strings.Contains(err.Error(), "delete "+path+"-wal")
	})
}

// A number that was taken is kept though the file is locked when it is read by another connection.
func TestFileLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids.db")
	other := openSQLite(t, "sqlite", path, "delete") // otherwise a lock stops no reader
	pool, err := other.DB()
	need.Must(t, err)
	pool.SetMaxOpenConns(1)
	var opens atomic.Int64
	db := openHooked(t, "sqlite", path, "delete", func() {
		switch opens.Add(1) {
		case 2: // the store has looked for the file, and then taken a number
			need.Must(t, other.Exec("BEGIN EXCLUSIVE").Error)
		case 3: // one try to read it has failed
			need.Must(t, other.Exec("ROLLBACK").Error)
		}
	})
	store := worker.NewStore(db, worker.StoreConfig{}) // a Leaser gives a request that takes too long up, and takes another number
	need.Must(t, store.Prepare(t.Context(), silent))
	if n, done, err := store.Insert(t.Context(), acquire(0, "a", true)); n != 0 || !done || err != nil || opens.Load() != 3 {
		t.Errorf("number %d, %t, %v, and the file was opened %d times; want the first number, after a lock", n, done, err, opens.Load())
	}
}

// A -wal that is removed as soon as a connection has made it is one that no look has found. The connection goes on with it,
// beside the -shm of all others, who cannot read the file until it is closed.
func TestWALRemovedAfterOpening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ids.db")
	var remove atomic.Bool
	name := register(t, "sqlite", func(name string, open hooked) (driver.Conn, error) {
		conn, err := open(name)
		if !strings.Contains(name, "mode=rw") && remove.Swap(false) {
			err = errors.Join(err, steps["rm wal"](path))
		}
		return conn, err
	})
	h := holdertest.Take(t, worker.NewLeaser(openSQLite(t, name, path, "wal"), lease.Config{Expiry: 400 * time.Millisecond, Logger: silent}), max22)
	remove.Store(true)
	need.Must(t, errors.Join(steps["rm wal"](path), steps["rm shm"](path)))
	servertest.Eventually(t, "the second -wal is removed too", func() bool { return !remove.Load() })
	until := h.Last().Until
	h.Await(t, "it is renewed", func(g lease.Grant) bool { return g.Err == nil && g.Until.After(until) })
}

// openHooked calls before ahead of each connection that looks at rows as other processes see them.
func openHooked(t *testing.T, kind, path, mode string, before func()) *gorm.DB {
	t.Helper()
	return openSQLite(t, register(t, kind, func(name string, open hooked) (driver.Conn, error) {
		if strings.Contains(name, "mode=rw") {
			before()
		}
		return open(name)
	}), path, mode)
}

// register registers a driver that opens connections by a hook, and returns its name.
func register(t *testing.T, kind string, hook func(name string, open hooked) (driver.Conn, error)) string {
	t.Helper()
	pool, err := sql.Open(kind, ":memory:")
	need.Must(t, errors.Join(err, pool.Close()))
	name := kind + " with a hook " + rand.Text()
	sql.Register(name, hooked(func(name string) (driver.Conn, error) { return hook(name, pool.Driver().Open) }))
	return name
}

type hooked func(name string) (driver.Conn, error)

func (h hooked) Open(name string) (driver.Conn, error) { return h(name) }

// A file that cannot be read in place of the database is an outage.
func TestFileUnreadable(t *testing.T) {
	t.Parallel()
	s := newStore(t, "sqlite", leaser)
	h, path := holdertest.Take(t, s.leaser(s.DB, quickly, quiet), max22), s.Plain()
	need.Must(t, errors.Join(os.WriteFile(path+".other", []byte("not a database"), 0o600),
		os.Link(path, path+".real"), os.Rename(path+".other", path))) // so that the path is never without a file
	told := h.Await(t, "it is told that the file is not a database", func(g lease.Grant) bool { // on a slow machine, a renewal can fail before
		return g.Err != nil && strings.Contains(g.Err.Error(), "not a database")
	})
	need.Must(t, os.Rename(path+".real", path))
	h.Await(t, "it is renewed", func(g lease.Grant) bool { return g.Until.After(told.Until) && g.Err == nil })
	h.Kept(t)
}

// A number that is taken over, or renewed, in a file that is moved away just before is not held.
func TestTakenInReplacedFile(t *testing.T) {
	for _, change := range []leasestore.Change{leasestore.Acquire, leasestore.Extend} {
		s := newStore(t, "sqlite", leaser)
		s.Exec(t, "PRAGMA journal_mode = wal") // otherwise SQLite notices when it writes
		s.create(t)
		s.inserts(t, s.DB, acquire(0, "a", true), 0, true)
		path, db := s.Plain(), s.Reopen(t, nil, gorm.Config{})
		rows := s.leaser(db)
		need.Must(t, rows.Prepare(t.Context(), silent))
		move := sync.OnceFunc(func() { need.Must(t, os.Rename(path, path+".old")) })
		need.Must(t, db.Callback().Raw().Before("gorm:raw").Register("test:move", func(tx *gorm.DB) {
			if strings.HasPrefix(tx.Statement.SQL.String(), "UPDATE") {
				move()
			}
		}))
		w := acquire(0, "b", false)
		w.Change = change
		done, err := rows.Swap(t.Context(), "a", w)
		if done || err == nil || !strings.Contains(err.Error(), "moved, removed or replaced while it was open: there is no "+path) {
			t.Errorf("%d: %t, %v; want that the file was replaced", change, done, err)
		}
		need.Must(t, os.Rename(path+".old", path))
	}
}

func testRestored(t *testing.T, driver, mode string, order []string, pause time.Duration) {
	path := filepath.Join(t.TempDir(), "ids 100%20?.db")
	var reads atomic.Int64 // of rows by the first generator, as other processes see them
	db := openHooked(t, driver, path, mode, func() { reads.Add(1) })
	need.Must(t, worker.NewStore(db, worker.StoreConfig{}).EnsureSchema(t.Context()))
	need.Must(t, db.Exec("VACUUM INTO ?", path+".backup").Error) // before any number is given
	var out logged.Text
	config := lease.Config{Expiry: 400 * time.Millisecond, Logger: out.Logger()}
	start := func(db *gorm.DB) (gen *uid.Cached) {
		var err error
		servertest.Eventually(t, "a generator starts", func() bool {
			gen, err = uid.NewCached(t.Context(), worker.NewLeaser(db, config), uid.CachedConfig{Logger: silent})
			return err == nil
		})
		t.Cleanup(func() { _ = gen.Close() })
		return gen
	}
	gen := start(db)
	t.Cleanup(func() { t.Logf("the last error is %v; logged %s", gen.Stats().Clock.LeaseError, &out) }) // if it failed
	for i, step := range order {
		if i > 0 {
			time.Sleep(pause)
		}
		need.Must(t, steps[step](path))
	}
	if !slices.Contains(order, "mv backup") { // others make a new file
		start(openSQLite(t, driver, path, mode))
	}
	// What others do before the generator has looked at the file after the last step, it may take for a part of the restore.
	before, told := reads.Load(), false
	renewed := func() bool { return gen.Stats().Clock.LeaseError == nil && reads.Load() > before+1 }
	servertest.Eventually(t, "the generator drops its number, and has one of the backup, or says what to do", func() bool {
		told = strings.Contains(fmt.Sprint(gen.Stats().Clock.LeaseError), "delete "+path+"-wal and "+path+"-shm")
		return out.Count("the number is lost") > 0 && (told || renewed())
	})
	if told { // as where it made them again after they were removed
		need.Must(t, steps["rm wal"](path))
		need.Must(t, steps["rm shm"](path))
		before = reads.Load()
		servertest.Eventually(t, "the generator has a number of the backup", renewed)
	}
	fresh := openSQLite(t, driver, path, mode)
	other := start(fresh)
	servertest.Eventually(t, "the two have numbers of their own", func() bool {
		a, b := gen.Stats().Clock, other.Stats().Clock
		return a.LeaseError == nil && b.LeaseError == nil && a.Worker != b.Worker
	})
	scan := func(query string, args ...any) (text string) {
		servertest.Eventually(t, "the file can be read", func() bool { return fresh.Raw(query, args...).Scan(&text).Error == nil })
		return text
	}
	if damage := scan("PRAGMA integrity_check"); damage != "ok" {
		t.Errorf("the restored file is damaged: %s", damage)
	}
	token := func() string {
		return scan("SELECT token FROM WORKER_LEASE WHERE worker_id = ?", gen.Stats().Clock.Worker)
	}
	was := token()
	servertest.Eventually(t, "its row in the backup is renewed", func() bool { now := token(); return was != "" && now != "" && now != was })
}
