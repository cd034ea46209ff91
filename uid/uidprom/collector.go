package uidprom

import (
	"fmt"
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/internal/invalid"
	"github.com/uidring/uidring/uid"
)

// New returns a collector for the generators. Each key of the map becomes the value of the
// "generator" label, and must be nonempty UTF-8. The error names everything that is invalid,
// including a nil generator and an empty map, and matches [uid.ErrConfig]. For a segment.Striped, the
// metrics are sums over its stores; [NewFunc] can show each store.
//
// The caller closes the generators; the collector keeps exporting the last Stats of a closed
// generator. The collector is safe for concurrent use and starts no goroutine. Each part of an app
// can register its own collector; a registry rejects a collector that repeats a name.
func New(generators map[string]uid.Reporter) (prometheus.Collector, error) {
	faults := invalid.Of("uidprom")
	if len(generators) == 0 {
		faults.Add("generators", "empty", "one or more")
	}
	c := make(collector, 0, len(generators))
	for _, name := range slices.Sorted(maps.Keys(generators)) {
		g := generators[name]
		faults.Wrap("generators", figures.Check(name, g))
		// A registry tells collectors apart by constant labels, not by variable ones.
		c = append(c, source{g, describe(nil, prometheus.Labels{"generator": name})})
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

// describe returns the descriptions of all figures, in their order; nil for texts.
func describe(variable []string, constant prometheus.Labels) []*prometheus.Desc {
	descs := make([]*prometheus.Desc, len(figures.All))
	for i, f := range figures.All {
		labels := variable
		switch f.Kind {
		case figures.Text:
			continue
		case figures.Info:
			labels = append(slices.Clone(variable), "layout")
		}
		help := f.Help
		if f.Note != "" {
			help += " " + f.Note
		}
		descs[i] = prometheus.NewDesc("uidring_"+f.Name, help, labels, constant)
	}
	return descs
}

// send sends the figures that a generator has. Labels are the values of the variable ones.
func send(descs []*prometheus.Desc, s uid.Stats, to chan<- prometheus.Metric, labels ...string) {
	for i, f := range figures.All {
		value := f.Value(&s)
		if descs[i] == nil || value == nil {
			continue
		}
		kind, labels := prometheus.GaugeValue, labels
		number, ok := figures.Number(value)
		switch {
		case f.Kind == figures.Counter:
			kind = prometheus.CounterValue
		case !ok: // an Info
			number, labels = 1, append(slices.Clone(labels), value.(string))
		}
		if metric, err := prometheus.NewConstMetric(descs[i], kind, number, labels...); err == nil {
			to <- metric
		}
	}
}

// collector has its sources sorted by name. It does not change.
type collector []source

type source struct {
	uid.Reporter
	descs []*prometheus.Desc
}

func (c collector) Describe(descs chan<- *prometheus.Desc) {
	for _, s := range c {
		for _, desc := range s.descs {
			if desc != nil {
				descs <- desc
			}
		}
	}
}

func (c collector) Collect(to chan<- prometheus.Metric) {
	for _, s := range c {
		send(s.descs, s.Stats(), to)
	}
}

// NewFunc returns a collector for generators that come and go, such as those that a segment.Tags
// opens for its tags. stats returns the Stats of each generator, keyed by its name, which becomes
// the value of the "generator" label. Each scrape calls stats, possibly concurrently. Names that
// are not UTF-8 are skipped. If stats is nil, the error matches [uid.ErrConfig].
//
// A registry cannot know the metrics in advance, so Unregister cannot find the collector, and a
// scrape fails if another collector has a generator with the same name.
func NewFunc(stats func() map[string]uid.Stats) (prometheus.Collector, error) {
	if stats == nil {
		return nil, fmt.Errorf("uidprom: %w: the function that returns the statistics is nil", uid.ErrConfig)
	}
	return changing{stats, describe([]string{"generator"}, nil)}, nil
}

type changing struct {
	stats func() map[string]uid.Stats
	descs []*prometheus.Desc
}

// Describe sends nothing, so that a registry has it beside collectors of New.
func (changing) Describe(chan<- *prometheus.Desc) {}

func (c changing) Collect(to chan<- prometheus.Metric) {
	all := c.stats()
	for _, name := range slices.Sorted(maps.Keys(all)) { // the registry sorts what is sorted in less time
		send(c.descs, all[name], to, name)
	}
}
