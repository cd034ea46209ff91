package uidotel

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/uid"
)

// Generator is a source of metrics. Stats must be safe for concurrent use, and not block.
// It returns one uid.Stats, or those of several segments, as segment.Striped and
// segment.Tags do.
type Generator[S uid.Stats | []uid.Stats] interface {
	Stats() S
}

// ErrGenerator is matched by every error of [Register] that its arguments cause.
var ErrGenerator = errors.New("uidotel: invalid generator")

// scope is the instrumentation scope of the instruments.
const scope = "github.com/uidring/uidring/uid/uidotel"

// Register has the readers of the provider observe the generator under a name, which is
// UTF-8 text that is not empty. A nil provider is the global one, otel.GetMeterProvider().
//
// Names differ among the generators of a provider: values of equal names add up.
// Register reports an invalid name, a nil generator, and a generator that was not made by
// its constructor, in an error that matches [ErrGenerator]. Other errors are the
// provider's.
//
// The caller closes the generator, and calls Unregister when no more is to be observed.
// Until then, a closed generator is observed as Close left it. Unregister can be called
// repeatedly. Register and Unregister are safe for concurrent use.
func Register[S uid.Stats | []uid.Stats](provider metric.MeterProvider, name string, generator Generator[S]) (metric.Registration, error) {
	if err := figures.Check(name, generator); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrGenerator, err)
	}
	if provider == nil {
		provider = otel.GetMeterProvider()
	}
	meter := provider.Meter(scope)
	all, err := newInstruments(meter)
	if err != nil {
		return nil, err
	}
	return meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		switch s := any(generator.Stats()).(type) {
		case uid.Stats:
			all.observe(o, name, s)
		case []uid.Stats:
			for _, s := range s {
				all.observe(o, name, s)
			}
		}
		return nil
	}, all.observables()...)
}
