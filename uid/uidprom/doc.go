// Package uidprom has Prometheus read what the generators of a process do. It is a
// module of its own, so that a service without metrics links none.
//
//	collector, err := uidprom.New(map[string]uidprom.Generator{"orders": gen})
//	...
//	prometheus.MustRegister(collector)
//
// # Metrics
//
// Each has the label generator, the name that the generator has in the map. Those
// that begin with uidring_ring or uidring_borrow, and dropped ids, are of
// generators with a ring: *uid.Cached, not *uid.Default.
//
//	uidring_ids_issued_total                   ids issued
//	uidring_ids_dropped_total                  ids dropped for their age, or by Close
//	uidring_takes_rejected_total               calls for ids that failed
//	uidring_waited_seconds_total               time that calls waited for an id, all together
//	uidring_ring_remaining_ids                 ids in the ring
//	uidring_ring_threshold_ids                 fewer ids than these, and it is filled again
//	uidring_ring_capacity_ids                  ids that it holds when full
//	uidring_ring_span_seconds                  time that the ids of a full ring carry
//	uidring_ring_oldest_age_seconds            since the time that the next id carries; negative if that is yet to come
//	uidring_ring_refills_total                 times that it was filled ahead of demand
//	uidring_ring_helps_total                   ticks that takers put because it was empty
//	uidring_ring_puts_rejected_total           times that it refused a tick's ids
//	uidring_ring_failing                       1 while it cannot be filled; a bound of borrowed time that is reached is no failure
//	uidring_borrowed_seconds                   how far ahead of the clock the last tick made is
//	uidring_borrow_limit_seconds               how far that may be; absent without bound
//	uidring_worker_number                      number under which ids are stamped
//	uidring_worker_number_max                  largest that the layout can hold
//	uidring_worker_changes_total               times that a leased number was lost and another taken
//	uidring_lease_failing                      1 while no more time is being reserved under the number
//	uidring_reservation_end_timestamp_seconds  end of the reserved time; absent where that has no end
//	uidring_layout_end_timestamp_seconds       first instant that the layout cannot stamp
//	uidring_layout_info                        1, with the layout as the label layout
//	uidring_closed                             1 once the generator is closed
//
// Names and meanings stay; more may come. Time is in seconds, and instants are in
// seconds since 1970. The text of an error is no label, since there is no end to
// their number: it is in the log, and on the page of package uidhttp.
//
// # What it costs
//
// Nothing between scrapes: no goroutine, no counter. A scrape takes some 10
// microseconds a generator (go test -bench Collect, in this module), and no id
// waits for it.
//
// # What to do with them
//
// Beside the source are dashboard.json, to be imported into Grafana, and
// alerts.yml, a rule file for Prometheus. Its alerts tell when worker numbers are
// nearly used up, the layout is nearly over, borrowed time nears its bound, a lease
// is not renewed, takes are rejected, and a ring is not filled. Their thresholds
// are there to be changed.
//
// Rejected takes alone are no proof of trouble: a policy such as uid.Reject fails by
// design, and so does a call whose context ends.
package uidprom
