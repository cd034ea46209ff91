package uidotel

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"

	"github.com/uidring/uidring/bits"
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
	if name == "" || !utf8.ValidString(name) {
		return nil, fmt.Errorf("%w: the name is %q, want UTF-8 text that is not empty", ErrGenerator, name)
	}
	// A constructor returns a nil pointer with its error.
	if v := reflect.ValueOf(generator); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("%w: generator %q is nil, want one such as *uid.Cached", ErrGenerator, name)
	}
	if made, ok := generator.(interface{ Layout() bits.Layout }); ok {
		if err := made.Layout().Validate(); err != nil {
			return nil, fmt.Errorf("%w: generator %q was not made by its constructor: %w", ErrGenerator, name, err)
		}
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
