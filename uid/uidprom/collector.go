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

// Generator is what is collected from. [*uid.Cached] and [*uid.Default] are such.
// Both methods may be called from several goroutines at once, and do not block.
type Generator interface {
	Stats() uid.Stats
	Layout() bits.Layout
}

// ErrGenerator is matched by every error about what [New] is given.
var ErrGenerator = errors.New("uidprom: invalid generator")

// New returns a collector of the generators, under the names that they have in the
// map; the name becomes the label generator. A name is any text in UTF-8 but the
// empty one, which to Prometheus is no label. All faults are reported at once, by
// name, in an error that matches [ErrGenerator]; no generator at all is one.
//
// The map is not kept, and the generators remain the caller's: one that is closed
// is shown as it was left, until the collector is unregistered. The collector
// describes all that it collects, may be used from any number of goroutines, and
// starts none. A registry takes several, so that each part of an app can register
// what it has made, and refuses one that has a name of another.
//
// Labels that all metrics of a process share are for
// [prometheus.WrapRegistererWith].
func New(generators map[string]Generator) (prometheus.Collector, error) {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrGenerator}, args...)...))
	}
	if len(generators) == 0 {
		fault("there is none, want one or more")
	}
	c := make(collector, 0, len(generators))
	for _, name := range slices.Sorted(maps.Keys(generators)) {
		g := generators[name]
		if name == "" || !utf8.ValidString(name) {
			fault("its name is %q, want a text in UTF-8 that is not empty", name)
			continue
		}
		if isNil(g) {
			fault("%q is nil, want one such as *uid.Cached", name)
			continue
		}
		allocator, err := bits.NewAllocator(g.Layout())
		if err != nil {
			fault("%q was not made by its constructor: %w", name, err)
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
	if g == nil {
		return true
	}
	v := reflect.ValueOf(g)
	return v.Kind() == reflect.Pointer && v.IsNil()
}

// collector has its sources sorted by name. It does not change.
type collector []source

// source is a generator with the descriptions of its metrics, in their order.
type source struct {
	Generator
	bits  bits.Allocator
	descs []*prometheus.Desc
}

func newSource(name string, g Generator, allocator bits.Allocator) source {
	s := source{g, allocator, make([]*prometheus.Desc, len(metrics))}
	for i, m := range metrics {
		// Constant labels, and not a variable one, tell collectors of different
		// generators apart when they are registered.
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
		r := reading{s.Stats(), &s.bits}
		for i, m := range metrics {
			if value, ok := m.read(r); ok {
				collected <- prometheus.MustNewConstMetric(s.descs[i], m.kind, value)
			}
		}
	}
}
