package database_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"github.com/uidring/uidring/internal/database"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestOpenSQLite(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	slashed := filepath.ToSlash(dir)
	for _, tt := range []struct{ url, file string }{
		{"plain.db", "plain.db"},
		{"./dotted", "dotted"},
		{filepath.Join(dir, "absolute.db"), "absolute.db"},
		{"as it%20stands?.db", "as it%20stands?.db"},
		{"sqlite:relative.db", "relative.db"},
		{"SQLite:upper.db", "upper.db"},
		{"sqlite3:three.db", "three.db"},
		{"sqlite:" + slashed + "/one.db", "one.db"},
		{"sqlite://" + slashed + "/two.db", "two.db"},
		{"sqlite:a%20b%3F%25%23.db", "a b?%#.db"},
		{"sqlite:" + slashed + "/c%20d%3F%25%23.db", "c d?%#.db"},
		{"sqlite:///" + slashed + "//many.db", "many.db"},
		{"sqlite:options.db?_txlock=deferred", "options.db"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			db, err := database.Open(tt.url)
			if err != nil {
				t.Fatal(err)
			}
			if err := db.Exec("CREATE TABLE t (id INTEGER)").Error; err != nil {
				t.Error(err)
			}
			var wait int
			if err := db.Raw("PRAGMA busy_timeout").Scan(&wait).Error; err != nil || wait != 10000 {
				t.Errorf("busy timeout %d, %v; want 10000", wait, err)
			}
			if err := database.Close(db); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(dir, tt.file)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestOpenSQLiteInMemory(t *testing.T) {
	for _, url := range []string{":memory:", "sqlite::memory:"} {
		db, err := database.Open(url)
		if err != nil {
			t.Fatal(err)
		}
		defer database.Close(db)
		if err := db.Exec("CREATE TABLE t (id INTEGER)").Error; err != nil {
			t.Fatal(err)
		}
		var group errgroup.Group
		for range 8 { // all connections see one database
			group.Go(func() error { return db.Exec("INSERT INTO t VALUES (1)").Error })
		}
		if err := group.Wait(); err != nil {
			t.Errorf("%s: %v", url, err)
		}
	}
}

// Writers with handles of their own wait for each other instead of failing,
// also when a transaction reads before it writes.
func TestSQLiteWritersQueue(t *testing.T) {
	url := filepath.Join(t.TempDir(), "busy.db")
	var group errgroup.Group
	for range 8 {
		group.Go(func() error {
			db, err := database.Open(url)
			if err != nil {
				return err
			}
			defer database.Close(db)
			if err := db.Exec("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY)").Error; err != nil {
				return err
			}
			for range 5 {
				tx := db.Begin()
				var n int64
				tx.Raw("SELECT COUNT(*) FROM t").Scan(&n)
				tx.Exec("INSERT INTO t VALUES (?)", n+1)
				if err := tx.Commit().Error; err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	db, err := database.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close(db)
	var n int64
	if err := db.Raw("SELECT COUNT(*) FROM t").Scan(&n).Error; err != nil || n != 40 {
		t.Errorf("%d rows, %v; want 40", n, err)
	}
}

func TestOpenServers(t *testing.T) {
	for _, tt := range []struct{ variable, name string }{
		{"UIDRING_TEST_MYSQL", "mysql"},
		{"UIDRING_TEST_POSTGRES", "postgres"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := os.Getenv(tt.variable)
			if url == "" {
				t.Skip(tt.variable + " is not set")
			}
			_, rest, _ := strings.Cut(url, ":")
			aliases := map[string][]string{"mysql": {"mysql", "mariadb"}, "postgres": {"postgres", "postgresql", "pgx"}}
			for _, scheme := range aliases[tt.name] {
				db, err := database.Open(scheme + ":" + rest)
				if err != nil {
					t.Fatal(err)
				}
				if db.Name() != tt.name {
					t.Errorf("%s: opened %s, want %s", scheme, db.Name(), tt.name)
				}
				if tt.name == "mysql" {
					var zone string
					if err := db.Raw("SELECT @@time_zone").Scan(&zone).Error; err != nil || zone != "+00:00" {
						t.Errorf("time zone %q, %v; want +00:00", zone, err)
					}
				}
				if err := database.Close(db); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestOpenBadURL(t *testing.T) {
	for _, tt := range []struct{ url, want string }{
		{"", "it is empty"},
		{"oracle://h/db", `unknown scheme "oracle"; want sqlite:`},
		{"my:file.db", `unknown scheme "my"`},
		{"sqlite:", "missing path"},
		{"sqlite:a#b.db", "%23"},
		{"sqlite:a%zz.db", "written %25"},
		{"mysql://u:p@h:port/db", "does not parse"},
		{"mysql+carrier://u:p@h/db", "transport"},
		{"mysql://u:p@h/db?parseTime=perhaps", "mysql://u@h/db: invalid bool value"},
		{"postgres://u:p@h/db?sslmode=perhaps", "postgres://u@h/db"},
	} {
		db, err := database.Open(tt.url)
		if db != nil || !errors.Is(err, database.ErrURL) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Open(%q) = %v, %v; want an ErrURL with %q", tt.url, db, err, tt.want)
		}
	}
}

func TestOpenAway(t *testing.T) {
	for _, url := range []string{
		"sqlite:" + filepath.ToSlash(t.TempDir()) + "/no/such/folder.db",
		"mysql://root@127.0.0.1:1/test",
		"postgres://postgres@127.0.0.1:1/test",
	} {
		db, err := database.Open(url)
		if err == nil || db != nil || errors.Is(err, database.ErrURL) {
			t.Errorf("Open(%q) = %v, %v; want the driver's error", url, db, err)
			continue
		}
		if !strings.Contains(err.Error(), "database: open "+url[:8]) {
			t.Errorf("%v: does not say what was opened", err)
		}
	}
}

func TestNoPasswordInErrors(t *testing.T) {
	for _, url := range []string{
		"mysql://root:sec%27ret%20word@127.0.0.1:1/test",
		"mysql://root:sec/ret@word:1/test",
		"mysql://root:sec ret@word:1/test",
		"mysql://root:sec#ret@word:1/test",
		"mysql://root:sec%27ret%20word@h/test?tls=perhaps",
		"mysql://root:sec%27ret@h/a/b@tcp(c/d",
		"postgres://root:sec%27ret%20word@127.0.0.1:1/test",
		"postgres://root:sec/ret@word:1/test",
		"postgres://root:sec%zzret@word:1/test",
		"postgres://root:sec%27ret%20word@h/test?sslmode=perhaps",
		"postgres://root:sec%27ret%20word@h/test?connect_timeout=perhaps",
		"postgres://root@127.0.0.1:1/test?password=sec%27ret%20word",
		"oracle://root:secret@h/test",
		"root:secret@tcp(h)/test",
	} {
		_, err := database.Open(url)
		if err == nil {
			t.Errorf("Open(%q): no error", url)
			continue
		}
		for _, part := range []string{"sec", "ret"} {
			if strings.Contains(err.Error(), part) {
				t.Errorf("Open(%q): the error shows the password: %v", url, err)
			}
		}
	}
}

func TestCloseNil(t *testing.T) {
	if err := database.Close(nil); err != nil {
		t.Error(err)
	}
}

func TestOpenExisting(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, url := range []string{"a.db", "sqlite:a.db", "sqlite3:a.db?_txlock=deferred", "sqlite::memory:"} {
		if db, err := database.OpenExisting(url); !errors.Is(err, database.ErrNoFile) {
			t.Errorf("%s: %v, %v; want that there is no such file", url, db, err)
		}
	}
	if entries, err := os.ReadDir("."); len(entries) != 0 || err != nil {
		t.Errorf("files %v, %v were left", entries, err)
	}
	db, err := database.Open("a.db")
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close(db)
	if err := db.Exec("CREATE TABLE x (y INT)").Error; err != nil {
		t.Fatal(err)
	}
	again, err := database.OpenExisting("sqlite:a.db")
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close(again)
	if err := again.Exec("SELECT y FROM x").Error; err != nil {
		t.Error(err)
	}
	if _, err := database.OpenExisting("oracle:x"); !errors.Is(err, database.ErrURL) {
		t.Errorf("oracle: %v", err)
	}
}
