package uidotel

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.uber.org/goleak"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/uid"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// still is a generator whose Stats do not change.
type still[S uid.Stats | []uid.Stats] struct{ stats S }

func (g still[S]) Stats() S { return g.stats }

// calm is a cached generator without faults.
func calm() still[uid.Stats] {
	return still[uid.Stats]{uid.Stats{
		Issued: 1200, Remaining: 64336,
		Clock: &uid.ClockStats{Layout: bits.Default(), LayoutEnd: bits.Default().End(), Worker: 7},
		Ring:  &uid.RingStats{Capacity: 65536, Threshold: 32768, Refills: 1, MaxBorrow: -1, MaxAge: -1, Borrowed: 7 * time.Second},
	}}
}

// troubled has a value of every instrument of a ring and a clock.
func troubled() still[uid.Stats] {
	g := calm()
	s := &g.stats
	s.RejectedTakes, s.Starved, s.Waited, s.Closed, s.Dropped, s.LastError = 1204, 6, 1500*time.Millisecond, true, 5, errors.New("no")
	s.Clock.WorkerChanges, s.Clock.ReservedUntil, s.Clock.LeaseError = 2, time.Date(2026, time.March, 1, 12, 7, 0, 5e8, time.UTC), errors.New("connection refused")
	s.Ring.Helps, s.Ring.RejectedPuts, s.Ring.OldestAge = 3, 4, -2*time.Hour
	s.Ring.MaxBorrow, s.Ring.Borrowed, s.Ring.MaxAge = 24*time.Hour, 23*time.Hour, time.Minute
	return g
}

// counters are segments: one in order, and one closed, with a value of every instrument.
func counters() still[[]uid.Stats] {
	ready := uid.Stats{Issued: 1200, Starved: 2, RejectedTakes: 1, Waited: 30 * time.Millisecond, Remaining: 1800, Loads: &uid.LoadStats{
		From: "memory", Tag: "invoices", InUse: uid.Run{First: 1001, N: 1000}, Next: uid.Run{First: 2001, N: 3000},
		Step: 3000, Loads: 3, Failures: 1, LoadTime: 2 * time.Millisecond,
	}}
	closed := ready
	closed.Closed, closed.LastError = true, errors.New("unavailable")
	closed.Loads = &uid.LoadStats{From: "memory", Tag: "payments", InUse: uid.Run{First: 1001, N: 1000}, Returned: 800, Loading: 50 * time.Millisecond}
	return still[[]uid.Stats]{[]uid.Stats{ready, closed}}
}

func client() still[uid.Stats] {
	return still[uid.Stats]{uid.Stats{Issued: 1200, Dropped: 5, Remaining: 1800, Closed: true, LastError: errors.New("unavailable"), Loads: &uid.LoadStats{
		From: "http://b/v1/orders/runs", Tag: "orders", Instance: "b", Changes: 4, Step: 3000, Loads: 9, Failures: 6, LoadTime: 2 * time.Millisecond,
	}}}
}

// provider returns a MeterProvider of the SDK, and its reader.
func provider(t *testing.T) (*metric.MeterProvider, *metric.ManualReader) {
	reader := metric.NewManualReader()
	p := metric.NewMeterProvider(metric.WithReader(reader))
	t.Cleanup(func() {
		if err := p.Shutdown(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	return p, reader
}

// point is a value of an instrument, as the SDK's reader returns it.
type point struct {
	kind       figures.Kind
	unit       string
	value      float64
	attributes attribute.Set
}

// collect returns all points by the instrument's name, the generator's name and the tag.
func collect(t *testing.T, reader *metric.ManualReader) map[string]point {
	t.Helper()
	var data metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &data); err != nil {
		t.Fatal(err)
	}
	all := map[string]point{}
	for _, s := range data.ScopeMetrics {
		if s.Scope.Name != scope {
			t.Errorf("the scope is %q, want %q", s.Scope.Name, scope)
		}
		for _, m := range s.Metrics {
			switch d := m.Data.(type) {
			case metricdata.Sum[int64]:
				add(t, all, m, sum(d.IsMonotonic), d.DataPoints)
			case metricdata.Sum[float64]:
				add(t, all, m, sum(d.IsMonotonic), d.DataPoints)
			case metricdata.Gauge[int64]:
				add(t, all, m, figures.Gauge, d.DataPoints)
			case metricdata.Gauge[float64]:
				add(t, all, m, figures.Gauge, d.DataPoints)
			default:
				t.Errorf("%s is a %T", m.Name, d)
			}
		}
	}
	return all
}

func sum(monotonic bool) figures.Kind {
	if monotonic {
		return figures.Counter
	}
	return figures.UpDown
}

func add[N int64 | float64](t *testing.T, all map[string]point, m metricdata.Metrics, k figures.Kind, points []metricdata.DataPoint[N]) {
	if m.Description == "" {
		t.Errorf("%s has no description", m.Name)
	}
	for _, p := range points {
		name, _ := p.Attributes.Value("uidring.generator.name")
		key := m.Name + " " + name.AsString()
		if tag, ok := p.Attributes.Value("uidring.segment.tag"); ok {
			key += " " + tag.AsString()
		}
		if _, twice := all[key]; twice {
			t.Errorf("%s is there twice", key)
		}
		all[key] = point{k, m.Unit, float64(p.Value), p.Attributes}
	}
}

// register registers the generator, or fails the test.
func register[S uid.Stats | []uid.Stats](t *testing.T, p *metric.MeterProvider, name string, g Generator[S]) {
	t.Helper()
	if _, err := Register(p, name, g); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
}
