package uidprom

import (
	"bytes"
	"errors"
	"fmt"
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

func TestValues(t *testing.T) {
	gone := errors.New("gone")
	absent := func(names ...string) map[string]float64 {
		m := map[string]float64{}
		for _, name := range names {
			m[name] = missing
		}
		return m
	}
	for _, tt := range []struct {
		name string
		set  func(*still)
		want map[string]float64
	}{
		{"no bound", func(g *still) { g.stats.Ring.MaxBorrow = -1 }, absent("uidring_borrow_limit_seconds")},
		{"no age limit", func(g *still) { g.stats.Ring.MaxAge = -1 }, absent("uidring_ring_age_limit_seconds")},
		{"age limit", func(g *still) { g.stats.Ring.MaxAge = time.Minute }, map[string]float64{"uidring_ring_age_limit_seconds": 60}},
		{"bound of nothing", func(g *still) { g.stats.Ring.MaxBorrow = 1 }, map[string]float64{"uidring_borrow_limit_seconds": 1e-9}},
		{"no lease", func(*still) {}, map[string]float64{"uidring_lease_failing": 0, "uidring_reservation_end_timestamp_seconds": missing}},
		{"leased", func(g *still) { g.stats.Clock.ReservedUntil = noon.Add(500 * time.Millisecond) }, map[string]float64{
			"uidring_lease_failing": 0, "uidring_reservation_end_timestamp_seconds": 1772366400.5}},
		{"lost", func(g *still) { g.stats.Clock.LeaseError = gone }, map[string]float64{
			"uidring_lease_failing": 1, "uidring_reservation_end_timestamp_seconds": missing}},
		{"no ring", func(g *still) { g.stats.Ring = nil }, absent(
			"uidring_ids_dropped_total", "uidring_ids_remaining", "uidring_ring_threshold_ids", "uidring_ring_capacity_ids",
			"uidring_ring_span_seconds", "uidring_ring_oldest_age_seconds", "uidring_ring_age_limit_seconds", "uidring_ring_refills_total", "uidring_ring_helps_total",
			"uidring_ring_puts_rejected_total", "uidring_borrowed_seconds", "uidring_borrow_limit_seconds")},
		{"span of a ring", func(*still) {}, map[string]float64{"uidring_ring_span_seconds": 8}},
		{"span of a ring in milliseconds", func(g *still) { g.stats.Clock.Layout = bits.Snowflake() }, map[string]float64{"uidring_ring_span_seconds": 0.016}},
		{"full", func(*still) {}, map[string]float64{"uidring_failing": 0}},
		{"not filled", func(g *still) { g.stats.LastError = gone }, map[string]float64{"uidring_failing": 1}},
		{"at the bound", func(g *still) { g.stats.LastError = fmt.Errorf("so: %w", &uid.BorrowLimitError{}) }, map[string]float64{"uidring_failing": 0}},
		{"being reserved", func(g *still) { g.stats.LastError = &uid.ReservationError{} }, map[string]float64{"uidring_failing": 0}},
		{"not reserved", func(g *still) { g.stats.LastError = &uid.ReservationError{Err: gone} }, map[string]float64{"uidring_failing": 1}},
		{"over", func(g *still) { g.stats.LastError = uid.ErrTimeExhausted }, map[string]float64{"uidring_failing": 1}},
		{"without workers", func(g *still) { g.stats.Clock.Layout = bits.Layout{TimeBits: 40, Epoch: noon, Unit: time.Second} },
			map[string]float64{"uidring_worker_number_max": 0}},
		{"far away", func(g *still) {
			g.stats.Clock.Layout = bits.Layout{TimeBits: 63, Epoch: noon, Unit: time.Second}
			g.stats.Clock.LayoutEnd = g.stats.Clock.Layout.End()
		}, map[string]float64{"uidring_layout_end_timestamp_seconds": 9223371974719179007}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := calm()
			tt.set(&g)
			got := values(t, g)
			for name, want := range tt.want {
				if value, ok := got[name]; ok != (want != missing) || ok && value != want {
					t.Errorf("%s is %v (%v), want %v", name, value, ok, want)
				}
			}
		})
	}
}

// missing stands for a metric that is not there.
const missing = -1
