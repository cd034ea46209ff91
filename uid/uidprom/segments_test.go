package uidprom

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	dto "github.com/prometheus/client_model/go"

	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/segment/segmenttest"
)

// segments are of every kind, with a value in every metric.
func segments() map[string]segment.Stats {
	ready := segment.Stats{
		Issued: 1200, Starved: 2, RejectedTakes: 1, Waited: 30 * time.Millisecond, Remaining: 1800,
		InUse: segment.Range{First: 1001, End: 2001}, Next: segment.Range{First: 2001, End: 5001},
		Step: 3000, Loads: 3, Failures: 1, LoadTime: 2 * time.Millisecond,
	}
	closed := ready
	closed.Next, closed.Closed, closed.Returned = segment.Range{}, true, 800
	closed.Loading, closed.LastError = 50*time.Millisecond, errors.New("unavailable")
	return map[string]segment.Stats{"invoices": ready, "payments": closed, "not\xffutf8": ready}
}

func segmentCollectorOf(t testing.TB, f func() map[string]segment.Stats) prometheus.Collector {
	t.Helper()
	c, err := NewSegments(f)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSegmentValues(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(segmentCollectorOf(t, segments))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]float64{}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			name := m.GetLabel()[0].GetValue()
			if got[name] == nil {
				got[name] = map[string]float64{}
			}
			got[name][family.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	if len(got) != 2 || len(got["invoices"]) != len(segmentMetrics) {
		t.Fatalf("%v", got)
	}
	for name, want := range map[string][2]float64{
		"uidring_segment_ids_issued_total":      {1200, 1200},
		"uidring_segment_ids_returned_total":    {0, 800},
		"uidring_segment_takes_starved_total":   {2, 2},
		"uidring_segment_takes_rejected_total":  {1, 1},
		"uidring_segment_waited_seconds_total":  {0.03, 0.03},
		"uidring_segment_remaining_ids":         {1800, 1800},
		"uidring_segment_range_ids":             {1000, 1000},
		"uidring_segment_step_ids":              {3000, 3000},
		"uidring_segment_next_ready":            {1, 0},
		"uidring_segment_loads_total":           {3, 3},
		"uidring_segment_load_failures_total":   {1, 1},
		"uidring_segment_load_duration_seconds": {0.002, 0.002},
		"uidring_segment_loading_seconds":       {0, 0.05},
		"uidring_segment_failing":               {0, 1},
		"uidring_segment_closed":                {0, 1},
	} {
		if invoices, payments := got["invoices"][name], got["payments"][name]; invoices != want[0] || payments != want[1] {
			t.Errorf("%s is %v and %v, want %v", name, invoices, payments, want)
		}
	}
}

// Segments come and go between scrapes, beside generators of other kinds.
func TestSegmentsComeAndGo(t *testing.T) {
	all := map[string]segment.Stats{}
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(segmentCollectorOf(t, func() map[string]segment.Stats { return all }))
	clocked, err := New(map[string]Generator{"orders": calm()})
	if err != nil {
		t.Fatal(err)
	}
	registry.MustRegister(clocked)
	for _, names := range [][]string{{}, {"orders", "invoices"}, {"invoices"}} {
		clear(all)
		for _, name := range names {
			all[name] = segments()["invoices"]
		}
		families, err := registry.Gather()
		found := 0
		for _, family := range families {
			if family.GetName() == "uidring_segment_closed" {
				found = len(family.GetMetric())
			}
		}
		if err != nil || found != len(names) {
			t.Errorf("%d segments, %v, want %d", found, err, len(names))
		}
	}
	if _, err := NewSegments(nil); !errors.Is(err, ErrGenerator) {
		t.Errorf("NewSegments(nil) = %v, want ErrGenerator", err)
	}
	err = registry.Register(segmentCollectorOf(t, segments))
	if !errors.As(err, new(prometheus.AlreadyRegisteredError)) {
		t.Errorf("a second collector: %v, want AlreadyRegisteredError", err)
	}
}

// A collector returns segments in the order of the registry, which then has little to sort.
func TestSegmentOrder(t *testing.T) {
	all := map[string]segment.Stats{}
	for i := range 100 {
		all[fmt.Sprint(i)] = segment.Stats{}
	}
	collected := make(chan prometheus.Metric, len(all)*len(segmentMetrics))
	segmentCollectorOf(t, func() map[string]segment.Stats { return all }).Collect(collected)
	var last string
	for range len(collected) {
		m := new(dto.Metric)
		if err := (<-collected).Write(m); err != nil {
			t.Fatal(err)
		}
		if name := m.GetLabel()[0].GetValue(); name < last {
			t.Fatalf("%s stands after %s", name, last)
		} else {
			last = name
		}
	}
}

// BenchmarkScrape is what a scrape of many tags costs.
func BenchmarkScrape(b *testing.B) {
	tags, err := segment.NewTags(new(segmenttest.Memory), segment.TagsConfig{Config: segment.Config{Create: true, Logger: slog.New(slog.DiscardHandler)}})
	if err != nil {
		b.Fatal(err)
	}
	defer tags.Close()
	for i := range 3000 {
		if _, err := tags.Next(b.Context(), fmt.Sprintf("tenant-%04d", i)); err != nil {
			b.Fatal(err)
		}
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(segmentCollectorOf(b, func() map[string]segment.Stats {
		all := map[string]segment.Stats{}
		for _, s := range tags.Stats() {
			all[s.Tag] = s
		}
		return all
	}))
	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		b.ReportMetric(float64(w.Body.Len()), "bytes")
	}
}
