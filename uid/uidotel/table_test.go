package uidotel

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/uidclient"
)

// row is a line of the table in the package comment.
type row struct {
	name, kind, unit string
	prom             []string // uidprom's names
}

func readTable(t *testing.T) (rows []row) {
	t.Helper()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^//\t(uidring\.\S+) +([cug]) (\S+) +\S.*?  +(\S.*)$`).FindAllStringSubmatch(string(doc), -1) {
		r := row{name: m[1], kind: m[2], unit: m[3]}
		for _, name := range strings.Fields(m[4]) {
			if short, segment := strings.CutPrefix(name, "~"); segment {
				r.prom = append(r.prom, "uidring_segment_"+short)
			} else if name != "-" {
				r.prom = append(r.prom, "uidring_"+name)
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// The package comment lists every instrument with its kind and unit, and no other.
func TestPackageCommentListsThem(t *testing.T) {
	var want, listed []string
	for _, i := range counts {
		want = append(want, i.name+" "+string(i.kind)+" "+i.unit)
	}
	for _, i := range seconds {
		want = append(want, i.name+" "+string(i.kind)+" "+i.unit)
	}
	for _, r := range readTable(t) {
		listed = append(listed, r.name+" "+r.kind+" "+r.unit)
	}
	slices.Sort(want)
	slices.Sort(listed)
	if !slices.Equal(listed, want) {
		t.Errorf("the package comment lists\n%s\nwant\n%s", strings.Join(listed, "\n"), strings.Join(want, "\n"))
	}
}

// Every metric of uidprom has one instrument.
func TestEveryMetricOfPrometheus(t *testing.T) {
	doc, err := os.ReadFile("../uidprom/doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, mapped []string
	for _, m := range regexp.MustCompile(`(?m)^//\t(uidring_\w+) `).FindAllStringSubmatch(string(doc), -1) {
		want = append(want, m[1])
	}
	for _, r := range readTable(t) {
		mapped = append(mapped, r.prom...)
	}
	slices.Sort(want)
	slices.Sort(mapped)
	if len(want) < 30 || !slices.Equal(mapped, want) {
		t.Errorf("the table maps to\n%s\nwant\n%s", strings.Join(mapped, "\n"), strings.Join(want, "\n"))
	}
}

// The same generators have the values of uidprom's test, under the names that the table gives.
func TestValuesOfPrometheus(t *testing.T) {
	text, err := os.ReadFile("../uidprom/testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	p, reader := provider(t)
	register(t, p, "orders", calm())
	register(t, p, "sessions", plain())
	register(t, p, "troubled", troubled())
	points := collect(t, reader)
	names := map[string]string{}
	for _, r := range readTable(t) {
		for _, name := range r.prom {
			names[name] = r.name
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^(uidring_\w+)\{generator="(\w+)"(?:,layout="(.*)")?\} (\S+)$`).FindAllStringSubmatch(string(text), -1) {
		key := names[m[1]] + " " + m[2]
		want, err := strconv.ParseFloat(m[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := points[key]
		layout, _ := got.attributes.Value("uidring.layout")
		if !ok || got.value != want || layout.AsString() != m[3] {
			t.Errorf("%s is %v with layout %q, want %v with %q as %s", key, got.value, layout.AsString(), want, m[3], m[1])
		}
		delete(points, key)
	}
	for key := range points {
		t.Errorf("%s is not in uidprom's test", key)
	}
}

// A ring that waits for the clock or for a reservation does not fail.
func TestRingFailing(t *testing.T) {
	gone := errors.New("gone")
	for err, want := range map[error]float64{
		nil: 0, gone: 1, uid.ErrTimeExhausted: 1, fmt.Errorf("so: %w", &uid.BorrowLimitError{}): 0,
		&uid.ReservationError{}: 0, &uid.ReservationError{Err: gone}: 1,
	} {
		p, reader := provider(t)
		g := calm()
		g.stats.LastError = err
		register(t, p, "orders", g)
		if got := collect(t, reader)["uidring.ring.failing orders"].value; got != want {
			t.Errorf("with %v, failing is %v, want %v", err, got, want)
		}
	}
}

func TestSegmentValues(t *testing.T) {
	p, reader := provider(t)
	register(t, p, "tags", still[[]segment.Stats]{counters()})
	register(t, p, "alone", still[segment.Stats]{counters()[1]})
	points := collect(t, reader)
	want := map[string][2]float64{
		"uidring.id.issued":             {1200, 1200},
		"uidring.id.remaining":          {1800, 1800},
		"uidring.id.returned":           {0, 800},
		"uidring.call.rejected":         {1, 1},
		"uidring.call.starved":          {2, 2},
		"uidring.call.wait_time":        {0.03, 0.03},
		"uidring.generator.closed":      {0, 1},
		"uidring.segment.range":         {1000, 1000},
		"uidring.segment.step":          {3000, 3000},
		"uidring.segment.next_ready":    {1, 0},
		"uidring.segment.load":          {3, 3},
		"uidring.segment.load_failure":  {1, 1},
		"uidring.segment.load_duration": {0.002, 0.002},
		"uidring.segment.loading_time":  {0, 0.05},
		"uidring.segment.failing":       {0, 1},
	}
	for name, values := range want {
		for key, value := range map[string]float64{" tags invoices": values[0], " tags payments": values[1], " alone payments": values[1]} {
			if got, ok := points[name+key]; !ok || got.value != value {
				t.Errorf("%s%s is %v (%v), want %v", name, key, got.value, ok, value)
			}
		}
	}
	if len(points) != 3*len(want) {
		t.Errorf("%d points, want %d: %v", len(points), 3*len(want), points)
	}
}

func TestClientValues(t *testing.T) {
	p, reader := provider(t)
	register(t, p, "orders", still[uidclient.Stats]{client()})
	points := collect(t, reader)
	want := map[string]float64{
		"uidring.id.issued":              1200,
		"uidring.id.remaining":           1800,
		"uidring.id.dropped":             5,
		"uidring.call.rejected":          1,
		"uidring.call.starved":           2,
		"uidring.call.wait_time":         0.03,
		"uidring.generator.closed":       1,
		"uidring.client.step":            3000,
		"uidring.client.fetch":           3,
		"uidring.client.fetch_failure":   6,
		"uidring.client.fetch_duration":  0.002,
		"uidring.client.instance_change": 4,
		"uidring.client.failing":         1,
	}
	for name, value := range want {
		if got, ok := points[name+" orders"]; !ok || got.value != value {
			t.Errorf("%s is %v (%v), want %v", name, got.value, ok, value)
		}
	}
	if len(points) != len(want) {
		t.Errorf("%d points, want %d: %v", len(points), len(want), points)
	}
}

// Names follow OpenTelemetry's conventions: lower case, and no name is also the namespace
// of another. The collected kinds and units are those of the table.
func TestConventions(t *testing.T) {
	p, reader := provider(t)
	register(t, p, "troubled", troubled())
	register(t, p, "tags", still[[]segment.Stats]{counters()})
	register(t, p, "client", still[uidclient.Stats]{client()})
	collected := map[string]point{}
	for key, p := range collect(t, reader) {
		name, _, _ := strings.Cut(key, " ")
		collected[name] = p
	}
	rows := readTable(t)
	for _, r := range rows {
		got, ok := collected[r.name]
		if !ok || string(got.kind) != r.kind || got.unit != r.unit {
			t.Errorf("%s is %c %s (%v), want %s %s", r.name, got.kind, got.unit, ok, r.kind, r.unit)
		}
		if !regexp.MustCompile(`^uidring(\.[a-z]+(_[a-z]+)*){2}$`).MatchString(r.name) || strings.HasSuffix(r.name, "_total") {
			t.Errorf("%s: want lower case, two dots, no _total", r.name)
		}
		if !regexp.MustCompile(`^(s|\{[a-z]+\})$`).MatchString(r.unit) {
			t.Errorf("the unit of %s is %q, want s or an annotation", r.name, r.unit)
		}
	}
}
