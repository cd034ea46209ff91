//go:build linux

package torture

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/uidring/uidring/internal/database"
)

// backend is a database under torture.
type backend struct {
	name    string
	direct  func() string // its URL for the parent
	server  *server       // nil for SQLite
	proxies []*proxy      // one for each seat; none for SQLite
	file    string        // of SQLite
}

// url is what the child of a seat opens.
func (b *backend) url(seat int) string {
	if b.server == nil {
		return b.direct()
	}
	return b.server.url(b.proxies[seat].address())
}

// backends are the databases by name. Each function skips the test where there is
// no such database.
var backends = []struct {
	name string
	open func(ctx context.Context, t *testing.T, dir string) *backend
}{
	{"sqlite", openSQLite},
	{"mariadb", openMariaDB},
	{"postgres", openPostgres},
}

// openSQLite has processes give up on a locked file sooner than they would by
// default, so that some are refused and not only held up.
func openSQLite(_ context.Context, _ *testing.T, dir string) *backend {
	file := filepath.Join(dir, "torture.db")
	url := "sqlite:" + (&url.URL{Path: file}).EscapedPath() + "?_busy_timeout=2000&_pragma=busy_timeout(2000)"
	return &backend{name: "sqlite", file: file, direct: func() string { return url }}
}

func openMariaDB(ctx context.Context, t *testing.T, dir string) *backend {
	install, err1 := find("mariadb-install-db", "mysql_install_db")
	daemon, err2 := find("mariadbd")
	skipWithout(t, err1, err2)
	me, err := user.Current()
	must(t, err)
	data := filepath.Join(dir, "data")
	execute(ctx, t, exec.CommandContext(ctx, install, "--no-defaults", "--datadir="+data, "--user="+me.Username,
		"--auth-root-authentication-method=normal", "--skip-test-db"))
	s := &server{
		end: syscall.SIGKILL,
		url: func(address string) string { return "mysql://root@" + address + "/torture" },
		command: func(port string) *exec.Cmd {
			return held(exec.Command(daemon, "--no-defaults", "--datadir="+data, "--user="+me.Username,
				"--bind-address=127.0.0.1", "--port="+port, "--socket="+filepath.Join(dir, "socket"), "--pid-file="+filepath.Join(dir, "pid"),
				"--skip-name-resolve", "--skip-log-bin", "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=1"), nil)
		},
	}
	must(t, os.Mkdir(filepath.Join(data, "torture"), 0o700)) // which makes a database
	return s.backend(ctx, t, "mariadb")
}

func openPostgres(ctx context.Context, t *testing.T, dir string) *backend {
	initdb, err1 := find("initdb")
	daemon, err2 := find("postgres")
	skipWithout(t, err1, err2)
	data := filepath.Join(dir, "data")
	must(t, os.Mkdir(data, 0o700))
	credential, err := hand(data)
	must(t, err)
	execute(ctx, t, held(exec.CommandContext(ctx, initdb, "--pgdata="+data, "--username=postgres", "--auth=trust", "--encoding=UTF8",
		"--no-locale", "--no-sync"), credential))
	s := &server{
		end: syscall.SIGQUIT,
		url: func(address string) string { return "postgres://postgres@" + address + "/postgres?sslmode=disable" },
		command: func(port string) *exec.Cmd {
			return held(exec.Command(daemon, "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1",
				"-c", "unix_socket_directories=", "-c", "shared_buffers=16MB", "-c", "max_connections=200"), credential)
		},
	}
	return s.backend(ctx, t, "postgres")
}

// backend starts the server, and the proxies to it.
func (s *server) backend(ctx context.Context, t *testing.T, name string) *backend {
	t.Cleanup(func() { s.stop(s.end) })
	must(t, s.start(ctx))
	b := &backend{name: name, server: s, direct: func() string { return s.url(s.address()) }}
	for range seats {
		p, err := newProxy(s.address)
		must(t, err)
		t.Cleanup(p.close)
		b.proxies = append(b.proxies, p)
	}
	return b
}

// held is a command that ends with the parent, and runs as somebody else if
// credential is not nil.
func held(cmd *exec.Cmd, credential *syscall.Credential) *exec.Cmd {
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: credential}
	return cmd
}

// execute runs a command to its end.
func execute(ctx context.Context, t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.WaitDelay = time.Second
	if said, err := cmd.CombinedOutput(); err != nil || ctx.Err() != nil {
		t.Fatalf("%s: %v, %v: %s", cmd.Path, err, ctx.Err(), said)
	}
}

func skipWithout(t *testing.T, faults ...error) {
	t.Helper()
	for _, err := range faults {
		if err != nil {
			t.Skip(err)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// connect connects to the database itself, past the proxies. A file may be locked
// by somebody else for a while.
func (b *backend) connect(ctx context.Context) (db *gorm.DB, err error) {
	for {
		if db, err = database.Open(b.direct()); err == nil || sleep(ctx, 50*time.Millisecond) != nil {
			return db, err
		}
	}
}

// statements runs SQL.
func (b *backend) statements(ctx context.Context, statements ...string) error {
	db, err := b.connect(ctx)
	if err != nil {
		return err
	}
	defer database.Close(db)
	for _, statement := range statements {
		if err := db.WithContext(ctx).Exec(statement).Error; err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
