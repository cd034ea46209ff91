package uidotel

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/segment"
	"github.com/uidring/uidring/uid/uidclient"
)

// reading is the state of one generator at one collection. One of clocked, segment and
// client is not nil.
type reading struct {
	common
	clocked    *uid.Stats
	layout     *bits.Allocator // nil if the generator has no layout
	segment    *segment.Stats
	client     *uidclient.Stats
	attributes metric.MeasurementOption
	info       metric.MeasurementOption // attributes with the layout; nil without one
}

// common is what the statistics of all generators have.
type common struct {
	issued, rejected int64
	waited           time.Duration
	closed           bool
}

// describer makes readings of a generator. It does not change.
type describer struct {
	name             attribute.KeyValue
	layout           *bits.Allocator
	attributes, info metric.MeasurementOption
}

func newDescriber(name string, layout *bits.Allocator) describer {
	d := describer{name: attribute.String("uidring.generator.name", name), layout: layout}
	d.attributes = metric.WithAttributeSet(attribute.NewSet(d.name))
	if layout != nil {
		d.info = metric.WithAttributeSet(attribute.NewSet(d.name, attribute.String("uidring.layout", layout.Layout().String())))
	}
	return d
}

// readings returns one reading, or one for each segment.
func (d describer) readings(stats any) []reading {
	switch s := stats.(type) {
	case uid.Stats:
		return []reading{{common: common{s.Issued, s.RejectedTakes, s.Waited, s.Closed},
			clocked: &s, layout: d.layout, attributes: d.attributes, info: d.info}}
	case uidclient.Stats:
		return []reading{{common: common{s.Issued, s.RejectedTakes, s.Waited, s.Closed}, client: &s, attributes: d.attributes}}
	case segment.Stats:
		return d.readings([]segment.Stats{s})
	case []segment.Stats:
		all := make([]reading, len(s))
		for i := range s {
			s := &s[i]
			tag := attribute.String("uidring.segment.tag", s.Tag)
			all[i] = reading{common: common{s.Issued, s.RejectedTakes, s.Waited, s.Closed},
				segment: s, attributes: metric.WithAttributeSet(attribute.NewSet(d.name, tag))}
		}
		return all
	}
	panic("uidotel: Stats has a type that readings has not") // TestEveryGenerator has all
}

func (r *reading) hasRing() bool { return r.clocked != nil && r.clocked.Capacity > 0 }

// fullRing returns the seconds that the ids of a full ring cover.
func (r *reading) fullRing() float64 {
	return float64(r.clocked.Capacity) / float64(r.layout.MaxSequence()+1) * r.layout.Layout().Unit.Seconds()
}

// timestamp avoids UnixNano, which ends after 292 years.
func timestamp(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}

func flag(set bool) int64 {
	if set {
		return 1
	}
	return 0
}
