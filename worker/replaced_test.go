package worker_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

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
				s := &store{dbtest.New(t, "sqlite"), leaser}
				s.Exec(t, "PRAGMA journal_mode = %s", mode)
				s.create(t)
				path, _, _ := strings.Cut(s.URL, "?")
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
				if row, ok := (&store{&dbtest.Store{Kind: s.Kind, URL: s.URL, DB: db, Table: s.Table}, leaser}).row(t, again.Number); !ok || row.Token == "" {
					t.Errorf("%v is not in the new file", again)
				}
				if out.Count("level=WARN", "the number is lost") == 0 {
					t.Errorf("logged %s", &out)
				}
				_ = h.Release(context.Background(), time.Now())
			})
		}
	}
}

// A file that cannot be read in place of the database is an outage.
func TestFileUnreadable(t *testing.T) {
	t.Parallel()
	s := &store{dbtest.New(t, "sqlite"), leaser}
	h := holdertest.Take(t, s.leaser(s.DB, quickly, quiet), max22)
	need.Must(t, os.WriteFile(s.URL+".other", []byte("not a database"), 0o600))
	for _, step := range [][2]string{{s.URL, s.URL + ".real"}, {s.URL + ".other", s.URL}} {
		need.Must(t, os.Rename(step[0], step[1]))
	}
	told := h.Await(t, "it is told", func(g lease.Grant) bool { return g.Err != nil })
	if !told.Held || !strings.Contains(told.Err.Error(), "open "+s.URL+" anew: ") {
		t.Errorf("%v; want that the file cannot be opened", told)
	}
	need.Must(t, os.Rename(s.URL+".real", s.URL))
	h.Await(t, "it is renewed", func(g lease.Grant) bool { return g.Until.After(told.Until) && g.Err == nil })
	h.Kept(t)
}

// A number that is taken over in a file that was replaced is not held.
func TestTakenInReplacedFile(t *testing.T) {
	s := &store{dbtest.New(t, "sqlite"), leaser}
	s.Exec(t, "PRAGMA journal_mode = wal") // otherwise SQLite notices when it writes
	rows := s.leaser(s.DB)
	need.Must(t, rows.Prepare(t.Context(), slog.New(slog.DiscardHandler)))
	if _, done, err := rows.Insert(t.Context(), acquire(0, "a", true)); !done || err != nil {
		t.Fatalf("%t, %v", done, err)
	}
	need.Must(t, os.Rename(s.URL, s.URL+".old"))
	done, err := rows.Swap(t.Context(), "a", acquire(0, "b", false))
	if done || err == nil || !strings.Contains(err.Error(), "moved, removed or replaced while it was open: "+s.URL) {
		t.Errorf("%t, %v; want that the file was replaced", done, err)
	}
	need.Must(t, os.Rename(s.URL+".old", s.URL))
}
