package workers_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"gorm.io/gorm"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/gen"
	"github.com/uidring/uidring/cmd/internal/workers"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/worker"
	"github.com/uidring/uidring/worker/lease"
	"github.com/uidring/uidring/worker/lease/leasestore"
)

// uidring is the command under test.
var uidring = clitest.Of(clitest.SQL(gen.New), clitest.SQL(workers.New))

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// register adds a row for each host to a database.
func register(t *testing.T, dsn string, hosts ...string) {
	t.Helper()
	db := clitest.Open(t, dsn)
	record(t, db.DB)
	for _, host := range hosts {
		node := lease.Node{Host: host, Port: "8080", Type: lease.NodeContainer}
		_, err := worker.NewRegistry(db.DB, worker.RegistryConfig{Node: node}).Assign(t.Context(), 1<<20)
		need.Must(t, err)
	}
}

// record has a database remember the layout fleet.
func record(t *testing.T, db *gorm.DB) {
	t.Helper()
	store := worker.NewStore(db, worker.StoreConfig{})
	need.Must(t, store.EnsureSchema(t.Context()))
	_, err := store.SwapLayout(t.Context(), "", leasestore.Terms{Layout: bits.Fleet().String()})
	need.Must(t, err)
}

// fillLeases fills WORKER_LEASE with a number for each state, from 1 on. Nobody is
// behind them: what is held is so for a minute.
func fillLeases(t *testing.T, dsn string, states ...lease.State) {
	t.Helper()
	db := clitest.Open(t, dsn)
	record(t, db.DB)
	node := lease.Node{Host: "bill\x1bing", Port: "80\x1b80", Type: lease.NodeContainer}
	var taken []lease.Lease
	for range states {
		held, err := worker.NewLeaser(db.DB, lease.Config{Node: node}).Lease(t.Context(), lease.Request{Limit: 1 << 20, Clock: time.Now, Granted: func(lease.Grant) {}})
		need.Must(t, err)
		taken = append(taken, held)
	}
	for _, held := range taken {
		need.Must(t, held.Release(t.Context(), time.Now()))
	}
	for number, state := range states {
		heartbeat := map[lease.State]string{lease.StateFree: "0", lease.StateHeld: "created", lease.StateExpired: "created - 3600000"}[state]
		need.Must(t, db.Exec(fmt.Sprintf("UPDATE WORKER_LEASE SET heartbeat_at = %s WHERE worker_id = %d", heartbeat, 1+number)).Error)
	}
}

func TestWorkersJSON(t *testing.T) {
	clitest.Elsewhere(t)
	register(t, database.Default, "one", "two", "three")
	for limit, want := range map[string]int{"0": 3, "1": 1, "2": 2, "20": 3} {
		list := clitest.Decode[workers.Listing](t, uidring.Succeed(t, "workers", "--json", "--limit", limit, "--layout", "long-lived", "--dsn", "sqlite:"+database.Default))
		if list.Last != 511 || list.Max != 8388607 || list.Left != 8388096 || !strings.HasPrefix(list.Layout, "31/23/9,") || len(list.Workers) != want {
			t.Fatalf("limit %s: %+v, want %d rows", limit, list, want)
		}
		for i, host := range []string{"three", "two", "one"}[:want] {
			row := list.Workers[i]
			if row.ID != int64(3-i) || row.HostName != host || row.Port != "8080" || row.Type != lease.NodeContainer || row.Created.IsZero() {
				t.Errorf("%+v", row)
			}
		}
	}
}

// Both tables are listed, one below the other.
func TestWorkersLeases(t *testing.T) {
	clitest.Elsewhere(t)
	fillLeases(t, database.Default, lease.StateHeld, lease.StateFree, lease.StateExpired)
	const leases = `LEASE  STATE    HOST           PROCESS     TYPE       RENEWED               RESERVED UNTIL
3      expired  "bill\x1bing"  "80\x1b80"  CONTAINER  2026-01-02T03:04:05Z  2026-01-02T03:04:05Z
2      free     "bill\x1bing"  "80\x1b80"  CONTAINER  -                     2026-01-02T03:04:05Z
1      held     "bill\x1bing"  "80\x1b80"  CONTAINER  2026-01-02T03:04:05Z  2026-01-02T03:04:05Z

%d numbers can be leased under 31/16/16,epoch=2026-01-01,unit=1s
`
	const node = `WORKER  HOST             PROCESS    TYPE       CREATED
5       "two\x1b[31m"    port 8080  CONTAINER  2026-01-02T03:04:05Z
4       one with blanks  port 8080  CONTAINER  2026-01-02T03:04:05Z

%d of the numbers 1 to 65535 are left under 31/16/16,epoch=2026-01-01,unit=1s
`
	instant := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	now := func(text string) string { return instant.ReplaceAllString(text, "2026-01-02T03:04:05Z") }
	const none = "WORKER  HOST  PROCESS  TYPE  CREATED\n\n65532 of the numbers 1 to 65535 are left under 31/16/16,epoch=2026-01-01,unit=1s\n\n"
	if got, want := now(uidring.Succeed(t, "workers")), none+fmt.Sprintf(leases, 65534); got != want {
		t.Errorf("leases alone:\n%s\nwant\n%s", got, want)
	}
	register(t, database.Default, "one with blanks", "two\x1b[31m")
	if got, want := now(uidring.Succeed(t, "workers")), fmt.Sprintf(node+"\n"+leases, 65530, 65532); got != want {
		t.Errorf("both:\n%s\nwant\n%s", got, want)
	}

	got := uidring.Succeed(t, "workers", "--limit", "1", "--layout", "31/1/9")
	clitest.Wants(t, got, "\n3      expired", "\n5       \"two", "\nno number is left under 31/1/9,", "\n0 numbers can be leased under 31/1/9,")
	if strings.Count(got, "CONTAINER") != 2 {
		t.Errorf("more than one row of a table:\n%s", got)
	}
}

// Numbers of the layout that the store remembers are counted, and none above a layout's greatest.
func TestWorkersOfLayout(t *testing.T) {
	clitest.Elsewhere(t)
	for _, worker := range []string{"lease", "registry"} {
		uidring.Succeed(t, "gen", "--layout", "long-lived", "--worker", worker, "--dsn", worker+".db")
		uidring.Show(t, " under 31/23/9,", "workers", "--dsn", worker+".db")
	}
	fillLeases(t, database.Default, lease.StateFree, lease.StateFree, lease.StateHeld, lease.StateHeld)
	for layout, wants := range map[string][]string{ // those that a change would leave, whatever is held now
		"31/1/9":     {"\n0 numbers can be leased under 31/1/9,", "\nchange the layout of WORKER_LEASE: no worker number of 31/1/9,"},
		"long-lived": {"\n8387968 numbers can be leased under 31/23/9,", "\nthe store remembers 31/16/16,", "after layout change --to 31/23/9,epoch=2026-01-01,unit=1s, ids have the numbers 640 to 8388607\n"},
	} {
		clitest.Wants(t, uidring.Succeed(t, "workers", "--layout", layout), wants...)
	}
}

// Two processes of one host differ by their ids, and a process of uid-generator has a time.
func TestWorkersPort(t *testing.T) {
	clitest.Elsewhere(t)
	node := lease.Node{Host: "laptop", Port: "1795281072196", Type: lease.NodeActual}
	db := clitest.Open(t, database.Default)
	_, err := worker.NewRegistry(db.DB, worker.RegistryConfig{Node: node}).Assign(t.Context(), 1<<20)
	need.Must(t, err)
	for _, worker := range []string{"registry", "lease"} {
		uidring.Succeed(t, "gen", "--worker", worker, "--layout", "registry") // as Java leaves the table, without a record
	}
	got, pid := uidring.Succeed(t, "workers"), fmt.Sprintf("  pid %d ", os.Getpid())
	if !strings.Contains(got, "laptop ") || !strings.Contains(got, "  started about 2026-11-21T17:11:12Z  ACTUAL") || strings.Count(got, pid) != 2 {
		t.Errorf("%s\nwant %q twice", got, pid)
	}
	list := uidring.Workers(t, database.Default)
	if list.Workers[0].PID != os.Getpid() || list.Workers[1].PID != 0 || list.Leases[0].PID != os.Getpid() {
		t.Errorf("%+v", list)
	}
}

// An empty table is not a missing one.
func TestWorkersNone(t *testing.T) {
	clitest.Elsewhere(t)
	db := clitest.Open(t, database.Default)
	need.Must(t, worker.NewRegistry(db.DB, worker.RegistryConfig{}).EnsureSchema(t.Context()))
	uidring.Fail(t, 1, "no generator has recorded a layout there yet; the first start, such as that of gen, records the layout that it states, else fleet (for a registry, registry). To go on without a record, give --layout", "workers")
	uidring.Show(t, "\n65535 of the numbers 1 to 65535 are left", "workers", "--layout", "fleet")
	clitest.Wants(t, uidring.Succeed(t, "workers", "--layout", "fleet", "--json"), `"last":0`, `"workers":[]`, `"leases_left":65535,"earlier":0,"leases":[]`)
	need.Must(t, worker.NewStore(db.DB, worker.StoreConfig{}).EnsureSchema(t.Context()))
	uidring.Show(t, "\n65535 numbers can be leased", "workers", "--layout", "fleet")
}

// workers reports why it cannot read a table; a missing table is not an error.
func TestWorkersForeignTable(t *testing.T) {
	for table, commands := range map[string][]string{"WORKER_NODE": {"workers"}, "WORKER_LEASE": {"workers", "workers release 1"}} {
		clitest.Elsewhere(t)
		need.Must(t, clitest.Open(t, database.Default).Exec("CREATE TABLE "+table+" (x INT)").Error)
		for _, args := range commands {
			if said := uidring.Fail(t, 1, table, strings.Fields(args)...); strings.Contains(said, "no worker") {
				t.Errorf("%s: %s", args, said)
			}
		}
	}
}

func TestRelease(t *testing.T) {
	clitest.Elsewhere(t)
	fillLeases(t, database.Default, lease.StateFree, lease.StateExpired, lease.StateHeld, lease.StateHeld)
	for _, tt := range []struct {
		args, stdout string
		stderr       []string
	}{
		{"1", "number 1 is free\n", nil}, // it was
		{"2", "number 2 is free\n", nil},
		{"3", "", []string{"number 3 is held", "within the last 1m0s", "--force", "stops using it", "no id repeats"}},
		{"3 --force", "number 3 is free\n", nil},
		{"3", "number 3 is free\n", nil},
		{"--dsn sqlite:" + database.Default + " 04", "", []string{"(--dsn): number 4 is held"}},
		{"5", "", []string{"number 5 has no lease: nobody"}},
		{"9223372036854775807 --force", "", []string{"number 9223372036854775807 has no lease: nobody"}},
	} {
		got := uidring.Invoke(t, "", strings.Fields("workers release "+tt.args)...)
		code := min(1, len(tt.stderr))
		if got.Code != code || got.Stdout != tt.stdout || strings.Count(got.Stderr, "\n") != code {
			t.Errorf("release %s: %+v; want exit code %d, %q", tt.args, got, code, tt.stdout)
		}
		clitest.Wants(t, got.Stderr, tt.stderr...)
	}
	list := uidring.Workers(t, database.Default)
	for i, want := range []lease.State{lease.StateHeld, lease.StateFree, lease.StateFree, lease.StateFree} {
		if row := list.Leases[i]; row.Number != int64(4-i) || row.State != want {
			t.Errorf("%+v, want number %d %s", row, 4-i, want)
		}
	}
}

// raise moves the counter of new numbers, and never lowers it. It refuses an invalid number, and a store without a counter.
func TestRaise(t *testing.T) {
	clitest.Elsewhere(t)
	uidring.Fail(t, 1, "there is no such file", "workers", "raise", "7")
	register(t, database.Default, "one")
	for _, number := range []string{"5000", "400", "5000"} {
		uidring.Print(t, "new numbers are above "+number+"\n", "workers", "raise", number)
	}
	register(t, database.Default, "two")
	if list := uidring.Workers(t, database.Default); list.Last != 5001 {
		t.Errorf("the next number is %d, want 5001", list.Last)
	}
	for _, args := range []string{"", "0", "-- -1", "x", "9223372036854775807", "1 2"} {
		uidring.Fail(t, 2, "", strings.Fields("workers raise "+args)...)
	}
}
