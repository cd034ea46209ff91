package database_test

import (
	"context"
	"database/sql"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/internal/test/need"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, dsn string) (*database.Opened, error) {
	return database.DSN{Text: dsn, Origin: "--dsn"}.Open(t.Context())
}

func TestOpenSQLite(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	slashed := filepath.ToSlash(dir)
	for _, tt := range []struct{ dsn, file string }{
		{"plain.db", "plain.db"},
		{"./dotted.sqlite3", "dotted.sqlite3"},
		{filepath.Join(dir, "absolute.DB"), "absolute.DB"},
		{"as it%20stands?.db", "as it%20stands?.db"},
		{"sqlite:relative", "relative"},
		{"SQLite:upper.db", "upper.db"},
		{"sqlite3:three.db", "three.db"},
		{"file:gorm.db", "gorm.db"},
		{"file:gorm?cache=private", "gorm"},
		{"sqlite:" + slashed + "/one.db", "one.db"},
		{"sqlite://" + slashed + "/two.db", "two.db"},
		{"sqlite:a%20b%3F%25%23.db", "a b?%#.db"},
		{"sqlite:" + slashed + "/c%20d%3F%25%23.db", "c d?%#.db"},
		{"sqlite:///" + slashed + "//many.db", "many.db"},
		{"sqlite:options.db?_txlock=deferred", "options.db"},
		{"relative", "relative"}, // is an SQLite file by now
	} {
		t.Run(tt.dsn, func(t *testing.T) {
			db := clitest.Open(t, tt.dsn)
			if err := db.Exec("CREATE TABLE t (id INTEGER)").Error; err != nil && tt.dsn != tt.file {
				t.Error(err)
			}
			var wait int
			if err := db.Raw("PRAGMA busy_timeout").Scan(&wait).Error; err != nil || wait != 10000 {
				t.Errorf("busy timeout %d, %v; want 10000", wait, err)
			}
			if _, err := os.Stat(filepath.Join(dir, tt.file)); err != nil {
				t.Error(err)
			}
		})
	}
}

// Sixteen connections that were used at the same time are kept.
func TestIdleConnectionsAreKept(t *testing.T) {
	pool, err := clitest.Open(t, filepath.Join(t.TempDir(), "idle.db")).DB.DB()
	need.Must(t, err)
	var used []*sql.Conn
	for range 16 {
		conn, err := pool.Conn(t.Context())
		need.Must(t, err)
		used = append(used, conn)
	}
	for _, conn := range used {
		need.Must(t, conn.Close())
	}
	if s := pool.Stats(); s.Idle != 16 {
		t.Errorf("%d idle connections, want 16", s.Idle)
	}
}

// Each form of a server's DSN leads to the server.
func TestOpenServers(t *testing.T) {
	t.Chdir(t.TempDir())
	mysql, postgres := clitest.Server(t, "UIDRING_TEST_MYSQL"), clitest.Server(t, "UIDRING_TEST_POSTGRES")
	for _, dsn := range []string{
		mysql.String(),
		strings.Replace(mysql.String(), "mysql:", "MariaDB:", 1),
		mysql.User.String() + "@tcp(" + mysql.Host + ")" + mysql.Path + "?charset=utf8mb4",
	} {
		db := clitest.Open(t, dsn)
		var zone string
		if err := db.Raw("SELECT @@time_zone").Scan(&zone).Error; err != nil || zone != "+00:00" || db.DB.Name() != "mysql" {
			t.Errorf("%s: %s, time zone %q, %v; want +00:00", dsn, db.DB.Name(), zone, err)
		}
	}
	password, _ := postgres.User.Password()
	for _, dsn := range []string{
		postgres.String(),
		strings.Replace(postgres.String(), "postgres:", "postgresql:", 1),
		"host=" + postgres.Hostname() + " port=" + postgres.Port() + " user=" + postgres.User.Username() + " password='" + password + "' dbname=" + postgres.Path[1:],
	} {
		db := clitest.Open(t, dsn)
		if db.DB.Name() != "postgres" || !strings.HasPrefix(db.Name, "postgres://"+postgres.User.Username()+"@"+postgres.Host) {
			t.Errorf("%s: %s %s", dsn, db.DB.Name(), db.Name)
		}
	}
	if files, err := os.ReadDir("."); err != nil || len(files) > 0 {
		t.Errorf("files %v, %v were left", files, err)
	}
}

// refused fails the test unless a DSN's error has a text and shows no password, such as sec ret.
func refused(t *testing.T, dsn, want string, usage bool) {
	t.Helper()
	db, err := open(t, dsn)
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Open(%q): %v, want %q", dsn, err, want)
		return
	}
	if _, is := errors.AsType[*cli.UsageError](err); db != nil || is != usage || strings.HasPrefix(err.Error(), "--dsn: ") != usage {
		t.Errorf("Open(%q) = %v, %v; want that it is wrong use: %t", dsn, db, err, usage)
	}
	if shown := strings.ReplaceAll(err.Error(), "secure", ""); strings.Contains(shown, "sec") || strings.Contains(shown, "ret") {
		t.Errorf("Open(%q): the error shows the password: %v", dsn, err)
	}
}

// What cannot be understood is wrong use, says so, and leaves no file.
func TestBadDSN(t *testing.T) {
	t.Chdir(t.TempDir())
	need.Must(t, os.WriteFile("notes", []byte("text"), 0o600))
	const encode = "must be percent-encoded"
	for _, tt := range []struct{ dsn, want string }{
		{"", "it is empty; want an SQLite file such as app.db"},
		{"etcds://h", `unknown scheme "etcds"; want an SQLite file`},
		{"ETCD://h", "etcd:// names a store for uidringd"},
		{"oracle://root:secret@h/db", `unknown scheme "oracle"; want an SQLite file`},
		{"127.0.0.1:3306", `"127.0.0.1:3306" is not an SQLite file`},
		{"data/app.bd", `"data/app.bd" is not an SQLite file`},
		{"notes", `"notes" is not an SQLite file`},
		{"localhost:3306/app", "neither an SQLite file"},
		{":memory:", "in-memory"},
		{"sqlite::memory:", "in-memory"},
		{"file:x.db?mode=memory", "in-memory"},
		{"file:x?cache=shared&mode=memory", "in-memory"},
		{"sqlite:", "path is missing"},
		{"sqlite:a#b.db", "%23"},
		{"sqlite:a%zz.db", "written %25"},
		{"sqlite:a.db?x=%zz", "options"},
		{"mysql://u:p@h:port/db", "does not parse"},
		{"mysql://root:sec ret@word:1/test", "does not parse"},
		{"mysql://root:sec#ret@word:1/test", "does not parse"},
		{"mysql://root:x@sec/ret@127.0.0.1:1/test", encode}, // the host would be sec
		{"mariadb://root:x@sec?ret@127.0.0.1:1/test", encode},
		{"mysql://root:x@sec#ret@127.0.0.1:1/test", encode},
		{"mysql://root:1/sec?ret@127.0.0.1:1/test", encode},
		{"MariaDB://root:sec/ret@word:1/test", encode},
		{"postgres://root:sec/ret@127.0.0.1:1/test", encode},
		{"postgres://root:sec@ret@127.0.0.1:1/test", encode},
		{"postgres://root:x@sec/ret@127.0.0.1:1/test", encode},
		{"postgresql://root:x@sec?ret=@127.0.0.1:1/test", encode},
		{"postgres://root:x@sec#ret@127.0.0.1:1/test", encode},
		{"postgres://root:sec%zzret@127.0.0.1:1/test", "PostgreSQL DSN"},
		{"mysql://u:p@h/", "names no database"},
		{"root@tcp(h)/", "names no database"},
		{"mysql://u:p@h:99999/db", "the port is 99999, want 1 to 65535"},
		{"mariadb://u:p@h:0/db", "the port is 0, want 1 to 65535"},
		{"root@tcp(h:65536)/db", "the port is 65536, want 1 to 65535"},
		{"root@tcp([::1]:x)/db", "the port is not a number, want 1 to 65535"},
		{"postgres://u:p@h:99999/db", "the port is 99999, want 1 to 65535"},
		{"host=h port=65536 user=u dbname=db", "port"},
		{"mysql://u:p@h/db?parseTime=perhaps", "invalid bool value: perhaps"},
		{"mysql://root:sec%27ret%20word@h/test?tls=perhaps", "MySQL URL"},
		{"mysql://root:sec%27ret@h/a/b@tcp(c/d", encode},
		{"postgres://root:sec%27ret%20word@h/test?sslmode=perhaps", "sslmode"},
		{"postgres://root:sec%27ret%20word@h/test?connect_timeout=perhaps", "connect_timeout"},
		{"host=h user=u sslmode=perhaps", "sslmode"},
		{"host=127.0.0.1 port=1 user=root password=sec ret dbname=test", "PostgreSQL DSN"},
		{"app_user:sec'ret@tcp(127.0.0.1:1)/test?tls=perhaps", "the MySQL DSN does not parse"},
		{"root:secret@h/test", "neither an SQLite file"},
		{"root:secret@h/test.db", "neither an SQLite file"},
		{"root:secret@localhost", "neither an SQLite file"},
		{"localhost user=root passwd=secret", "PostgreSQL DSN"},
		{"Server=localhost;Password=secret", "neither an SQLite file"},
	} {
		refused(t, tt.dsn, tt.want, true)
	}
	if files, err := os.ReadDir("."); err != nil || len(files) != 1 {
		t.Errorf("files %v, %v; want no more than there were", files, err)
	}
}

// Errors name the database, and who named it.
func TestOpenUnavailable(t *testing.T) {
	dir := t.TempDir()
	need.Must(t, os.WriteFile(filepath.Join(dir, "text.db"), []byte(strings.Repeat("text", 100)), 0o600))
	need.Must(t, os.Mkdir(filepath.Join(dir, "folder.db"), 0o700))
	const mysql, postgres = "mysql://root@127.0.0.1:1/test (--dsn): ", "postgres://root@127.0.0.1:1/test (--dsn): "
	for dsn, want := range map[string]string{
		filepath.Join(dir, "no/such.db"):                              `/no/such.db" (--dsn): there is no folder "`,
		filepath.Join(dir, "text.db"):                                 `/text.db" (--dsn): it is not an SQLite file`,
		filepath.Join(dir, "folder.db"):                               `/folder.db" (--dsn): its mode is drwx`,
		filepath.Join(dir, "text.db/x.db"):                            `/x.db" (--dsn): `,
		"sqlite:" + filepath.ToSlash(dir) + "/x.db?mode=ro":           `/x.db" (--dsn): `,
		"mysql://root:sec%27ret%20word@127.0.0.1:1/test":              mysql,
		"root:secret@tcp(127.0.0.1:1)/test":                           mysql,
		"postgres://root:sec%27ret%20word@127.0.0.1:1/test":           postgres,
		"postgres://root@127.0.0.1:1/test?password=sec%27ret%20word":  postgres,
		"host=127.0.0.1 port=1 user=root password=secret dbname=test": postgres,
	} {
		refused(t, dsn, want, false)
	}
}

// A file that cannot be opened is named, with the reason. SQLite itself would say "out
// of memory".
func TestOpenForbidden(t *testing.T) {
	t.Chdir(t.TempDir())
	listener, err := net.Listen("unix", "socket.db") // which root cannot open either
	need.Must(t, err)
	defer listener.Close()
	clitest.Open(t, "app.db").Exec("CREATE TABLE t (id INTEGER)")
	need.Must(t, os.Chmod("app.db", 0o400))
	for file, want := range map[string]string{"socket.db": "want a regular file", "app.db": "permission denied"} {
		db, err := open(t, file)
		if err == nil && file == "app.db" && os.Getuid() == 0 { // root may do that
			db.Close()
			continue
		}
		need.Error(t, err, nil, file+"\" (--dsn): ", want)
	}
}

// Something that listens and never speaks is given up, in the time that the DSN says.
func TestOpenHangs(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	need.Must(t, err)
	defer listener.Close()
	at := listener.Addr().String()
	for _, dsn := range []string{
		"mysql://root@" + at + "/test?timeout=200ms",
		"postgres://postgres@" + at + "/test?connect_timeout=1&sslmode=disable",
	} {
		_, err := open(t, dsn)
		need.Error(t, err, nil, at, "no answer within")
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("the user left"))
		_, err = database.DSN{Text: strings.Split(dsn, "?")[0], Origin: "--dsn"}.Open(ctx)
		cancel()
		if err == nil || !strings.HasSuffix(err.Error(), "the user left") {
			t.Errorf("%s: %v, want the cause of the context", dsn, err)
		}
	}
}
