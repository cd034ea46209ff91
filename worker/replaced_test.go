//go:build unix

package worker_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"log/slog"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/test/dbtest"
	"github.com/uidring/uidring/internal/test/logged"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker/internal/holdertest"
	"github.com/uidring/uidring/worker/lease"
)

// A file that is replaced under a live holder is noticed at the next renewal: the
// holder drops its number, and goes on with one from the file that is there.
func TestFileReplaced(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"wal", "delete"} {
		for name, replace := range map[string]func(path string) error{
			"moved":    func(path string) error { return os.Rename(path, path+".old") },
			"removed":  os.Remove,
			"restored": func(path string) error { return os.Rename(path+".backup", path) },
		} {
			t.Run(mode+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := newStore(t, "sqlite", leaser)
				s.Exec(t, "PRAGMA journal_mode = %s", mode)
				s.create(t)
				path := s.Plain()
				s.Exec(t, "VACUUM INTO '%s.backup'", path) // before any number is given
				var out logged.Text
				h := holdertest.Take(t, s.leaser(s.DB, quickly, logTo(out.Logger())), max22)
				need.Must(t, replace(path))
				for _, suffix := range []string{"-wal", "-shm"} {
					if err := os.Remove(path + suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
						t.Fatal(err)
					}
				}
				h.Await(t, "the loss is told", func(g lease.Grant) bool { return errors.Is(g.Err, lease.ErrRewound) })

				// Others start on the new file. What they get is theirs alone.
				db := s.Open(t, s.URL)
				other := holdertest.Take(t, s.leaser(db, quickly, logTo(out.Logger())), max22)
				lost := false
				again := h.Await(t, "the holder goes on", func(g lease.Grant) bool {
					lost = lost || !g.Held
					return lost && g.Held && g.Err == nil
				})
				until := again.Until
				h.Await(t, "it renews", func(g lease.Grant) bool { return g.Until.After(until) && g.Err == nil })
				if mine, his := h.Last(), other.Last(); mine.Number == his.Number {
					t.Errorf("%v, and %v", mine, his)
				}
				if row, ok := (&store{&dbtest.Store{Kind: s.Kind, URL: s.URL, DB: db, Table: s.Table}, leaser, s.prefix}).row(t, again.Number); !ok || row.Token == "" {
					t.Errorf("%v is not in the new file", again)
				}
				_ = h.Release(context.Background(), time.Now()) // which waits for the log
				if out.Count("level=WARN", "the number is lost") == 0 {
					t.Errorf("logged %s", &out)
				}
			})
		}
	}
}

// A file that cannot be read in place of the database is an outage.
func TestFileUnreadable(t *testing.T) {
	t.Parallel()
	s := newStore(t, "sqlite", leaser)
	h, path := holdertest.Take(t, s.leaser(s.DB, quickly, quiet), max22), s.Plain()
	need.Must(t, os.WriteFile(path+".other", []byte("not a database"), 0o600))
	for _, step := range [][2]string{{path, path + ".real"}, {path + ".other", path}} {
		need.Must(t, os.Rename(step[0], step[1]))
	}
	told := h.Await(t, "it is told", func(g lease.Grant) bool { return g.Err != nil })
	if !told.Held || !strings.Contains(told.Err.Error(), "not a database") {
		t.Errorf("%v; want that the file is not a database", told)
	}
	need.Must(t, os.Rename(path+".real", path))
	h.Await(t, "it is renewed", func(g lease.Grant) bool { return g.Until.After(told.Until) && g.Err == nil })
	h.Kept(t)
}

// A number that is taken over in a file that was replaced is not held.
func TestTakenInReplacedFile(t *testing.T) {
	s := newStore(t, "sqlite", leaser)
	s.Exec(t, "PRAGMA journal_mode = wal") // otherwise SQLite notices when it writes
	rows := s.leaser(s.DB)
	need.Must(t, rows.Prepare(t.Context(), slog.New(slog.DiscardHandler)))
	if _, done, err := rows.Insert(t.Context(), acquire(0, "a", true)); !done || err != nil {
		t.Fatalf("%t, %v", done, err)
	}
	need.Must(t, os.Rename(s.Plain(), s.Plain()+".old"))
	done, err := rows.Swap(t.Context(), "a", acquire(0, "b", false))
	if done || err == nil || !strings.Contains(err.Error(), "moved, removed or replaced while it was open: there is no "+s.Plain()) {
		t.Errorf("%t, %v; want that the file was replaced", done, err)
	}
	need.Must(t, os.Rename(s.Plain()+".old", s.Plain()))
}

// A number that was taken is kept though the file is locked when it is read by another connection.
func TestFileLocked(t *testing.T) {
	t.Parallel()
	s := newStore(t, "sqlite", leaser)
	s.Exec(t, "PRAGMA journal_mode = delete") // otherwise a lock stops no reader
	pool, err := s.Open(t, s.URL).DB()
	need.Must(t, err)
	other, err := pool.Conn(t.Context())
	need.Must(t, err)
	var opens atomic.Int64
	file := &opened{pool.Driver(), s.URL, func() {
		if opens.Add(1) == 2 { // the start has looked for the file, and then taken a number
			_, err := other.ExecContext(t.Context(), "BEGIN EXCLUSIVE")
			need.Must(t, err)
			time.AfterFunc(1500*time.Millisecond, func() { // longer than one try
				_, _ = other.ExecContext(context.Background(), "ROLLBACK")
				_ = other.Close()
			})
		}
	}}
	db := sql.OpenDB(file)
	t.Cleanup(func() { _ = db.Close() })
	h := holdertest.Take(t, s.leaser(s.Reopen(t, func(d gorm.Dialector) gorm.Dialector {
		return dbtest.Dialector{Dialector: d, Pool: func(gorm.ConnPool) gorm.ConnPool { return db }}
	}, gorm.Config{})), max22)
	if n := h.Last().Number; n != first || opens.Load() < 2 {
		t.Errorf("number %d, and the file was opened %d times; want the first number, after a lock", n, opens.Load())
	}
}

// opened is a driver and a connector whose file is opened by name after a call of before.
type opened struct {
	driver driver.Driver
	file   string
	before func()
}

func (o *opened) Connect(context.Context) (driver.Conn, error) { return o.driver.Open(o.file) }

func (o *opened) Driver() driver.Driver { return o }

func (o *opened) Open(name string) (driver.Conn, error) {
	o.before()
	return o.driver.Open(name)
}
