// Package uidprom exports the statistics of a process's generators to Prometheus. It is a
// separate module, so that a service without metrics does not depend on Prometheus.
//
//	collector, err := uidprom.New(map[string]uid.Reporter{"orders": gen})
//	...
//	prometheus.MustRegister(collector)
//
// metrics.txt, in the package's directory, shows a scrape of every kind of generator, with each
// metric's help text. Each metric has a label named "generator", whose value is the generator's
// name in the map. A metric without a value for a generator is left out. Names and meanings are
// stable; later versions may add metrics. Durations are in seconds, and timestamps in Unix
// seconds. Error text is not exported: see the log, or package uidstatus.
//
// Between scrapes a collector costs nothing. A scrape takes about 10 microseconds per generator (go
// test -bench Collect, in this module), and never delays a call for an id.
//
// OpenTelemetry's bridge for Prometheus collectors, go.opentelemetry.io/contrib/bridges/prometheus,
// exports these metrics: see [internal/examples/otelbridge].
//
// The package's directory also contains dashboard.json, which you can import into Grafana, and
// alerts.yml, a rule file for Prometheus. Adjust the alert thresholds: some calls fail by design,
// as with uid.PolicyReject or when a context is done.
//
// [internal/examples/otelbridge]: https://github.com/uidring/uidring/tree/main/internal/examples/otelbridge
package uidprom
