package uidotel

import (
	"errors"

	"go.opentelemetry.io/otel/metric"
)

// kind is how values of an instrument add up.
type kind byte

const (
	counter kind = 'c'
	updown  kind = 'u'
	gauge   kind = 'g'
)

// instrument is a row of the table. read returns false if a generator has no value.
type instrument[N int64 | float64] struct {
	name, unit, description string
	kind                    kind
	read                    func(*reading) (value N, ok bool)
}

// instruments are those of a meter: the rows of counts and seconds, in their order.
type instruments struct {
	counts  []metric.Int64Observable
	seconds []metric.Float64Observable
}

func newInstruments(m metric.Meter) (*instruments, error) {
	var all instruments
	var faults []error
	for _, row := range counts {
		var made metric.Int64Observable
		var err error
		switch row.kind {
		case counter:
			made, err = m.Int64ObservableCounter(row.name, metric.WithUnit(row.unit), metric.WithDescription(row.description))
		case updown:
			made, err = m.Int64ObservableUpDownCounter(row.name, metric.WithUnit(row.unit), metric.WithDescription(row.description))
		case gauge:
			made, err = m.Int64ObservableGauge(row.name, metric.WithUnit(row.unit), metric.WithDescription(row.description))
		}
		all.counts, faults = append(all.counts, made), append(faults, err)
	}
	for _, row := range seconds {
		var made metric.Float64Observable
		var err error
		switch row.kind {
		case counter:
			made, err = m.Float64ObservableCounter(row.name, metric.WithUnit(row.unit), metric.WithDescription(row.description))
		case gauge:
			made, err = m.Float64ObservableGauge(row.name, metric.WithUnit(row.unit), metric.WithDescription(row.description))
		}
		all.seconds, faults = append(all.seconds, made), append(faults, err)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return &all, nil
}

func (all *instruments) observables() []metric.Observable {
	list := make([]metric.Observable, 0, len(all.counts)+len(all.seconds))
	for _, i := range all.counts {
		list = append(list, i)
	}
	for _, i := range all.seconds {
		list = append(list, i)
	}
	return list
}

func (all *instruments) observe(o metric.Observer, r reading) {
	for i, row := range counts {
		if value, ok := row.read(&r); ok {
			attributes := r.attributes
			if row.name == layoutInfo {
				attributes = r.info
			}
			o.ObserveInt64(all.counts[i], value, attributes)
		}
	}
	for i, row := range seconds {
		if value, ok := row.read(&r); ok {
			o.ObserveFloat64(all.seconds[i], value, r.attributes)
		}
	}
}
