package uidprom

import (
	"fmt"
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/uidring/uidring/uid/segment"
)

// NewSegments returns a collector of generators of package segment. segments returns
// the Stats of each generator, by the name that becomes the label generator. The
// collector calls segments for each scrape, from any number of goroutines at once. It
// leaves out names that are not UTF-8.
//
// A registry takes one such collector. The collector starts no goroutine. For a nil
// function, the error matches [ErrGenerator].
func NewSegments(segments func() map[string]segment.Stats) (prometheus.Collector, error) {
	if segments == nil {
		return nil, fmt.Errorf("%w: the function that returns the segments is nil", ErrGenerator)
	}
	c := segmentCollector{segments, make([]*prometheus.Desc, len(segmentMetrics))}
	for i, m := range segmentMetrics {
		c.descs[i] = prometheus.NewDesc(m.name, m.help, []string{"generator"}, nil)
	}
	return c, nil
}

type segmentCollector struct {
	segments func() map[string]segment.Stats
	descs    []*prometheus.Desc // in the order of segmentMetrics
}

func (c segmentCollector) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range c.descs {
		descs <- desc
	}
}

func (c segmentCollector) Collect(collected chan<- prometheus.Metric) {
	all := c.segments()
	for _, name := range slices.Sorted(maps.Keys(all)) { // the registry sorts what is sorted in less time
		stats := all[name]
		for i, m := range segmentMetrics {
			if metric, err := prometheus.NewConstMetric(c.descs[i], m.kind, m.read(stats), name); err == nil {
				collected <- metric
			}
		}
	}
}

// segmentMetric is a metric of each segment.
type segmentMetric struct {
	name, help string
	kind       prometheus.ValueType
	read       func(segment.Stats) float64
}

// segmentMetrics lists all metrics of segments, in the order of the package comment.
var segmentMetrics = []segmentMetric{
	{"uidring_segment_ids_issued_total", "Ids issued.", counter,
		func(s segment.Stats) float64 { return float64(s.Issued) }},
	{"uidring_segment_ids_returned_total", "Ids that Close gave back to the store.", counter,
		func(s segment.Stats) float64 { return float64(s.Returned) }},
	{"uidring_segment_takes_starved_total", "Calls that found no id ready.", counter,
		func(s segment.Stats) float64 { return float64(s.Starved) }},
	{"uidring_segment_takes_rejected_total", "Calls for ids that failed.", counter,
		func(s segment.Stats) float64 { return float64(s.RejectedTakes) }},
	{"uidring_segment_waited_seconds_total", "Time that calls waited for an id, added up.", counter,
		func(s segment.Stats) float64 { return s.Waited.Seconds() }},

	{"uidring_segment_remaining_ids", "Ids that are loaded and not issued.", gauge,
		func(s segment.Stats) float64 { return float64(s.Remaining) }},
	{"uidring_segment_range_ids", "Ids of the range in use.", gauge,
		func(s segment.Stats) float64 { return float64(s.InUse.End - s.InUse.First) }},
	{"uidring_segment_step_ids", "Ids of the range that was loaded last.", gauge,
		func(s segment.Stats) float64 { return float64(s.Step) }},
	{"uidring_segment_next_ready", "1 while the range after the one in use is loaded.", gauge,
		func(s segment.Stats) float64 { return flag(s.Next != segment.Range{}) }},

	{"uidring_segment_loads_total", "Requests to the store for a range.", counter,
		func(s segment.Stats) float64 { return float64(s.Loads) }},
	{"uidring_segment_load_failures_total", "Requests for a range that failed.", counter,
		func(s segment.Stats) float64 { return float64(s.Failures) }},
	{"uidring_segment_load_duration_seconds", "Time that the last request took.", gauge,
		func(s segment.Stats) float64 { return s.LoadTime.Seconds() }},
	{"uidring_segment_loading_seconds", "How long the request under way has taken; 0 without one.", gauge,
		func(s segment.Stats) float64 { return s.Loading.Seconds() }},
	{"uidring_segment_failing", "1 while no range can be loaded.", gauge,
		func(s segment.Stats) float64 { return flag(s.LastError != nil) }},
	{"uidring_segment_closed", "1 once the generator is closed.", gauge,
		func(s segment.Stats) float64 { return flag(s.Closed) }},
}
