package uidotel_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidotel"
)

// A service registers each generator once. Its reader here is one that collects on
// demand; a service has one that exports, such as that of OTLP or Prometheus.
func ExampleRegister() {
	ctx := context.Background()
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	defer provider.Shutdown(ctx)

	gen, err := uid.NewCached(ctx, uid.StaticWorker(7), uid.CachedConfig{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gen.Close()
	registration, err := uidotel.Register(provider, "orders", gen)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer registration.Unregister()

	for range 3 {
		if _, err := gen.Next(); err != nil {
			fmt.Println(err)
			return
		}
	}
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &collected); err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range collected.ScopeMetrics[0].Metrics {
		if sum, ok := m.Data.(metricdata.Sum[int64]); ok && m.Name == "uidring.id.issued" {
			for _, point := range sum.DataPoints {
				name, _ := point.Attributes.Value("uidring.generator.name")
				fmt.Println(m.Name, name.AsString(), point.Value, m.Unit)
			}
		}
	}
	// Output:
	// uidring.id.issued orders 3 {id}
}
