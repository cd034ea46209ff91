package layout_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/internal/database"
	"github.com/uidring/uidring/cmd/internal/gen"
	"github.com/uidring/uidring/cmd/internal/layout"
	"github.com/uidring/uidring/internal/test/need"
)

var uidring = clitest.Of(clitest.SQL(layout.New), clitest.SQL(gen.New))

func TestLayout(t *testing.T) {
	for args, want := range map[string]string{
		"41/datacenter:5+4/12,unit=1ms": `
layout         41/datacenter:5+4/12,epoch=2026-01-01,unit=1ms
bits           62 of 63
workers        0 to 511
               datacenter: 0 to 31
               part2: 0 to 15
ids            4096000 a second for each worker: 4096 in each tick of 1ms
burst          353894400000 ids at once, stamped up to 24h0m0s ahead of the clock (MaxBorrow; in uidringd, max_borrow)
in JavaScript  as a string
begins         2026-01-01T00:00:00Z
ends           2095-09-07T15:47:35.552Z
next           layout change --to another layout; --dry-run shows what it would do
`,
		"baidu --next registry --from 2026-01-01 --used 5000": `
layout         28/22/13,epoch=2016-05-20,unit=1s
bits           63 of 63
workers        0 to 4194303
ids            8192 a second for each worker: 8192 in each tick of 1s
burst          707788800 ids at once, stamped up to 24h0m0s ahead of the clock (MaxBorrow; in uidringd, max_borrow)
in JavaScript  as a string
begins         2016-05-20T00:00:00Z
ended          2024-11-20T21:24:16Z

next     28/22/13,epoch=2026-01-01,unit=1s from 2026-01-01T00:00:00Z on
equal    new ids stamped from 2026-01-01T00:00:00Z to 2034-07-04T21:24:16Z can equal old ones
numbers  5001 to 4194303 keep new ids apart from those under the numbers 0 to 5000
`,
	} {
		uidring.Print(t, want[1:], append([]string{"layout"}, strings.Fields(args)...)...)
	}
	for args, want := range map[string]string{
		"js-safe --next registry --from 2027-01-01":                         "never: every new id is greater than every old one",
		"registry --next js-safe --since 2027-01-01 --from 2028-01-01":      "never, but new ids are smaller than old ones",
		"registry --next long-lived --from 2027-01-01":                      "none keeps new ids apart from those under the numbers 0 to 4194303",
		"baidu --next registry --from 2026-01-01 --since 2020-05-20":        "from 2030-01-01T00:00:00Z to 2034-07-04T21:24:16Z can equal",
		"registry --next 28/22/13 --from 2027-01-01T00:00:00.5Z --used 500": "501 to 4194303 keep new ids apart",
	} {
		uidring.Show(t, want, append([]string{"layout"}, strings.Fields(args)...)...)
	}
}

func TestLayoutList(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(uidring.Succeed(t, "layout")), "\n")
	objects := strings.Split(strings.TrimSpace(uidring.Succeed(t, "layout", "--json")), "\n")
	if len(lines) != len(bits.PresetNames())+1 || len(objects) != len(bits.PresetNames()) {
		t.Fatalf("%d lines and %d objects for %d names", len(lines), len(objects), len(bits.PresetNames()))
	}
	for i, name := range bits.PresetNames() {
		var object struct {
			Name   string
			Layout bits.Layout
		}
		need.Must(t, json.Unmarshal([]byte(objects[i]), &object))
		if fields := strings.Fields(lines[i+1]); object.Name != name || fields[0] != name || fields[1] != object.Layout.String() {
			t.Errorf("%s: line %q, object %s", name, lines[i+1], objects[i])
		}
	}
}

func TestLayoutJSON(t *testing.T) {
	got := uidring.Succeed(t, "layout", "41/datacenter:5+machine:5/12,unit=1ms", "--json",
		"--next", "41/10/12,epoch=2030-01-01,unit=1ms", "--from", "2030-01-01", "--used", "500")
	want := `{"layout":"41/datacenter:5+machine:5/12,epoch=2026-01-01,unit=1ms","bits":63,"epoch":"2026-01-01T00:00:00Z","unit":"1ms",` +
		`"ids_per_tick":4096,"ids_per_second":4096000,"burst":353894400000,"exact_in_javascript":false,"greatest_worker":1023,"worker_parts":[{"name":"datacenter","bits":5},{"name":"machine","bits":5}],` +
		`"end":"2095-09-07T15:47:35.552Z","succession":{"next":"41/10/12,epoch=2030-01-01,unit=1ms","from":"2030-01-01T00:00:00Z",` +
		`"used":500,"ordered":false,"meet":{"from":"2030-01-01T00:00:00Z","until":"2034-01-01T00:00:00Z"},` +
		`"fresh_numbers":{"first":501,"last":1023}}}` + "\n"
	if got != want {
		t.Errorf("%swant\n%s", got, want)
	}
}

// sqlLayouts have every kind of epoch, unit and width: epochs before 1970 and within a
// second, ticks of one step and of many, and an end close to the year 10000.
var sqlLayouts = []string{
	"registry", "long-lived", "js-safe", "snowflake", "baidu,epoch=2016-05-20T00:00:00+08:00",
	"40/10/10,epoch=1969-12-31T23:59:59.123Z,unit=1ms", "1/62/0", "1/0/62,epoch=2026-01-01T00:00:00.009Z,unit=1ms",
	"30/region:5+3+rack:2/13,epoch=2026-01-01T12:00:00.25Z,unit=5ms", "46/6/7,epoch=1600-01-01T00:00:00.25Z,unit=1ms",
	"21/20/20,epoch=1000-02-28,unit=24h",
}

// Without LAYOUT, the layout is that of the database that is named or found, and else of a new store.
func TestLayoutOfDatabase(t *testing.T) {
	clitest.Elsewhere(t)
	clitest.Wants(t, uidring.Succeed(t, "layout", "--sql", "sqlite"), "-- Ids of the layout 31/16/16,epoch=2026-01-01,unit=1s in ", "2094-01-19T03:14:08Z", " WHERE id BETWEEN ")
	uidring.Succeed(t, "gen", "--layout", "31/20/12", "--dsn", "app.db")
	uidring.Show(t, `"layout":"31/20/12,`, "layout", "--dsn", "app.db", "--json")
	uidring.Succeed(t, "gen", "--layout", "29/21/13")
	uidring.Show(t, "Ids of the layout 29/21/13,", "layout", "--sql", "sqlite")
	if got := uidring.Succeed(t, "layout", "--next", "fleet"); !strings.HasPrefix(got, "layout         29/21/13,") {
		t.Errorf("--next: %s", got)
	}
	uidring.Fail(t, 2, "--used needs LAYOUT", "layout", "--next", "fleet", "--used", "5")
	for _, args := range [][]string{{"layout"}, {"layout", "--dsn", "uidring.db"}} {
		if got := uidring.Succeed(t, args...); !strings.HasPrefix(got, "layout         29/21/13,") {
			t.Errorf("%v:\n%s\nwant that of uidring.db", args, got)
		}
	}
	uidring.Show(t, "\nfleet ", "layout", "--list")
	t.Setenv(database.Variable, "app.db")
	planned := "\nnumbers  2 to 65535, which layout change would leave, as numbers up to 1 have been given\norder    new and old ids sort by their time\n"
	if got := uidring.Succeed(t, "layout", "--next", "fleet"); !strings.HasPrefix(got, "layout         31/20/12,") || !strings.Contains(got, planned) {
		t.Errorf("the variable, --next:\n%s\nwant %s", got, planned)
	}
	uidring.Show(t, "\nnumbers  none: change the layout of WORKER_LEASE: of 31/1/31,", "layout", "--next", "31/1/31")
	for to, want := range map[string]string{
		"fleet": "new and old ids sort by their time\n", "30/21/12": "new ids are greater than old ones\n", "31/19/12": "new ids are smaller than old ones",
		"31/20/12,epoch=2026-01-02": "new ids are smaller than old ones", "31/20/12,epoch=2025-01-01": "new ids are greater than old ones\n",
		"31/20/12,epoch=2025-12-31T12:00:00Z": "new ids are smaller than old ones", // than those that are stamped ahead
	} {
		uidring.Show(t, "\norder  "+want, "layout", "change", "--to", to, "--dry-run")
	}
	uidring.Succeed(t, "layout", "change", "--to", "fleet")
	uidring.Fail(t, 2, "--next is the layout that the database remembers", "layout", "--next", "fleet")
	uidring.Show(t, "\nworkers        2 to 65535, since the layout changed\nearlier        31/20/12,epoch=2026-01-01,unit=1s, under the numbers 0 to 1\n", "layout")
	t.Setenv(database.Variable, "")
	clitest.Open(t, "empty.db")
	for _, args := range [][]string{{"layout", "--dsn", "empty.db"}, {"layout", "--sql", "mysql", "--dsn", "empty.db"}} { // neither has --layout
		uidring.Fail(t, 1, "recorded a layout there yet; the first start, such as that of gen, records the layout that it states, else fleet (for a registry, registry)\n", args...)
	}
	uidring.Fail(t, 1, "there is no such file", "layout", "--dsn", "missing.db")
}
