// Package uidprom exports the statistics of a process's generators to Prometheus.
// It is a module of its own, so that a service without metrics links none.
//
//	collector, err := uidprom.New(map[string]uidprom.Reporter{"orders": gen})
//	...
//	prometheus.MustRegister(collector)
//
// Beside the source, metrics.txt is a scrape of generators of every kind: it has each
// metric with its help text. Each metric has the label generator: the generator's name in
// the map. A generator has only metrics that it has a value for. Names and meanings stay;
// later versions may add metrics. Durations are in seconds, and instants in seconds since
// 1970. The text of an error is no label: see the log, or package uidstatus.
//
// Between scrapes a collector costs nothing. A scrape takes 10 microseconds a generator
// (go test -bench Collect, in this module), and no call for an id waits for it.
//
// OpenTelemetry's bridge for Prometheus collectors, go.opentelemetry.io/contrib/bridges/prometheus,
// exports these metrics: see [internal/examples/otelbridge].
//
// Beside the source are dashboard.json, to import into Grafana, and alerts.yml, a rule file
// for Prometheus. Change the thresholds of the alerts as you need: with a policy such as
// uid.PolicyReject, or when a context ends, calls fail by design.
//
// [internal/examples/otelbridge]: https://github.com/uidring/uidring/tree/main/internal/examples/otelbridge
package uidprom
