package schema_test

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/schema"
	"github.com/uidring/uidring/internal/test/lifecycle"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmentsql"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
)

var uidring = clitest.Of(clitest.SQL(schema.New))

var quiet = slog.New(slog.DiscardHandler)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// client runs statements in the database's own client, until the first error.
func client(t *testing.T, at *url.URL, statements string) {
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

// The output runs in the database's own client, and its user can then do all that a service does, and
// create nothing.
func TestSchema(t *testing.T) {
	for kind, variable := range map[string]string{"mysql": "UIDRING_TEST_MYSQL", "postgres": "UIDRING_TEST_POSTGRES", "sqlite": ""} {
		t.Run(kind, func(t *testing.T) {
			owner := &url.URL{Scheme: "sqlite", Opaque: filepath.Join(t.TempDir(), "app.db")}
			user := owner
			if variable != "" {
				admin := clitest.Server(t, variable)
				db, name := clitest.Open(t, admin.String()), "uidring_schema_"+strings.ToLower(rand.Text()[:8])
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
				owner, user = as(admin.User), as(url.User(name))
			}
			client(t, owner, uidring.Succeed(t, "schema", kind, "--user", user.User.Username()))
			client(t, owner, uidring.Succeed(t, "schema", "--dsn", owner.String(), "--user", user.User.Username())) // once more: nothing changes
			db := clitest.Open(t, owner.String()).DB
			counters := segmentsql.NewSequence(db, segmentsql.Config{})
			need.Must(t, counters.Create(t.Context(), "orders", 1, 10))

			db = clitest.Open(t, user.String()).DB
			if err := db.Exec("CREATE TABLE more (id INT)").Error; err == nil && kind != "sqlite" {
				t.Error("the user may create tables")
			}
			lifecycle.Run(t, func(config lease.Config) *lease.Leaser {
				return lease.New(worker.NewStore(db, worker.StoreConfig{NoSchema: true}), config)
			})
			for range 2 {
				gen, err := uid.NewCached(t.Context(), worker.NewRegistry(db, worker.RegistryConfig{NoSchema: true, Logger: quiet}), uid.CachedConfig{Logger: quiet})
				need.Must(t, err)
				need.Must(t, gen.Close())
				orders, err := segment.New(t.Context(), segmentsql.NewSequence(db, segmentsql.Config{Logger: quiet}), "orders", segment.Config{Logger: quiet})
				need.Must(t, err)
				need.Must(t, orders.Close())
			}
			if kind == "sqlite" {
				return
			}
			if kind == "mysql" { // NoSchema leaves no check out
				db := clitest.Open(t, owner.String())
				need.Must(t, db.Exec("CREATE TABLE worker_lease (id INT)").Error)
				_, err := uid.NewCached(t.Context(), lease.New(worker.NewStore(db.DB, worker.StoreConfig{NoSchema: true}), lease.Config{Logger: quiet}), uid.CachedConfig{Logger: quiet})
				if !errors.Is(err, worker.ErrMixed) {
					t.Errorf("beside a table in other letters: %v, want ErrMixed", err)
				}
				need.Must(t, db.Exec("DROP TABLE worker_lease").Error)
			}
			// A right that is missing has its GRANT in the error.
			need.Must(t, clitest.Open(t, owner.String()).Exec("REVOKE INSERT ON WORKER_LEASE FROM "+user.User.Username()).Error)
			need.Must(t, clitest.Open(t, owner.String()).Exec("REVOKE UPDATE ON TABLE SEQUENCE FROM "+user.User.Username()).Error)
			_, err := uid.NewCached(t.Context(), lease.New(worker.NewStore(db, worker.StoreConfig{NoSchema: true}), lease.Config{Numbers: &lease.Range{From: 500, To: 600}, Logger: quiet}), uid.CachedConfig{Logger: quiet})
			wants(t, err, "GRANT SELECT, INSERT, UPDATE ON WORKER_LEASE")
			_, err = segment.New(t.Context(), segmentsql.NewSequence(db, segmentsql.Config{Logger: quiet}), "orders", segment.Config{Logger: quiet})
			wants(t, err, "GRANT SELECT, UPDATE ON TABLE SEQUENCE")
			wants(t, segmentsql.NewSequence(db, segmentsql.Config{Logger: quiet}).Create(t.Context(), "more", 1, 10), "one who creates counters INSERT too")
		})
	}
}

func wants(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v; want %q", err, text)
	}
}

func TestSchemaOf(t *testing.T) {
	out := uidring.Succeed(t, "schema", "postgres", "--table", "lease=ids.Mine", "--user", "orders")
	for _, want := range []string{`EXISTS "ids"."mine" (`, "GRANT SELECT, INSERT, UPDATE ON ids.Mine TO orders;", "\nGRANT USAGE ON SCHEMA ids TO orders;", "-- GRANT CREATE ON SCHEMA ids TO orders;"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s\nwants %q", out, want)
		}
	}
	if strings.Contains(strings.ToLower(out), "worker_node") || strings.Contains(out, "leaf_alloc") {
		t.Errorf("%s\nhas more than was asked for", out)
	}
	for _, args := range [][]string{{"oracle"}, {"redis"}, {"mysql", "--dsn", "app.db"}, {"mysql", "--table", "leaf_alloc"}, {"mysql", "--table", "lease=a b"}, {"--dsn", "redis://host"}} {
		if got := uidring.Invoke(t, "", append([]string{"schema"}, args...)...); args[0] == "redis" && !strings.Contains(got.Stderr, "uidringd schema redis (go install") || got.Code != 2 || got.Stdout != "" {
			t.Errorf("%q: %+v; want exit code 2", args, got)
		}
	}
}
