// Package uidprom exports the statistics of a process's generators to Prometheus.
// It is a module of its own, so that a service without metrics links none.
//
//	collector, err := uidprom.New(map[string]uidprom.Generator{"orders": gen})
//	...
//	prometheus.MustRegister(collector)
//
// # Metrics
//
// Each metric has the label generator: the generator's name in the map. A generator has only
// metrics that it has a value for. Those that begin with uidring_ring or uidring_borrow are
// of uid.Cached. Those that begin with uidring_worker, uidring_lease, uidring_reservation or
// uidring_layout are of generators whose ids carry time. Those that begin with uidring_load
// are of segments and clients.
//
//	uidring_ids_issued_total                   ids issued
//	uidring_ids_remaining                      ids that are ready in memory
//	uidring_ids_dropped_total                  ids dropped: too old, of a lost number, or left at Close
//	uidring_ids_returned_total                 ids that Close gave back to the store
//	uidring_takes_rejected_total               calls for ids that failed
//	uidring_takes_starved_total                calls that found no id ready; they made ids, waited or failed
//	uidring_waited_seconds_total               time that calls waited for an id, added up
//	uidring_failing                            1 while no further ids can be made ready; 0 also while the generator waits for the clock or for reserved time
//	uidring_closed                             1 once the generator is closed
//	uidring_ring_threshold_ids                 the ring is filled when it holds fewer ids than this
//	uidring_ring_capacity_ids                  ids in a full ring
//	uidring_ring_span_seconds                  time that the ids of a full ring cover
//	uidring_ring_oldest_age_seconds            by how much the time of the next id is behind the clock; negative if ahead
//	uidring_ring_age_limit_seconds             MaxAge: by how much the time of an id may be behind the clock; absent without a limit
//	uidring_ring_refills_total                 times that the ring was filled ahead of demand
//	uidring_ring_helps_total                   ticks put by calls that found the ring empty
//	uidring_ring_puts_rejected_total           ticks whose ids were dropped
//	uidring_borrowed_seconds                   by how much the last tick put is ahead of the clock
//	uidring_borrow_limit_seconds               MaxBorrow: by how much the time of an id may be ahead of the clock; absent without a limit
//	uidring_worker_number                      worker number under which ids are stamped; no other process may have it at the same time
//	uidring_worker_number_max                  largest worker number that the layout can hold
//	uidring_worker_changes_total               times that a leased worker number was lost and another taken
//	uidring_lease_failing                      1 while the lease of the worker number is not renewed
//	uidring_reservation_end_timestamp_seconds  end of the time reserved under the worker number, since 1970; absent without an end
//	uidring_layout_end_timestamp_seconds       first instant that the layout cannot stamp, since 1970
//	uidring_layout_info                        1, with the layout of the ids as the label layout
//	uidring_load_step_ids                      ids of the last load; the size of loads follows the rate of calls
//	uidring_load_range_ids                     ids of the range in use
//	uidring_load_next_ready                    1 while the range after the one in use is loaded
//	uidring_loads_total                        requests for ids to the store or the servers
//	uidring_load_failures_total                requests for ids that failed
//	uidring_load_duration_seconds              time that the last request took
//	uidring_load_running_seconds               how long the request under way has taken; 0 without one
//	uidring_load_instance_changes_total        changes of the server's instance that answers
//
// Names and meanings stay; later versions may add metrics. Durations are in seconds,
// and instants in seconds since 1970. The text of an error is not a label, because the
// number of texts has no bound: see the log, or package uidstatus.
//
// # What it costs
//
// Nothing between scrapes: no goroutine, no counter. A scrape takes 10 microseconds a
// generator (go test -bench Collect, in this module), and no call for an id waits for a
// scrape.
//
// # Dashboard and alerts
//
// Beside the source are dashboard.json, to import into Grafana, and alerts.yml,
// a rule file for Prometheus. Alerts fire when worker numbers, the layout or
// borrowed time are nearly used up. They also fire when a lease is not renewed,
// calls fail, a ring is not filled, or a range is not loaded. Change their
// thresholds as you need: with a policy such as uid.Reject, or when a context ends,
// calls fail by design.
package uidprom
