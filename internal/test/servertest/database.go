//go:build linux

package servertest

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// Database is a database server. Its Ready is missing: servertest has no client.
type Database struct {
	Program
	URL func(address string) string // of the database, for dbtest.Open
}

// With returns the database with more arguments for the server.
func (d Database) With(args ...string) Database {
	d.Args = args
	return d
}

// MariaDB prepares a MariaDB in dir. It skips the test where there is none.
func MariaDB(t *testing.T, dir string) Database {
	t.Helper()
	install, daemon := Find(t, "mariadb-install-db", "mysql_install_db"), Find(t, "mariadbd")
	me, err := user.Current()
	need.Must(t, err)
	data := filepath.Join(dir, "data")
	// A MariaDB that starts deletes the temporary tables of all others in its tmpdir.
	common := []string{"--no-defaults", "--datadir=" + data, "--tmpdir=" + dir, "--user=" + me.Username}
	execute(t, exec.CommandContext(t.Context(), install, append(common, "--auth-root-authentication-method=normal", "--skip-test-db")...))
	need.Must(t, os.Mkdir(filepath.Join(data, "uidring"), 0o700)) // the folder is the database uidring
	command := func(port string) *exec.Cmd {
		return exec.Command(daemon, append(common, "--bind-address=127.0.0.1", "--port="+port,
			"--socket="+filepath.Join(dir, "socket"), "--pid-file="+filepath.Join(dir, "pid"),
			"--skip-name-resolve", "--skip-log-bin", "--innodb-buffer-pool-size=32M", "--innodb-flush-log-at-trx-commit=1")...)
	}
	url := func(address string) string { return "root@tcp(" + address + ")/uidring" }
	return Database{Program{Command: command, End: syscall.SIGKILL}, url}
}

// Postgres prepares a PostgreSQL in dir. It skips the test where there is none.
func Postgres(t *testing.T, dir string) Database {
	t.Helper()
	initdb, daemon := Find(t, "initdb"), Find(t, "postgres")
	data := filepath.Join(dir, "data")
	need.Must(t, os.Mkdir(data, 0o700))
	as := unprivileged(t, data)
	execute(t, as(initdb, "--pgdata="+data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-locale", "--no-sync"))
	command := func(port string) *exec.Cmd {
		return as(daemon, "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1",
			"-c", "unix_socket_directories=", "-c", "shared_buffers=16MB", "-c", "max_connections=200")
	}
	url := func(address string) string { return "postgres://postgres@" + address + "/postgres?sslmode=disable" }
	return Database{Program{Command: command, End: syscall.SIGQUIT}, url}
}

// PgBouncer starts a pooler in transaction mode, with one connection for each database, in front of a
// PostgreSQL where postgres is trusted, and returns its address. It skips the test where there is none.
func PgBouncer(t *testing.T, server string) string {
	t.Helper()
	program, dir := Find(t, "pgbouncer"), t.TempDir()
	host, behind, err := net.SplitHostPort(server)
	need.Must(t, err)
	address, config := Addresses(t, 1)[0], filepath.Join(dir, "pgbouncer.ini")
	need.Must(t, os.WriteFile(config, fmt.Appendf(nil, "[databases]\n* = host=%s port=%s user=postgres\n[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port=%s\n"+
		"unix_socket_dir=\nauth_type=any\npool_mode=transaction\ndefault_pool_size=1\n", host, behind, port(address)), 0o644))
	as := unprivileged(t, dir)
	Program{
		Command: func(string) *exec.Cmd { return as(program, config) },
		End:     syscall.SIGKILL,
		Ready:   dial,
	}.At(address).Restart(t)
	return address
}

// dial returns nil if a server accepts connections.
func dial(address string) error {
	conn, err := net.Dial("tcp", address)
	if err == nil {
		err = conn.Close()
	}
	return err
}

// Server is a [Database] that runs.
type Server struct {
	*Member
	Database
}

// Start starts the server, also again after Kill. open returns nil if it can connect to a
// URL.
func (d Database) Start(t *testing.T, open func(url string) error) *Server {
	t.Helper()
	d.Ready = func(address string) error { return open(d.URL(address)) }
	m := d.At(Addresses(t, 1)[0])
	m.Restart(t)
	return &Server{m, d}
}

// unprivileged makes a user other than root the owner of dir, since PostgreSQL refuses to run as
// root, and returns how to make commands of that user. If this process is not root's, they are its own.
func unprivileged(t testing.TB, dir string) func(name string, args ...string) *exec.Cmd {
	t.Helper()
	var credential *syscall.Credential
	if os.Getuid() == 0 {
		u, err := user.Lookup("postgres")
		if err != nil {
			u, err = user.Lookup("nobody")
		}
		need.Must(t, err)
		uid, err := strconv.ParseUint(u.Uid, 10, 32)
		need.Must(t, err)
		gid, err := strconv.ParseUint(u.Gid, 10, 32)
		need.Must(t, err)
		// The user has to pass through the folders above, which are the test's own.
		for above := filepath.Dir(dir); above != filepath.Clean(os.TempDir()) && above != "/"; above = filepath.Dir(above) {
			need.Must(t, os.Chmod(above, 0o711))
		}
		need.Must(t, os.Chown(dir, int(uid), int(gid)))
		credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: credential}
		return cmd
	}
}

func execute(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", cmd.Path, err, output)
	}
}
