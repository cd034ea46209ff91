// Package dbtest has what the tests of several packages need of databases: each
// kind of database with a table of the test's own ([Each]), and connections that fail
// as a test wants ([Pool], [Link]). Only tests import it.
package dbtest

import (
	"crypto/rand"
	"database/sql/driver"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/need"
)

// Kinds are the kinds of database, as GORM's dialectors name them.
var Kinds = []string{"sqlite", "mysql", "postgres"}

// variables are the environment variables that have the servers' URLs.
var variables = map[string]string{"mysql": "UIDRING_TEST_MYSQL", "postgres": "UIDRING_TEST_POSTGRES"}

// Store is a database under test, and the name of a table for one test. The table does
// not exist at first. At the end of the test it is dropped.
type Store struct {
	Kind  string
	URL   string // for [Open]
	Table string
	DB    *gorm.DB
}

// Each runs test on every kind of database: on SQLite always, on a server if its variable
// is set.
func Each(t *testing.T, test func(t *testing.T, s *Store)) {
	for _, kind := range Kinds {
		t.Run(kind, func(t *testing.T) { test(t, New(t, kind)) })
	}
}

// New returns a store of a kind. If the machine has no such server, New skips the test. Commits
// to SQLite's file do not wait for the disk: tests kill processes, and cut no power.
func New(t testing.TB, kind string) *Store {
	t.Helper()
	url := filepath.Join(t.TempDir(), "worker.db") + "?_synchronous=0&_pragma=synchronous(0)" // each driver reads one
	if kind != "sqlite" {
		url = need.Variable(t, variables[kind])
	}
	return At(t, kind, url)
}

// At returns a store of one kind at a URL.
func At(t testing.TB, kind, url string) *Store {
	t.Helper()
	s := &Store{Kind: kind, URL: url, Table: "Uidring_Test_" + rand.Text()[:12]}
	s.DB = s.Open(t, url)
	t.Cleanup(func() { // before the handle is closed
		s.Exec(t, "DROP TABLE IF EXISTS %s", s.Table)
		if kind == "postgres" { // which a trigger of the table called
			s.Exec(t, "DROP FUNCTION IF EXISTS %s_no", s.Table)
		}
	})
	return s
}

// Parallel lets n parallel tests run at the same time, unless the command line has
// -parallel. By default go test runs one per processor, which is few for tests that mostly
// wait for servers. Call it in TestMain.
func Parallel(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(n))
	}
}

// Another returns another table in the same database.
func (s *Store) Another(t *testing.T) *Store {
	t.Helper()
	another := *s
	another.Table = "Uidring_Test_" + rand.Text()[:12]
	t.Cleanup(func() { another.Exec(t, "DROP TABLE IF EXISTS %s", another.Table) })
	return &another
}

// Open opens a handle that has its own connections. It is closed when the test ends.
func (s *Store) Open(t testing.TB, url string) *gorm.DB {
	t.Helper()
	db, err := Open(url)
	need.Must(t, err)
	t.Cleanup(func() {
		if err := Close(db); err != nil && !errors.Is(err, driver.ErrBadConn) { // the server has ended a connection that is closed
			t.Error(err)
		}
	})
	return db
}

// Reopen returns a handle on the same connections with another configuration.
// change may be nil.
func (s *Store) Reopen(t testing.TB, change func(gorm.Dialector) gorm.Dialector, config gorm.Config) *gorm.DB {
	t.Helper()
	dialector := s.DB.Dialector
	if change != nil {
		dialector = change(dialector)
	}
	config.DisableAutomaticPing = true // a transaction cannot be pinged
	if config.Logger == nil {
		config.Logger = s.DB.Logger
	}
	db, err := gorm.Open(dialector, &config)
	need.Must(t, err)
	return db
}

// Plain returns the URL without options: on SQLite the path of the file, whose commits wait
// for the disk.
func (s *Store) Plain() string {
	if s.Kind != "sqlite" {
		return s.URL
	}
	path, _, _ := strings.Cut(s.URL, "?")
	return path
}

// With returns the URL with one more option of the driver.
func (s *Store) With(option string) string {
	if strings.Contains(s.URL, "?") {
		return s.URL + "&" + option
	}
	return s.URL + "?" + option
}

// Waiting returns s on connections of SQLite that wait so long for another transaction, even
// if their context ends before. It returns s itself for servers.
func (s *Store) Waiting(t *testing.T, wait time.Duration) *Store {
	t.Helper()
	if s.Kind != "sqlite" {
		return s
	}
	waiting := *s
	waiting.URL = s.With(fmt.Sprintf("_busy_timeout=%d&_pragma=busy_timeout(%[1]d)", wait.Milliseconds())) // each driver reads one
	waiting.DB = s.Open(t, waiting.URL)
	return &waiting
}

// MariaDB reports whether a server of MySQL's kind is MariaDB.
func (s *Store) MariaDB(t testing.TB) bool {
	t.Helper()
	var version string
	need.Must(t, s.DB.Raw("SELECT VERSION()").Scan(&version).Error)
	return strings.Contains(version, "MariaDB")
}

// Exec executes a statement that must succeed.
func (s *Store) Exec(t testing.TB, format string, args ...any) {
	t.Helper()
	if err := s.DB.Exec(fmt.Sprintf(format, args...)).Error; err != nil {
		t.Fatalf("%s: %v", fmt.Sprintf(format, args...), err)
	}
}

// Dialector is a dialector of GORM with another name or pool.
type Dialector struct {
	gorm.Dialector
	As   string                            // if not empty, the name
	Pool func(gorm.ConnPool) gorm.ConnPool // if not nil, returns the pool that GORM uses in place of its own
}

// Name implements gorm.Dialector.
func (d Dialector) Name() string {
	if d.As != "" {
		return d.As
	}
	return d.Dialector.Name()
}

// Initialize implements gorm.Dialector.
func (d Dialector) Initialize(db *gorm.DB) error {
	err := d.Dialector.Initialize(db)
	if err == nil && d.Pool != nil {
		db.ConnPool = d.Pool(db.ConnPool)
	}
	return err
}
