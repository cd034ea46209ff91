package database_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
)

// Errors name the database, and who named it.
func TestOpenUnavailable(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "text.db"), []byte(strings.Repeat("text", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.db"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ dsn, want string }{
		{filepath.Join(dir, "no/such.db"), `/no/such.db" (--dsn): there is no folder "`},
		{filepath.Join(dir, "text.db"), `/text.db" (--dsn): it is not an SQLite file`},
		{filepath.Join(dir, "folder.db"), `/folder.db" (--dsn): it is a folder`},
		{filepath.Join(dir, "text.db/x.db"), `/x.db" (--dsn): `},
		{"sqlite:" + filepath.ToSlash(dir) + "/x.db?mode=ro", `/x.db" (--dsn): `},
		{"mysql://root@127.0.0.1:1/test", "mysql://root@127.0.0.1:1/test (--dsn): "},
		{"postgres://postgres@127.0.0.1:1/test", "postgres://postgres@127.0.0.1:1/test (--dsn): "},
	} {
		db, err := open(t, tt.dsn)
		var usage *cli.UsageError
		if err == nil || db != nil || errors.As(err, &usage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Open(%q) = %v, %v; want %q", tt.dsn, db, err, tt.want)
		}
	}
}

// A file that cannot be opened is named, with the reason. SQLite itself would say "out
// of memory".
func TestOpenForbidden(t *testing.T) {
	t.Chdir(t.TempDir())
	listener, err := net.Listen("unix", "socket.db") // which root cannot open either
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	clitest.Open(t, "app.db").Exec("CREATE TABLE t (id INTEGER)")
	if err := os.Chmod("app.db", 0o400); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"socket.db": "open socket.db: ", "app.db": "permission denied"} {
		db, err := open(t, file)
		switch {
		case err == nil && file == "app.db" && os.Getuid() == 0: // root may do that
			db.Close()
		case err == nil || !strings.Contains(err.Error(), file+"\" (--dsn): ") || !strings.Contains(err.Error(), want):
			t.Errorf("%s: %v, want %q", file, err, want)
		}
	}
}

// Something that listens and never speaks is given up, in the time that the DSN says.
func TestOpenHangs(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	at := listener.Addr().String()
	for _, dsn := range []string{
		"mysql://root@" + at + "/test?timeout=200ms",
		"postgres://postgres@" + at + "/test?connect_timeout=1&sslmode=disable",
	} {
		_, err := open(t, dsn)
		if err == nil || !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "no answer within") {
			t.Errorf("%s: %v, want that there is no answer", dsn, err)
		}
		ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errors.New("the user left"))
		_, err = database.Place{DSN: strings.Split(dsn, "?")[0], Origin: "--dsn"}.Open(ctx)
		cancel()
		if err == nil || !strings.HasSuffix(err.Error(), "the user left") {
			t.Errorf("%s: %v, want the cause of the context", dsn, err)
		}
	}
}
