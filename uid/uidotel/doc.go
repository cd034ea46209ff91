// Package uidotel exports the statistics of generators as OpenTelemetry metrics. It is a
// module of its own, so that a service without metrics links none.
//
//	registration, err := uidotel.Register(nil, "orders", gen)
//	...
//	defer registration.Unregister()
//
// [Register] takes every generator of uidring: uid.Cached, Default, Slots and Backfill,
// segment.Generator, Striped and Tags, and uidclient.Client. nil stands for the global
// MeterProvider of go.opentelemetry.io/otel. Reader, exporter and resource are the
// application's choice; this package requires OpenTelemetry's API alone.
//
// # Instruments
//
// All are observable: counters (c), up-down counters (u) and gauges (g). A generator
// observes only instruments that it has a value for. The last column is the metric of
// package uidprom, whose documentation describes each.
//
//	uidring.id.issued               c {id}         uidring_ids_issued_total
//	uidring.id.remaining            u {id}         uidring_ids_remaining
//	uidring.id.dropped              c {id}         uidring_ids_dropped_total
//	uidring.id.returned             c {id}         uidring_ids_returned_total
//	uidring.call.rejected           c {call}       uidring_takes_rejected_total
//	uidring.call.starved            c {call}       uidring_takes_starved_total
//	uidring.call.wait_time          c s            uidring_waited_seconds_total
//	uidring.generator.failing       u {generator}  uidring_failing
//	uidring.generator.closed        u {generator}  uidring_closed
//	uidring.ring.threshold          u {id}         uidring_ring_threshold_ids
//	uidring.ring.capacity           u {id}         uidring_ring_capacity_ids
//	uidring.ring.span               g s            uidring_ring_span_seconds
//	uidring.ring.age                g s            uidring_ring_oldest_age_seconds
//	uidring.ring.age_limit          g s            uidring_ring_age_limit_seconds
//	uidring.ring.refill             c {refill}     uidring_ring_refills_total
//	uidring.ring.help               c {tick}       uidring_ring_helps_total
//	uidring.ring.rejected_put       c {tick}       uidring_ring_puts_rejected_total
//	uidring.ring.borrowed           g s            uidring_borrowed_seconds
//	uidring.ring.borrow_limit       g s            uidring_borrow_limit_seconds
//	uidring.worker.number           g {number}     uidring_worker_number
//	uidring.worker.max_number       g {number}     uidring_worker_number_max
//	uidring.worker.change           c {change}     uidring_worker_changes_total
//	uidring.lease.failing           u {generator}  uidring_lease_failing
//	uidring.lease.reserved_until    g s            uidring_reservation_end_timestamp_seconds
//	uidring.layout.end              g s            uidring_layout_end_timestamp_seconds
//	uidring.layout.info             u {generator}  uidring_layout_info
//	uidring.load.step               u {id}         uidring_load_step_ids
//	uidring.load.range              u {id}         uidring_load_range_ids
//	uidring.load.next_ready         u {range}      uidring_load_next_ready
//	uidring.load.request            c {request}    uidring_loads_total
//	uidring.load.failure            c {request}    uidring_load_failures_total
//	uidring.load.duration           g s            uidring_load_duration_seconds
//	uidring.load.running_time       g s            uidring_load_running_seconds
//	uidring.load.instance_change    c {change}     uidring_load_instance_changes_total
//
// Names and meanings stay; later versions may add instruments. Counts are integers.
// Durations are in seconds, and instants in seconds since 1970, both floating point.
//
// # Attributes
//
//	uidring.generator.name  the name given to Register
//	uidring.segment.tag     the counter's tag; of segments alone
//	uidring.layout          the layout as text; of uidring.layout.info alone
//
// Tags has one set of attributes for each tag that is loaded. OpenTelemetry's SDK has
// a cardinality limit, 2,000 sets by default, and adds up the values of all further sets.
//
// # What it costs
//
// Nothing between collections: no goroutine, no counter. A collection reads each
// generator's Stats once, and no call for an id waits for a collection.
package uidotel
