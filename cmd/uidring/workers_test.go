package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/uidring/uidring/internal/database"
	"github.com/uidring/uidring/worker"
)

// register adds a row for each host to a database.
func register(t *testing.T, dsn string, hosts ...string) {
	t.Helper()
	db, err := database.Open(dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close(db)
	for _, host := range hosts {
		node := worker.Node{Host: host, Port: "8080", Type: worker.Container}
		if _, err := worker.NewRegistry(db, worker.WithNode(node)).Assign(t.Context(), 1<<20); err != nil {
			t.Fatal(err)
		}
	}
}

// workersOf is what workers says of a database.
func workersOf(t *testing.T, dsn string) listing {
	t.Helper()
	out := succeed(t, "workers", "--json", "--limit", "0", "--dsn", dsn)
	var list listing
	decoder := json.NewDecoder(strings.NewReader(out))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&list); err != nil || strings.Count(out, "\n") != 1 {
		t.Fatalf("%q: %v", out, err)
	}
	return list
}

func TestWorkersTable(t *testing.T) {
	elsewhere(t)
	register(t, dsnDefault, "one", "a host with a long name", "three\x1b[31m")
	lines := strings.Split(succeed(t, "workers"), "\n")
	for i, want := range []string{
		"WORKER  HOST                     PORT  TYPE       CREATED",
		`3       "three\x1b[31m"          8080  CONTAINER  2`,
		"2       a host with a long name  8080  CONTAINER  2",
		"1       one                      8080  CONTAINER  2",
		"",
		"4194300 of 4194303 numbers are left under 28/22/13,epoch=2026-01-01,unit=1s",
		"",
	} {
		if i >= len(lines) || !strings.HasPrefix(lines[i], want) || want == "" && lines[i] != "" {
			t.Fatalf("line %d of %q, want %q", i, lines, want)
		}
	}
	if got := succeed(t, "workers", "--limit", "1", "--layout", "31/2/9"); strings.Count(got, "CONTAINER") != 1 ||
		!strings.Contains(got, "\n0 of 3 numbers are left under 31/2/9,") {
		t.Errorf("one line of a layout that is used up: %s", got)
	}
	if got := succeed(t, "workers", "--layout", "31/1/9"); !strings.Contains(got, "\n0 of 1 numbers") {
		t.Errorf("a layout with fewer numbers than there are: %s", got)
	}
}

func TestWorkersJSON(t *testing.T) {
	elsewhere(t)
	register(t, dsnDefault, "one", "two", "three")
	for limit, want := range map[string]int{"0": 3, "1": 1, "2": 2, "20": 3} {
		out := succeed(t, "workers", "--json", "--limit", limit, "--layout", "long-lived", "--dsn", "sqlite:"+dsnDefault)
		var list listing
		decoder := json.NewDecoder(strings.NewReader(out))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&list); err != nil || strings.Count(out, "\n") != 1 {
			t.Fatalf("%q: %v", out, err)
		}
		if list.Last != 3 || list.Max != 8388607 || list.Left != 8388604 || !strings.HasPrefix(list.Layout, "31/23/9,") {
			t.Errorf("%+v", list)
		}
		if len(list.Workers) != want {
			t.Fatalf("limit %s: %d rows, want %d", limit, len(list.Workers), want)
		}
		for i, host := range []string{"three", "two", "one"}[:want] {
			row := list.Workers[i]
			if row.ID != int64(3-i) || row.HostName != host || row.Port != "8080" || row.Type != worker.Container || row.Created.IsZero() {
				t.Errorf("%+v", row)
			}
		}
	}
}

// Both tables are listed, one below the other.
func TestWorkersLeases(t *testing.T) {
	elsewhere(t)
	lease(t, dsnDefault, worker.Held, worker.Free, worker.Expired)
	const leases = `LEASE  STATE    HOST     PORT        TYPE       LAST BEAT             RESERVED UNTIL
2      expired  billing  "80\x1b80"  CONTAINER  2026-01-02T03:04:05Z  2026-01-02T03:04:05Z
1      free     billing  "80\x1b80"  CONTAINER  -                     2026-01-02T03:04:05Z
0      held     billing  "80\x1b80"  CONTAINER  2026-01-02T03:04:05Z  2026-01-02T03:04:05Z

4194303 of 4194304 numbers are left to lease under 28/22/13,epoch=2026-01-01,unit=1s
`
	const node = `WORKER  HOST  PORT  TYPE       CREATED
1       one   8080  CONTAINER  2026-01-02T03:04:05Z

4194302 of 4194303 numbers are left under 28/22/13,epoch=2026-01-01,unit=1s
`
	instant := regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)
	now := func(text string) string { return instant.ReplaceAllString(text, "2026-01-02T03:04:05Z") }
	if got := now(succeed(t, "workers")); got != leases {
		t.Errorf("leases alone:\n%s\nwant\n%s", got, leases)
	}
	register(t, dsnDefault, "one")
	if got, want := now(succeed(t, "workers")), node+"\n"+leases; got != want {
		t.Errorf("both:\n%s\nwant\n%s", got, want)
	}

	got := succeed(t, "workers", "--limit", "1", "--layout", "31/1/9")
	for _, want := range []string{"\n2      expired", "\n1       one", "\n0 of 1 numbers are left under 31/1/9,", "\n1 of 2 numbers are left to lease under 31/1/9,"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Count(got, "billing") != 1 {
		t.Errorf("more than one lease:\n%s", got)
	}
}

func TestWorkersLeasesJSON(t *testing.T) {
	elsewhere(t)
	lease(t, dsnDefault, worker.Held, worker.Free, worker.Expired)
	if beats := strings.Count(succeed(t, "workers", "--json"), `"heartbeat_at"`); beats != 2 {
		t.Errorf("%d leases have a beat, want the two that are not free", beats)
	}
	list := workersOf(t, dsnDefault)
	if list.LeasesLeft != 4194303 || list.Last != 0 || list.Left != 4194303 || list.Workers == nil || len(list.Workers) != 0 {
		t.Errorf("%+v", list)
	}
	for i, want := range []worker.LeaseState{worker.Expired, worker.Free, worker.Held} {
		row := list.Leases[i]
		if row.Number != int64(2-i) || row.State != want || row.Host != "billing" || row.Type != worker.Container ||
			row.ReservedUntil.IsZero() || row.HeartbeatAt.IsZero() != (want == worker.Free) {
			t.Errorf("%+v, want %d %s", row, 2-i, want)
		}
	}
	register(t, dsnDefault, "one", "two")
	list = workersOf(t, dsnDefault)
	if len(list.Workers) != 2 || len(list.Leases) != 3 || list.Last != 2 {
		t.Errorf("%+v", list)
	}
}

// An empty table is not a missing one.
func TestWorkersNone(t *testing.T) {
	elsewhere(t)
	db, err := database.Open(dsnDefault)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close(db)
	if err := worker.NewRegistry(db).EnsureSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := succeed(t, "workers"); !strings.Contains(got, "\n4194303 of 4194303 numbers are left") {
		t.Error(got)
	}
	if got := succeed(t, "workers", "--json"); !strings.Contains(got, `"last":0`) || !strings.Contains(got, `"workers":[]`) ||
		!strings.Contains(got, `"leases_left":4194304,"leases":[]`) {
		t.Error(got)
	}
	if err := worker.NewLeaser(db).EnsureSchema(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := succeed(t, "workers"); !strings.Contains(got, "\n4194304 of 4194304 numbers are left to lease") {
		t.Error(got)
	}
}

// What is in the way of reading the table is told, where it is not that there is
// none.
func TestWorkersForeignTable(t *testing.T) {
	elsewhere(t)
	db, err := database.Open(dsnDefault)
	if err != nil {
		t.Fatal(err)
	}
	defer database.Close(db)
	if err := db.Exec("CREATE TABLE WORKER_NODE (x INT)").Error; err != nil {
		t.Fatal(err)
	}
	got := invoke(t, "", "workers")
	if got.code != 1 || !strings.Contains(got.stderr, "WORKER_NODE") || strings.Contains(got.stderr, "no worker") {
		t.Errorf("%+v", got)
	}
	for _, statement := range []string{"DROP TABLE WORKER_NODE", "CREATE TABLE WORKER_LEASE (x INT)"} {
		if err := db.Exec(statement).Error; err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"workers"}, {"workers", "release", "1"}} {
		if got := invoke(t, "", args...); got.code != 1 || !strings.Contains(got.stderr, "WORKER_LEASE") || strings.Contains(got.stderr, "no worker") {
			t.Errorf("%q: %+v", args, got)
		}
	}
}

// Listing writes nothing, the file's time included.
func TestWorkersChangesNothing(t *testing.T) {
	elsewhere(t)
	register(t, dsnDefault, "one")
	before := time.Date(2020, 2, 20, 0, 0, 0, 0, time.UTC)
	if err := os.Chtimes(dsnDefault, before, before); err != nil {
		t.Fatal(err)
	}
	succeed(t, "workers")
	succeed(t, "workers", "--dsn", "sqlite:"+dsnDefault)
	info, err := os.Stat(dsnDefault)
	if err != nil || !info.ModTime().Equal(before) {
		t.Errorf("%v, %v: the file was written", info.ModTime(), err)
	}
}
