package clitest

import (
	"crypto/rand"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// User makes a database, and a user who has no rights there. It returns the URLs of the database's owner and of the user. On
// SQLite both are a new file's.
func User(t testing.TB, kind string) (owner, user *url.URL) {
	t.Helper()
	if kind == "sqlite" {
		file := &url.URL{Scheme: "sqlite", Opaque: filepath.Join(t.TempDir(), "app.db")}
		return file, file
	}
	admin := Server(t, map[string]string{"mysql": "UIDRING_TEST_MYSQL", "postgres": "UIDRING_TEST_POSTGRES"}[kind])
	db, name := Open(t, admin.String()), "uidring_schema_"+strings.ToLower(rand.Text()[:8])
	create := map[string]string{"mysql": "CREATE USER " + name, "postgres": "CREATE ROLE " + name + " LOGIN"}[kind]
	need.Must(t, db.Exec("CREATE DATABASE "+name).Error)
	t.Cleanup(func() { need.Must(t, db.Exec("DROP USER "+name).Error) })
	t.Cleanup(func() { need.Must(t, db.Exec("DROP DATABASE "+name).Error) })
	need.Must(t, db.Exec(create).Error)
	as := func(who *url.Userinfo) *url.URL {
		at := *admin
		at.User, at.Path = who, "/"+name
		return &at
	}
	if kind == "postgres" { // before version 15, everyone may create tables
		need.Must(t, Open(t, as(admin.User).String()).Exec("REVOKE CREATE ON SCHEMA public FROM PUBLIC").Error)
	}
	return as(admin.User), as(url.User(name))
}

// Client runs statements in the database's own client, until the first error.
func Client(t testing.TB, at *url.URL, statements string) {
	t.Helper()
	name, args := "sqlite3", []string{"-bail", at.Opaque}
	switch at.Scheme {
	case "mysql":
		name, args = "mariadb", []string{"--protocol=tcp", "-h", at.Hostname(), "-P", at.Port(), "-u", at.User.Username(), strings.TrimPrefix(at.Path, "/")}
	case "postgres":
		name, args = "psql", []string{"-v", "ON_ERROR_STOP=1", at.String()}
	}
	cmd := exec.CommandContext(t.Context(), need.Program(t, name), args...)
	cmd.Stdin = strings.NewReader(statements)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}
