package layout_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/uidring/internal/layout"
)

var uidring = clitest.Of(layout.New)

func TestLayout(t *testing.T) {
	for args, want := range map[string]string{
		"41/datacenter:5+4/12,unit=1ms": `
layout   41/datacenter:5+4/12,epoch=2026-01-01,unit=1ms
bits     62 of 63
workers  0 to 511
         datacenter: 0 to 31
         part2: 0 to 15
ids      4096 for each worker and tick of 1ms
begins   2026-01-01T00:00:00Z
ends     2095-09-07T15:47:35.552Z
next     41/datacenter:5+4/12 with a later epoch, under worker numbers never used before;
         for another layout, see --next
`,
		"baidu --next default --from 2026-01-01 --used 5000": `
layout   28/22/13,epoch=2016-05-20,unit=1s
bits     63 of 63
workers  0 to 4194303
ids      8192 for each worker and tick of 1s
begins   2016-05-20T00:00:00Z
ended    2024-11-20T21:24:16Z

next     28/22/13,epoch=2026-01-01,unit=1s from 2026-01-01T00:00:00Z on
equal    new ids stamped from 2026-01-01T00:00:00Z to 2034-07-04T21:24:16Z can equal old ones
numbers  5001 to 4194303 keep new ids apart from those under the numbers 0 to 5000
`,
	} {
		if got := uidring.Succeed(t, append([]string{"layout"}, strings.Fields(args)...)...); got != want[1:] {
			t.Errorf("layout %s:\n%swant\n%s", args, got, want[1:])
		}
	}
	for args, want := range map[string]string{
		"js-safe --next default --from 2027-01-01":                         "never: every new id is greater than every old one",
		"default --next js-safe --since 2027-01-01 --from 2028-01-01":      "never, but new ids are smaller than old ones",
		"default --next long-lived --from 2027-01-01":                      "none keeps new ids apart from those under the numbers 0 to 4194303",
		"baidu --next default --from 2026-01-01 --since 2020-05-20":        "from 2030-01-01T00:00:00Z to 2034-07-04T21:24:16Z can equal",
		"default --next 28/22/13 --from 2027-01-01T00:00:00.5Z --used 500": "501 to 4194303 keep new ids apart",
	} {
		if got := uidring.Succeed(t, append([]string{"layout"}, strings.Fields(args)...)...); !strings.Contains(got, want) {
			t.Errorf("layout %s:\n%swant %q in it", args, got, want)
		}
	}
}

// TestSQLText is for whoever reads it: the comment, and what a table's time is.
func TestSQLText(t *testing.T) {
	for kind, want := range map[string]string{
		"postgres": "RETURN CASE WHEN id BETWEEN 0 AND 9007199254740991 THEN ((id >> 10) & 4095) END;",
		"mysql":    "RETURN CASE WHEN id BETWEEN 0 AND 9007199254740991 THEN ((id >> 10) & 4095) END;",
		"sqlite":   "\nCASE WHEN id BETWEEN 0 AND 9007199254740991 THEN 1767225600000 + ((id >> 22) * 1000) END\n",
	} {
		got := uidring.Succeed(t, "layout", "js-safe", "--sql", kind)
		for _, want := range []string{want, "-- Ids of the layout 31/12/10,epoch=2026-01-01,unit=1s in ", "2094-01-19T03:14:08Z", " WHERE id BETWEEN "} {
			if !strings.Contains(got, want) {
				t.Errorf("--sql %s:\n%swant %q in it", kind, got, want)
			}
		}
	}
}

func TestLayoutList(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(uidring.Succeed(t, "layout")), "\n")
	objects := strings.Split(strings.TrimSpace(uidring.Succeed(t, "layout", "--json")), "\n")
	if len(lines) != len(bits.Names())+1 || len(objects) != len(bits.Names()) {
		t.Fatalf("%d lines and %d objects for %d names", len(lines), len(objects), len(bits.Names()))
	}
	for i, name := range bits.Names() {
		var object struct {
			Name   string
			Layout bits.Layout
		}
		if err := json.Unmarshal([]byte(objects[i]), &object); err != nil {
			t.Fatal(err)
		}
		if fields := strings.Fields(lines[i+1]); object.Name != name || fields[0] != name || fields[1] != object.Layout.String() {
			t.Errorf("%s: line %q, object %s", name, lines[i+1], objects[i])
		}
	}
}

func TestLayoutJSON(t *testing.T) {
	got := uidring.Succeed(t, "layout", "41/datacenter:5+machine:5/12,unit=1ms", "--json",
		"--next", "41/10/12,epoch=2030-01-01,unit=1ms", "--from", "2030-01-01", "--used", "500")
	want := `{"layout":"41/datacenter:5+machine:5/12,epoch=2026-01-01,unit=1ms","bits":63,"epoch":"2026-01-01T00:00:00Z","unit":"1ms",` +
		`"ids_per_tick":4096,"greatest_worker":1023,"worker_parts":[{"name":"datacenter","bits":5},{"name":"machine","bits":5}],` +
		`"end":"2095-09-07T15:47:35.552Z","succession":{"next":"41/10/12,epoch=2030-01-01,unit=1ms","from":"2030-01-01T00:00:00Z",` +
		`"used":500,"ordered":false,"meet":{"from":"2030-01-01T00:00:00Z","until":"2034-01-01T00:00:00Z"},` +
		`"fresh_numbers":{"first":501,"last":1023}}}` + "\n"
	if got != want {
		t.Errorf("%swant\n%s", got, want)
	}
}
