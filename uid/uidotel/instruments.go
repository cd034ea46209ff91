package uidotel

import (
	"errors"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/uid"
)

const (
	generatorName = attribute.Key("uidring.generator.name")
	segmentTag    = attribute.Key("uidring.segment.tag")
	layout        = attribute.Key("uidring.layout")
)

// instruments are those of a meter, in the order of figures.All. One of the two is set:
// counts are integers, and seconds are not.
type instruments []struct {
	count   metric.Int64Observable
	seconds metric.Float64Observable
}

func newInstruments(m metric.Meter) (instruments, error) {
	all := make(instruments, len(figures.All))
	faults := make([]error, len(all))
	for i, f := range figures.All {
		unit, help := metric.WithUnit(f.Unit), metric.WithDescription(f.Help)
		switch made := &all[i]; {
		case f.Unit == figures.Seconds && f.Kind == figures.Counter:
			made.seconds, faults[i] = m.Float64ObservableCounter(f.OTel, unit, help)
		case f.Unit == figures.Seconds:
			made.seconds, faults[i] = m.Float64ObservableGauge(f.OTel, unit, help)
		case f.Kind == figures.Counter:
			made.count, faults[i] = m.Int64ObservableCounter(f.OTel, unit, help)
		case f.Kind == figures.UpDown:
			made.count, faults[i] = m.Int64ObservableUpDownCounter(f.OTel, unit, help)
		default:
			made.count, faults[i] = m.Int64ObservableGauge(f.OTel, unit, help)
		}
	}
	return all, errors.Join(faults...)
}

func (all instruments) observables() []metric.Observable {
	list := make([]metric.Observable, len(all))
	for i, made := range all {
		if list[i] = made.seconds; made.count != nil {
			list[i] = made.count
		}
	}
	return list
}

// observe observes the figures that a generator has.
func (all instruments) observe(o metric.Observer, name string, s uid.Stats) {
	attributes := []attribute.KeyValue{generatorName.String(name)}
	if s.Loads != nil && s.Loads.Instance == "" {
		attributes = append(attributes, segmentTag.String(s.Loads.Tag))
	}
	with := metric.WithAttributes(attributes...)
	for i, f := range figures.All {
		value, ok := f.Read(&s)
		if !ok {
			continue
		}
		with := with
		if f.Name == figures.LayoutInfo {
			with = metric.WithAttributes(append(attributes, layout.String(s.Clock.Layout.String()))...)
		}
		if made := all[i]; made.count != nil {
			o.ObserveInt64(made.count, int64(value), with)
		} else {
			o.ObserveFloat64(made.seconds, value, with)
		}
	}
}
