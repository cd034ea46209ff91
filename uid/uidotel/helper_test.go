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
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/uidclient"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// still is a generator whose Stats do not change.
type still[S Stats] struct{ stats S }

func (g still[S]) Stats() S { return g.stats }

// clocked is one with a layout.
type clocked struct {
	still[uid.Stats]
	layout bits.Layout
}

func (g clocked) Layout() bits.Layout { return g.layout }

// calm is a cached generator without faults. The tests of uidprom have the same.
func calm() clocked {
	return clocked{still[uid.Stats]{uid.Stats{
		Worker: 7, Issued: 1200, LayoutEnd: bits.Default().End(),
		Capacity: 65536, Threshold: 32768, Remaining: 64336, Refills: 1,
		OldestAge: 400 * time.Millisecond, MaxBorrow: -1, MaxAge: -1, Borrowed: 7 * time.Second,
	}}, bits.Default()}
}

// troubled has a value of every instrument. The tests of uidprom have the same.
func troubled() clocked {
	g := calm()
	s := &g.stats
	s.WorkerChanges, s.RejectedTakes, s.Waited, s.Closed = 2, 1204, 1500*time.Millisecond, true
	s.ReservedUntil, s.LeaseError = time.Date(2026, time.March, 1, 12, 7, 0, 0, time.UTC), errors.New("connection refused")
	s.Helps, s.RejectedPuts, s.Dropped, s.OldestAge = 3, 4, 5, -2*time.Hour
	s.MaxBorrow, s.Borrowed, s.MaxAge = 24*time.Hour, 23*time.Hour, time.Minute
	s.LastError = errors.New("no")
	return g
}

// plain is a generator without a ring. The tests of uidprom have the same.
func plain() clocked {
	return clocked{still[uid.Stats]{uid.Stats{Worker: 3, LayoutEnd: bits.Snowflake().End()}}, bits.Snowflake()}
}

// counters are segments: one in order, and one closed, with a value of every instrument.
func counters() []segment.Stats {
	ready := segment.Stats{
		Store: "memory", Tag: "invoices", Issued: 1200, Starved: 2, RejectedTakes: 1, Waited: 30 * time.Millisecond, Remaining: 1800,
		InUse: segment.Range{First: 1001, End: 2001}, Next: segment.Range{First: 2001, End: 5001},
		Step: 3000, Loads: 3, Failures: 1, LoadTime: 2 * time.Millisecond,
	}
	closed := ready
	closed.Tag, closed.Next, closed.Closed, closed.Returned = "payments", segment.Range{}, true, 800
	closed.Loading, closed.LastError = 50*time.Millisecond, errors.New("unavailable")
	return []segment.Stats{ready, closed}
}

func client() uidclient.Stats {
	return uidclient.Stats{
		Name: "orders", Issued: 1200, Starved: 2, RejectedTakes: 1, Waited: 30 * time.Millisecond, Closed: true,
		Remaining: 1800, Dropped: 5, Orders: 4, Step: 3000, Fetches: 3, Failures: 6,
		FetchTime: 2 * time.Millisecond, LastError: errors.New("unavailable"),
	}
}

// provider returns a MeterProvider of the SDK, and its reader.
func provider(t testing.TB) (*metric.MeterProvider, *metric.ManualReader) {
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
	kind       kind
	unit       string
	value      float64
	attributes attribute.Set
}

// collect returns all points by the instrument's name, the generator's name and the tag.
func collect(t testing.TB, reader *metric.ManualReader) map[string]point {
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
				add(t, all, m, gauge, d.DataPoints)
			case metricdata.Gauge[float64]:
				add(t, all, m, gauge, d.DataPoints)
			default:
				t.Errorf("%s is a %T", m.Name, d)
			}
		}
	}
	return all
}

func sum(monotonic bool) kind {
	if monotonic {
		return counter
	}
	return updown
}

func add[N int64 | float64](t testing.TB, all map[string]point, m metricdata.Metrics, k kind, points []metricdata.DataPoint[N]) {
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
func register[S Stats](t testing.TB, p *metric.MeterProvider, name string, g Generator[S]) {
	t.Helper()
	if _, err := Register(p, name, g); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
}
