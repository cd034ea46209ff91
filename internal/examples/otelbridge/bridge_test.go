// Package otelbridge has generators' metrics in OpenTelemetry, by OpenTelemetry's own
// bridge for Prometheus collectors.
package otelbridge

import (
	"context"
	"fmt"
	"log"

	promclient "github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/contrib/bridges/prometheus"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/uidring/uidring/uid"
	"github.com/uidring/uidring/uid/uidprom"
	"github.com/uidring/uidring/worker/lease"
)

// Example gives OpenTelemetry's reader a registry that holds generators alone. A service
// has a reader that exports: metric.NewPeriodicReader(exporter, metric.WithProducer(producer)).
func Example() {
	ctx := context.Background()
	gen, err := uid.NewCached(ctx, lease.NewStatic(7), uid.CachedConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer gen.Close()
	collector, err := uidprom.New(map[string]uid.Reporter{"orders": gen})
	if err != nil {
		log.Fatal(err)
	}
	registry := promclient.NewRegistry()
	registry.MustRegister(collector)

	producer := prometheus.NewMetricProducer(prometheus.WithGatherer(registry))
	reader := metric.NewManualReader(metric.WithProducer(producer))
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	defer provider.Shutdown(ctx)

	for range 3 {
		if _, err := gen.Next(); err != nil {
			log.Fatal(err)
		}
	}
	var collected metricdata.ResourceMetrics
	if err := reader.Collect(ctx, &collected); err != nil {
		log.Fatal(err)
	}
	for _, scope := range collected.ScopeMetrics {
		for _, m := range scope.Metrics {
			switch data := m.Data.(type) {
			case metricdata.Sum[float64]:
				if m.Name == "uidring_ids_issued_total" {
					name, _ := data.DataPoints[0].Attributes.Value("generator")
					fmt.Println(m.Name, name.AsString(), data.DataPoints[0].Value)
				}
			case metricdata.Gauge[float64]:
				if m.Name == "uidring_worker_number" {
					fmt.Println(m.Name, data.DataPoints[0].Value)
				}
			}
		}
	}
	// Output:
	// uidring_ids_issued_total orders 3
	// uidring_worker_number 7
}
