package uidprom

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/uid"
)

// several are generators of every kind.
func several() map[string]Generator {
	return map[string]Generator{
		"orders":   calm(),
		"sessions": plain(),
		"troubled": troubled(),
		"invoices": loaded(),
		"payments": cut(),
		"remote":   client(),
	}
}

// TestExposition holds the names, types and forms that others read.
func TestExposition(t *testing.T) {
	got := text(t, gather(t, several()))
	const golden = "testdata/metrics.txt"
	if os.Getenv("UIDRING_UPDATE") != "" {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, golden); !bytes.Equal(got, want) {
		t.Errorf("a scrape is\n%s\nwant that of %s, to be written anew with UIDRING_UPDATE=1", got, golden)
	}
}

func TestNamesAreLinted(t *testing.T) {
	problems, err := promlint.New(bytes.NewReader(text(t, gather(t, several())))).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// The package comment lists every metric in the order of the table, and no other.
func TestPackageCommentListsThem(t *testing.T) {
	var listed, want []string
	for _, match := range regexp.MustCompile(`(?m)^//\t(uidring_\w+) `).FindAllSubmatch(read(t, "doc.go"), -1) {
		listed = append(listed, string(match[1]))
	}
	for _, f := range figures.All {
		want = append(want, f.Name)
	}
	if !slices.Equal(listed, want) {
		t.Errorf("the package comment lists\n%q\nwant\n%q", listed, want)
	}
}

// Values that the file has not.
func TestValues(t *testing.T) {
	for _, tt := range []struct {
		set    func(*still)
		metric string
		want   float64
	}{
		{func(g *still) { g.stats.Ring.MaxBorrow = 1 }, "uidring_borrow_limit_seconds", 1e-9},
		{func(g *still) { g.stats.Clock.ReservedUntil = noon.Add(500 * time.Millisecond) }, "uidring_reservation_end_timestamp_seconds", 1772366400.5},
		{func(g *still) { g.stats.Clock.Layout = bits.Snowflake() }, "uidring_ring_span_seconds", 0.016},
		{func(g *still) { g.stats.LastError = &uid.BorrowLimitError{} }, "uidring_failing", 0},
		{func(g *still) { g.stats.Clock.Layout.WorkerBits = 0 }, "uidring_worker_number_max", 0},
		{func(g *still) {
			g.stats.Clock.LayoutEnd = bits.Layout{TimeBits: 63, Epoch: noon, Unit: time.Second}.End()
		}, "uidring_layout_end_timestamp_seconds", 9223371974719179007},
	} {
		g := calm()
		tt.set(&g)
		got := -1.0
		for _, family := range gather(t, map[string]Generator{"orders": g}) {
			if family.GetName() == tt.metric {
				got = family.GetMetric()[0].GetGauge().GetValue()
			}
		}
		if got != tt.want {
			t.Errorf("%s is %v, want %v", tt.metric, got, tt.want)
		}
	}
}
