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
// observes the instruments that it has a value for. The last column is what package
// uidprom calls the same: after its prefix uidring_, and for segments after
// uidring_segment_, written ~.
//
//	uidring.id.issued               c {id}         ids issued                                        ids_issued_total ~ids_issued_total
//	uidring.id.remaining            u {id}         ids ready in memory                               ring_remaining_ids ~remaining_ids
//	uidring.id.dropped              c {id}         ids dropped: too old, of a lost number, by Close  ids_dropped_total
//	uidring.id.returned             c {id}         ids that Close gave back to the store             ~ids_returned_total
//	uidring.call.rejected           c {call}       calls for ids that failed                         takes_rejected_total ~takes_rejected_total
//	uidring.call.starved            c {call}       calls that found no id ready                      ~takes_starved_total
//	uidring.call.wait_time          c s            time that calls waited for an id, added up        waited_seconds_total ~waited_seconds_total
//	uidring.generator.closed        u {generator}  1 once the generator is closed                    closed ~closed
//	uidring.ring.threshold          u {id}         the executor fills a ring with fewer ids          ring_threshold_ids
//	uidring.ring.capacity           u {id}         ids in a full ring                                ring_capacity_ids
//	uidring.ring.span               g s            time that the ids of a full ring cover            ring_span_seconds
//	uidring.ring.age                g s            next id's time behind the clock; negative: ahead  ring_oldest_age_seconds
//	uidring.ring.age_limit          g s            limit of uidring.ring.age; absent without one     ring_age_limit_seconds
//	uidring.ring.refill             c {refill}     times that the ring was filled ahead of demand    ring_refills_total
//	uidring.ring.help               c {tick}       ticks put by calls that found the ring empty      ring_helps_total
//	uidring.ring.rejected_put       c {tick}       ticks whose ids were dropped                      ring_puts_rejected_total
//	uidring.ring.failing            u {generator}  1 while the ring cannot be filled                 ring_failing
//	uidring.ring.borrowed           g s            last tick put, ahead of the clock                 borrowed_seconds
//	uidring.ring.borrow_limit       g s            limit of the former; absent without one           borrow_limit_seconds
//	uidring.worker.number           g {number}     worker number under which ids are stamped         worker_number
//	uidring.worker.max_number       g {number}     largest number that the layout can hold           worker_number_max
//	uidring.worker.change           c {change}     times that a leased number was lost               worker_changes_total
//	uidring.lease.failing           u {generator}  1 while the lease of the number is not renewed    lease_failing
//	uidring.lease.reserved_until    g s            end of the reserved time; absent without one      reservation_end_timestamp_seconds
//	uidring.layout.end              g s            first instant that the layout cannot stamp        layout_end_timestamp_seconds
//	uidring.layout.info             u {generator}  1, with the attribute uidring.layout              layout_info
//	uidring.segment.range           u {id}         ids of the range in use                           ~range_ids
//	uidring.segment.step            u {id}         ids of the range that was loaded last             ~step_ids
//	uidring.segment.next_ready      u {range}      1 while the range after the one in use is loaded  ~next_ready
//	uidring.segment.load            c {request}    requests to the store for a range                 ~loads_total
//	uidring.segment.load_failure    c {request}    requests for a range that failed                  ~load_failures_total
//	uidring.segment.load_duration   g s            time that the last request took                   ~load_duration_seconds
//	uidring.segment.loading_time    g s            time of the request under way; 0 without one      ~loading_seconds
//	uidring.segment.failing         u {generator}  1 while no range can be loaded                    ~failing
//	uidring.client.step             u {id}         ids of the server's last answer                   -
//	uidring.client.fetch            c {response}   answers with ids                                  -
//	uidring.client.fetch_failure    c {request}    requests to servers that failed                   -
//	uidring.client.fetch_duration   g s            time that the last answer took                    -
//	uidring.client.instance_change  c {change}     changes of the instance that answers              -
//	uidring.client.failing          u {generator}  1 while no ids can be fetched                     -
//
// Names and meanings stay; later versions may add instruments. Counts are integers.
// Durations are in seconds, and instants in seconds since 1970, both floating point.
// uidring.ring.failing is 0 while the ring only waits for the clock or for reserved time.
//
// # Attributes
//
//	uidring.generator.name  the name given to Register
//	uidring.segment.tag     the counter's tag; of segments alone
//	uidring.layout          the layout as text; of uidring.layout.info alone
//
// Tags has one set of attributes for each tag that is loaded. OpenTelemetry's SDK adds up
// those beyond its cardinality limit, which is 2,000 sets by default.
//
// # What it costs
//
// Nothing between collections: no goroutine, no counter. A collection reads each
// generator's Stats once, and no call for an id waits for a collection.
package uidotel
