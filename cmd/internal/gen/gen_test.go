package gen_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/goleak"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/gen"
	"github.com/uidring/uidring/cmd/internal/workers"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// uidring is the command under test.
var uidring = clitest.Of(clitest.SQL(gen.New), clitest.SQL(workers.New))

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestGenCounts(t *testing.T) {
	clitest.Elsewhere(t)
	for _, tt := range []struct {
		args string
		want int
	}{
		{"gen", 1},
		{"gen -n 0", 0},
		{"gen --count 1023", 1023},
		{"gen -n 1025 --generator default", 1025},
		{"gen -n 200000 --padding-factor 1 --boost-power 1", 200000},   // more than the ring holds
		{"gen -n 20 --layout 33/20/0 --max-borrow -1s --dsn a.db", 20}, // an id a tick
		{"gen -n 20 --layout 40/20/1,unit=1ms --generator default --dsn b.db", 20},
		{"gen -n 20 --layout 40/20/1,unit=1ms --max-borrow 0 --dsn b.db", 20},
		{"gen -n 5000 --layout snowflake --worker static:1023", 5000},
	} {
		ids := clitest.ReadIDs(t, uidring.Succeed(t, strings.Fields(tt.args)...))
		if len(ids) != tt.want {
			t.Errorf("%s: %d ids, want %d", tt.args, len(ids), tt.want)
		}
		for i := 1; i < len(ids); i++ {
			if ids[i] <= ids[i-1] {
				t.Fatalf("%s: id %d is %d, after %d", tt.args, i, ids[i], ids[i-1])
			}
		}
	}
}

func TestGenDSN(t *testing.T) {
	clitest.Elsewhere(t)
	uidring.Succeed(t, "gen", "--worker", "registry", "--dsn", "flag.db")
	uidring.Succeed(t, "gen", "--worker", "registry", "--dsn", "sqlite:url.db")
	t.Setenv(database.Variable, "variable.db")
	uidring.Succeed(t, "gen", "--worker", "registry")
	uidring.Succeed(t, "gen", "--worker", "registry", "--dsn", "flag.db")
	uidring.Succeed(t, "gen", "--worker", "static:1") // what the variable says is not in the way
	for file, starts := range map[string]int{"flag.db": 2, "url.db": 1, "variable.db": 1} {
		if list := uidring.Workers(t, file); len(list.Workers) != starts {
			t.Errorf("%s: %d starts, want %d", file, len(list.Workers), starts)
		}
	}

	t.Setenv(database.Variable, "oracle://root:hush@db/app")
	if said := uidring.Fail(t, 2, "$"+database.Variable+": ", "gen"); strings.Contains(said, "hush") {
		t.Error(said)
	}
}

func TestGenJSON(t *testing.T) {
	for _, layout := range []string{"registry", "snowflake", "31/20/12", "40/10/12,epoch=2026-01-01T00:00:00.0005Z,unit=100us"} {
		a := clitest.Allocator(t, layout)
		out := uidring.Succeed(t, "gen", "-n", "5000", "--json", "--layout", layout, "--worker", "static:9")
		lines := 0
		for line := range strings.Lines(out) {
			lines++
			got := clitest.Decode[clitest.ParsedJSON](t, line)
			parts, err := a.Parse(got.ID)
			if want := (clitest.ParsedJSON{ID: got.ID, Time: parts.Time, Worker: 9, Sequence: parts.Sequence, Layout: a.Layout().String()}); err != nil || got != want {
				t.Fatalf("%s: %s = %+v, want %+v, %v", layout, line, got, want, err)
			}
		}
		if lines != 5000 {
			t.Errorf("%s: %d lines, want 5000", layout, lines)
		}
	}
}

// The layout's end is met in the middle of a stream: the ids until then are good.
func TestGenRunsOut(t *testing.T) {
	epoch := time.Now().UTC().Add(-2 * time.Hour).Format(time.RFC3339)
	got := uidring.Invoke(t, "", "gen", "-n", "1000", "--worker", "static:0", "--max-borrow", "-1s",
		"--layout", "9/0/0,unit=1h,epoch="+epoch)
	ids := clitest.ReadIDs(t, got.Stdout)
	if n := len(ids); got.Code != 1 || n < 500 || n > 510 || ids[n-1] != 511 {
		t.Errorf("exit code %d, %d ids, want 1 and those up to 511", got.Code, n)
	}
	if !strings.Contains(got.Stderr, "uidring: layout has run out of time") {
		t.Errorf("%q", got.Stderr)
	}
}

// forbidden is a store that nobody may read.
type forbidden struct{ leasestore.Store }

func (forbidden) String() string { return "memory" }

func (forbidden) SwapLayout(context.Context, string, leasestore.Terms) (string, error) {
	return "", errors.New("no rights")
}

func (forbidden) Look(context.Context, leasestore.Range, bool, time.Duration) (leasestore.View, error) {
	return leasestore.View{}, errors.New("no rights")
}

// Without --layout, gen follows what the database remembers, and decides nothing about ids whose layout nobody recorded.
func TestGenFollows(t *testing.T) {
	clitest.Elsewhere(t)
	uidring.Succeed(t, "gen", "--layout", "31/20/12", "--dsn", "app.db")
	for _, worker := range []string{"lease", "registry"} {
		for _, generator := range []string{"cached", "default"} {
			out := uidring.Succeed(t, "gen", "--json", "--dsn", "app.db", "--worker", worker, "--generator", generator)
			if got := clitest.Decode[clitest.ParsedJSON](t, out); got.Layout != "31/20/12,epoch=2026-01-01,unit=1s" {
				t.Errorf("%s, %s: %+v, want the layout of the database", worker, generator, got)
			}
		}
	}
	java := clitest.Open(t, "java.db")
	nodes := worker.NewRegistry(java.DB, worker.RegistryConfig{})
	need.Must(t, nodes.EnsureSchema(t.Context()))
	need.Must(t, java.Exec("INSERT INTO WORKER_NODE (HOST_NAME, PORT, TYPE, LAUNCH_DATE, MODIFIED, CREATED) VALUES ('java', '1', 2, CURRENT_DATE, CURRENT_TIMESTAMP, CURRENT_TIMESTAMP)").Error)
	for _, kind := range []string{"lease", "registry"} {
		clitest.Wants(t, uidring.Fail(t, 1, "java.db", "gen", "--dsn", "java.db", "--worker", kind),
			"no record of the layout of their ids: give --layout. With another layout than theirs, ids can repeat.", "docs/migrating.md")
	}
	if rows, err := nodes.Nodes(t.Context(), 0); err != nil || len(rows) != 1 {
		t.Errorf("%v, %v; want that nothing was written", rows, err)
	}
	uidring.Succeed(t, "gen", "--dsn", "java.db", "--layout", "registry", "--worker", "registry")
}

// A start that gets no worker number closes its connection.
func TestGenDisconnects(t *testing.T) {
	opened, closed := 0, 0
	stores := database.Stores{"memory": func(string) (*database.Store, error) {
		connect := func(context.Context) (leasestore.Store, func() error, error) {
			opened++
			return forbidden{}, func() error { closed++; return nil }, nil
		}
		return &database.Store{Name: "memory", Timeout: time.Minute, Open: connect}, nil
	}}
	uidring := clitest.Of(func() *cobra.Command { return gen.New(stores) })
	for i, args := range []string{"gen --dsn memory://a", "gen --dsn memory://a --layout fleet"} {
		got := uidring.Invoke(t, "", strings.Fields(args)...)
		if got.Code != 1 || !strings.Contains(got.Stderr, "no rights") || opened != i+1 || closed != i+1 {
			t.Errorf("%s: %+v; %d connections were opened and %d closed, want %d", args, got, opened, closed, i+1)
		}
	}
}

// A start says which number, source and layout it has, and the first one on a database that it is, and where.
func TestGenCreates(t *testing.T) {
	dir := clitest.Elsewhere(t)
	for _, tt := range []struct{ source, table, layout string }{{"registry", "table WORKER_NODE", "28/22/13"}, {"lease", "tables WORKER_NODE and WORKER_LEASE", "31/16/16"}} {
		got := uidring.Invoke(t, "", "gen", "--worker", tt.source, "--dsn", tt.source+".db")
		want := "uidring: created the " + tt.table + " in SQLite file \"" + dir + "/" + tt.source + ".db\"\n"
		start := "uidring: worker number %d (--worker " + tt.source + " in SQLite file \"" + dir + "/" + tt.source + ".db\"), layout " + tt.layout + ",epoch=2026-01-01,unit=1s (%s)\n"
		want += fmt.Sprintf(start, 1, "the default")
		if got.Code != 0 || got.Stderr != want {
			t.Errorf("%+v, want %s", got, want)
		}
		if got := uidring.Invoke(t, "", "gen", "--worker", tt.source, "--dsn", tt.source+".db"); got.Code != 0 || got.Stderr != fmt.Sprintf(start, map[string]int{"registry": 2, "lease": 1}[tt.source], "which the database remembers") {
			t.Errorf("again: %+v, want what it used", got)
		}
	}
}
