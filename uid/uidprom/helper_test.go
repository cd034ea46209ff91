package uidprom

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// noon is when everything in these tests happens that happens at all.
var noon = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)

// still is a generator that stands as it was set.
type still struct {
	layout bits.Layout
	stats  uid.Stats
}

func (g still) Stats() uid.Stats    { return g.stats }
func (g still) Layout() bits.Layout { return g.layout }

// calm is a cached generator that is in order.
func calm() still {
	return still{bits.Default(), uid.Stats{
		Worker: 7, Issued: 1200, LayoutEnd: bits.Default().End(),
		Capacity: 65536, Threshold: 32768, Remaining: 64336, Refills: 1,
		OldestAge: 400 * time.Millisecond, MaxBorrow: -1, MaxAge: -1, Borrowed: 7 * time.Second,
	}}
}

// troubled has a value in every metric.
func troubled() still {
	g := calm()
	s := &g.stats
	s.WorkerChanges, s.RejectedTakes, s.Waited, s.Closed = 2, 1204, 1500*time.Millisecond, true
	s.ReservedUntil, s.LeaseError = noon.Add(7*time.Minute), errors.New("connection refused")
	s.Helps, s.RejectedPuts, s.Dropped, s.OldestAge = 3, 4, 5, -2*time.Hour
	s.MaxBorrow, s.Borrowed, s.MaxAge = 24*time.Hour, 23*time.Hour, time.Minute
	s.LastError = errors.New("no")
	return g
}

// gather registers the generators and reads them as a scrape does, in a registry
// that looks closely.
func gather(t testing.TB, generators map[string]Generator) []*dto.MetricFamily {
	t.Helper()
	c, err := New(generators)
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c); err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// text returns families in the text format.
func text(t testing.TB, families []*dto.MetricFamily) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, family := range families {
		if _, err := expfmt.MetricFamilyToText(&b, family); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// values returns the values of the only generator, by name.
func values(t testing.TB, g Generator) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for _, family := range gather(t, map[string]Generator{"orders": g}) {
		m := family.GetMetric()[0]
		values[family.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	return values
}
