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
	command := d.Command
	d.Command = func(port string) *exec.Cmd {
		cmd := command(port)
		cmd.Args = append(cmd.Args, args...)
		return cmd
	}
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
	credential, err := giveAway(data)
	need.Must(t, err)
	as := func(name string, args ...string) *exec.Cmd {
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: credential}
		return cmd
	}
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
	host, port, err := net.SplitHostPort(server)
	need.Must(t, err)
	credential, err := giveAway(dir)
	need.Must(t, err)
	address, config := Addresses(t, 1)[0], filepath.Join(dir, "pgbouncer.ini")
	_, own, err := net.SplitHostPort(address)
	need.Must(t, err)
	need.Must(t, os.WriteFile(config, fmt.Appendf(nil, "[databases]\n* = host=%s port=%s user=postgres\n[pgbouncer]\nlisten_addr=127.0.0.1\nlisten_port=%s\n"+
		"unix_socket_dir=\nauth_type=any\npool_mode=transaction\ndefault_pool_size=1\n", host, port, own), 0o644))
	Program{func(string) *exec.Cmd {
		cmd := exec.Command(program, config)
		cmd.Dir, cmd.SysProcAttr = "/", &syscall.SysProcAttr{Credential: credential}
		return cmd
	}, syscall.SIGKILL, dial}.start(t, address)
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
	*Process
	Database
	Address string // each start has another, so that nobody else can have taken the port
}

// Start starts the server, also again after Kill. open returns nil if it can connect to a
// URL.
func (d Database) Start(t *testing.T, open func(url string) error) *Server {
	t.Helper()
	d.Ready = func(address string) error { return open(d.URL(address)) }
	address := Addresses(t, 1)[0]
	return &Server{d.start(t, address), d, address}
}

// giveAway makes a user other than root the owner of dir, since PostgreSQL refuses to run
// as root. It returns nil if this process is not root's.
func giveAway(dir string) (*syscall.Credential, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, err1 := strconv.ParseUint(u.Uid, 10, 32)
		gid, err2 := strconv.ParseUint(u.Gid, 10, 32)
		if err1 != nil || err2 != nil || uid == 0 {
			continue
		}
		// The user has to pass through the folders above, which are the test's own.
		for above := filepath.Dir(dir); above != filepath.Clean(os.TempDir()) && above != "/"; above = filepath.Dir(above) {
			if err := os.Chmod(above, 0o711); err != nil {
				return nil, err
			}
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, os.Chown(dir, int(uid), int(gid))
	}
	return nil, fmt.Errorf("there is no user to run PostgreSQL as")
}

func execute(t testing.TB, cmd *exec.Cmd) {
	t.Helper()
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", cmd.Path, err, output)
	}
}
