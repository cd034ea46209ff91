// Package uidprom exports the statistics of a process's generators to Prometheus. It is a
// separate module, so that a service without metrics does not link Prometheus.
//
//	collector, err := uidprom.New(map[string]uidprom.Reporter{"orders": gen})
//	...
//	prometheus.MustRegister(collector)
//
// metrics.txt, beside the source, is a scrape of generators of every kind, with the help text of
// each metric. Each metric has the label generator: the generator's name in the map. A metric
// without a value for a generator is left out. Names and meanings are stable; later versions may
// add metrics. Durations are in seconds, and instants in seconds since 1970. Error texts are not
// exported: see the log, or package uidstatus.
//
// Between scrapes a collector costs nothing. A scrape takes 10 microseconds per generator (go
// test -bench Collect, in this module), and never delays a call for an id.
//
// OpenTelemetry's bridge for Prometheus collectors, go.opentelemetry.io/contrib/bridges/prometheus,
// exports these metrics: see [internal/examples/otelbridge].
//
// Beside the source are dashboard.json, to import into Grafana, and alerts.yml, a rule file for
// Prometheus. Adjust the thresholds of the alerts: with a policy such as uid.PolicyReject, or
// when a context is done, calls fail by design.
//
// [internal/examples/otelbridge]: https://github.com/uidring/uidring/tree/main/internal/examples/otelbridge
package uidprom
