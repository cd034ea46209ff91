package schema_test

import (
	"log/slog"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/schema"
	"github.com/uidring/uidring/internal/test/dbtest"
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

// The output runs in the database's own client, and its user can then do all that a service does, and
// create nothing.
func TestSchema(t *testing.T) {
	for _, kind := range dbtest.Kinds {
		t.Run(kind, func(t *testing.T) {
			owner, user := clitest.User(t, kind)
			clitest.Client(t, owner, uidring.Succeed(t, "schema", kind, "--user", user.User.Username()))
			clitest.Client(t, owner, uidring.Succeed(t, "schema", "--dsn", owner.String(), "--user", user.User.Username())) // once more: nothing changes
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
				need.Error(t, err, worker.ErrMixed) // for a table in other letters
				need.Must(t, db.Exec("DROP TABLE worker_lease").Error)
			}
			// A right that is missing has its GRANT in the error, as TestErrorsNameTheGrants of internal/test/edges has it for counters.
			need.Must(t, clitest.Open(t, owner.String()).Exec("REVOKE INSERT ON WORKER_LEASE FROM "+user.User.Username()).Error)
			_, err := uid.NewBackfill(t.Context(), lease.New(worker.NewStore(db, worker.StoreConfig{NoSchema: true}), lease.Config{Logger: quiet}), uid.BackfillConfig{}) // which takes no free row
			need.Error(t, err, nil, "GRANT SELECT, INSERT, UPDATE ON WORKER_LEASE")
		})
	}
}

func TestSchemaOf(t *testing.T) {
	out := uidring.Succeed(t, "schema", "postgres", "--table", "lease", "--prefix", "ids.Mine_", "--user", "orders")
	clitest.Wants(t, out, `EXISTS "ids"."mine_worker_lease" (`, `EXISTS "ids"."mine_worker_node" (`, "GRANT SELECT, INSERT, UPDATE ON ids.Mine_WORKER_LEASE TO orders;",
		"\nGRANT USAGE ON SCHEMA ids TO orders;", "-- GRANT CREATE ON SCHEMA ids TO orders;")
	if strings.Contains(out, "leaf_alloc") {
		t.Errorf("%s\nhas more than was asked for", out)
	}
	if out := uidring.Succeed(t, "schema", "postgres", "--table", "registry"); strings.Contains(out, "worker_lease") {
		t.Errorf("%s\nhas more than was asked for", out)
	}
	for _, args := range [][]string{{"oracle"}, {"redis"}, {"mysql", "--dsn", "app.db"}, {"mysql", "--table", "leaf_alloc"}, {"mysql", "--table", "lease=mine"}, {"mysql", "--prefix", "a b"}, {"postgres", "--user", ""}, {"mysql", "--user", " "}, {"--dsn", "redis://host"}} {
		if got := uidring.Invoke(t, "", append([]string{"schema"}, args...)...); args[0] == "redis" && !strings.Contains(got.Stderr, "uidringd schema redis (go install") || got.Code != 2 || got.Stdout != "" {
			t.Errorf("%q: %+v; want exit code 2", args, got)
		}
	}
}

// Each right is printed once, a schema's for tables of numbers and of counters alike. Rights to create
// are comments.
func TestSchemaGrants(t *testing.T) {
	for _, args := range [][]string{
		{"postgres", "--table", "lease,registry", "--prefix", "ids.", "--segments", "leaf_alloc=counters.leaf,sequence=counters.seq"},
		{"postgres", "--table", "registry", "--prefix", "ids.", "--segments", "sequence=counters.seq"},
		{"postgres", "--segments", "leaf_alloc=counters.leaf"},
		{"mysql"}, {"postgres"},
	} {
		out, seen := uidring.Succeed(t, append([]string{"schema"}, args...)...), map[string]int{}
		for line := range strings.Lines(out) {
			if line = strings.TrimSpace(line); strings.Contains(line, "GRANT ") {
				seen[line]++
			}
		}
		for line, n := range seen {
			if n > 1 || strings.HasPrefix(line, "GRANT") && strings.Contains(line, "CREATE") {
				t.Errorf("%q: %d times %s", args, n, line)
			}
		}
		for _, schema := range []string{"ids", "counters"} {
			use, create := "GRANT USAGE ON SCHEMA "+schema+" TO ids;", "-- GRANT CREATE ON SCHEMA "+schema+" TO ids;"
			if has := strings.Contains(strings.Join(args, " "), schema+"."); has != (seen[use] == 1) || has != (seen[create] == 1) {
				t.Errorf("%q: %q and %q are there %d and %d times: %s", args, use, create, seen[use], seen[create], out)
			}
		}
	}
}
