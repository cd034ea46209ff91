// Package uidprom exports the statistics of a process's generators to Prometheus.
// It is a module of its own, so that a service without metrics links none.
//
//	collector, err := uidprom.New(map[string]uidprom.Generator{"orders": gen})
//	...
//	prometheus.MustRegister(collector)
//
// # Metrics
//
// Each metric has the label generator: the generator's name in the map. Only
// *uid.Cached, which has a ring, exports uidring_ids_dropped_total and the metrics that
// begin with uidring_ring or uidring_borrow.
//
//	uidring_ids_issued_total                   ids issued
//	uidring_ids_dropped_total                  ids dropped: too old, of a lost number, or left at Close
//	uidring_takes_rejected_total               calls for ids that failed
//	uidring_waited_seconds_total               time that calls waited for an id, added up
//	uidring_ring_remaining_ids                 ids in the ring
//	uidring_ring_threshold_ids                 the executor fills a ring with fewer ids
//	uidring_ring_capacity_ids                  ids in a full ring
//	uidring_ring_span_seconds                  time that the ids of a full ring cover
//	uidring_ring_oldest_age_seconds            by how much the next id's time is behind the clock; negative if ahead
//	uidring_ring_age_limit_seconds             limit of uidring_ring_oldest_age_seconds; absent without a limit
//	uidring_ring_refills_total                 times that the ring was filled ahead of demand
//	uidring_ring_helps_total                   ticks put by calls that found the ring empty
//	uidring_ring_puts_rejected_total           ticks whose ids were dropped; see Config.RejectedPut
//	uidring_ring_failing                       1 while the ring cannot be filled; 0 while it only waits for the clock or for reserved time
//	uidring_borrowed_seconds                   by how much the last tick put is ahead of the clock
//	uidring_borrow_limit_seconds               limit of uidring_borrowed_seconds; absent without a limit
//	uidring_worker_number                      worker number under which ids are stamped
//	uidring_worker_number_max                  largest worker number that the layout can hold
//	uidring_worker_changes_total               times that a leased number was lost and another taken
//	uidring_lease_failing                      1 while the lease of the number is not renewed
//	uidring_reservation_end_timestamp_seconds  end of the time reserved under the number; absent without an end
//	uidring_layout_end_timestamp_seconds       first instant that the layout cannot stamp
//	uidring_layout_info                        1, with the layout as the label layout
//	uidring_closed                             1 once the generator is closed
//
// [NewSegments] exports generators of package segment. Their metrics have the label
// generator too:
//
//	uidring_segment_ids_issued_total       ids issued
//	uidring_segment_ids_returned_total     ids that Close gave back to the store
//	uidring_segment_takes_starved_total    calls that found no id ready
//	uidring_segment_takes_rejected_total   calls for ids that failed
//	uidring_segment_waited_seconds_total   time that calls waited for an id, added up
//	uidring_segment_remaining_ids          ids that are loaded and not issued
//	uidring_segment_range_ids              ids of the range in use
//	uidring_segment_step_ids               ids of the range that was loaded last
//	uidring_segment_next_ready             1 while the range after the one in use is loaded
//	uidring_segment_loads_total            requests to the store for a range
//	uidring_segment_load_failures_total    requests for a range that failed
//	uidring_segment_load_duration_seconds  time that the last request took
//	uidring_segment_loading_seconds        how long the request under way has taken; 0 without one
//	uidring_segment_failing                1 while no range can be loaded
//	uidring_segment_closed                 1 once the generator is closed
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
