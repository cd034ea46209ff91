package uidprom

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// Generator is a source of metrics. [*uid.Cached], [*uid.Default] and [*uid.Slots]
// implement it. Both methods must be safe for concurrent use, and not block.
type Generator interface {
	Stats() uid.Stats
	Layout() bits.Layout
}

// ErrGenerator is matched by every error of [New] and [NewSegments].
var ErrGenerator = errors.New("uidprom: invalid generator")

// New returns a collector of the generators. Each key of the map becomes the label
// generator, and is UTF-8 text that is not empty. New reports all faults at once, in an
// error that matches [ErrGenerator]; a nil generator is a fault, and so is an empty
// map.
//
// New does not keep the map. The caller closes the generators; the collector shows a
// closed generator as Close left it, until the collector is unregistered. The collector
// is safe for concurrent use and starts no goroutine. Each part of an app can register
// a collector of its own; a registry refuses a collector that repeats a name.
//
// For labels that all metrics of a process share, use
// [prometheus.WrapRegistererWith].
func New(generators map[string]Generator) (prometheus.Collector, error) {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrGenerator}, args...)...))
	}
	if len(generators) == 0 {
		fault("there is no generator, want one or more")
	}
	c := make(collector, 0, len(generators))
	for _, name := range slices.Sorted(maps.Keys(generators)) {
		g := generators[name]
		if name == "" || !utf8.ValidString(name) {
			fault("the name of a generator is %q, want UTF-8 text that is not empty", name)
			continue
		}
		if isNil(g) {
			fault("generator %q is nil, want one such as *uid.Cached", name)
			continue
		}
		allocator, err := bits.NewAllocator(g.Layout())
		if err != nil {
			fault("generator %q was not made by its constructor: %w", name, err)
			continue
		}
		c = append(c, newSource(name, g, allocator))
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return c, nil
}

// isNil also finds the nil pointer that a constructor returns with its error.
func isNil(g Generator) bool {
	v := reflect.ValueOf(g)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// collector has its sources sorted by name. It does not change.
type collector []source

// source is a generator with the descriptions of its metrics, in the order of metrics.
type source struct {
	Generator
	bits  *bits.Allocator
	descs []*prometheus.Desc
}

func newSource(name string, g Generator, allocator *bits.Allocator) source {
	s := source{g, allocator, make([]*prometheus.Desc, len(metrics))}
	for i, m := range metrics {
		// A registry tells collectors apart by constant labels, not by variable ones.
		labels := prometheus.Labels{"generator": name}
		if m.name == layoutInfo {
			labels["layout"] = allocator.Layout().String()
		}
		s.descs[i] = prometheus.NewDesc(m.name, m.help, nil, labels)
	}
	return s
}

func (c collector) Describe(descs chan<- *prometheus.Desc) {
	for _, s := range c {
		for _, desc := range s.descs {
			descs <- desc
		}
	}
}

func (c collector) Collect(collected chan<- prometheus.Metric) {
	for _, s := range c {
		r := reading{s.Stats(), s.bits}
		for i, m := range metrics {
			if value, ok := m.read(r); ok {
				collected <- prometheus.MustNewConstMetric(s.descs[i], m.kind, value)
			}
		}
	}
}
