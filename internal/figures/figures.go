// Package figures is the table of what uid.Stats counts: the words and names by which the
// status page, Prometheus and OpenTelemetry show each figure.
package figures

import (
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// Kind is how values of a figure add up.
type Kind byte

// The kinds, by the letters of uidotel's documentation.
const (
	Counter Kind = 'c' // only grows, until the process ends
	UpDown  Kind = 'u' // values of several generators add up
	Gauge   Kind = 'g' // values of several generators do not add up
)

// Seconds is the unit of durations, and of instants since 1970.
const Seconds = "s"

// LayoutInfo is the figure whose only value is 1, and whose label is the layout.
const LayoutInfo = "uidring_layout_info"

// Figure is a quantity of generators that have it.
type Figure struct {
	Name  string // of Prometheus's metric
	OTel  string // of OpenTelemetry's instrument
	Unit  string // in the form of OpenTelemetry
	Kind  Kind
	Label string // on the status page
	Help  string // one sentence
	has   func(*uid.Stats) bool
	value func(*uid.Stats) float64
}

// Read returns the value of a generator. It is not ok for a generator that has no such value.
func (f *Figure) Read(s *uid.Stats) (value float64, ok bool) {
	if !f.has(s) {
		return 0, false
	}
	return f.value(s), true
}

// All lists the figures, in the order in which they are documented.
var All = []Figure{
	{"uidring_ids_issued_total", "uidring.id.issued", "{id}", Counter, "Ids issued", "Ids issued.",
		always, func(s *uid.Stats) float64 { return float64(s.Issued) }},
	{"uidring_ids_remaining", "uidring.id.remaining", "{id}", UpDown, "Ready", "Ids that are ready in memory.",
		hasStock, func(s *uid.Stats) float64 { return float64(s.Remaining) }},
	{"uidring_ids_dropped_total", "uidring.id.dropped", "{id}", Counter, "Ids dropped", "Ids dropped: too old, of a lost number, or left at Close.",
		hasStock, func(s *uid.Stats) float64 { return float64(s.Dropped) }},
	{"uidring_ids_returned_total", "uidring.id.returned", "{id}", Counter, "Ids returned", "Ids that Close gave back to the store.",
		isSegment, func(s *uid.Stats) float64 { return float64(s.Loads.Returned) }},
	{"uidring_takes_rejected_total", "uidring.call.rejected", "{call}", Counter, "Calls for ids that failed", "Calls for ids that failed.",
		always, func(s *uid.Stats) float64 { return float64(s.RejectedTakes) }},
	{"uidring_takes_starved_total", "uidring.call.starved", "{call}", Counter, "Calls that found no id", "Calls that found no id ready. They made ids, waited or failed.",
		hasStock, func(s *uid.Stats) float64 { return float64(s.Starved) }},
	{"uidring_waited_seconds_total", "uidring.call.wait_time", Seconds, Counter, "Time that calls waited", "Time that calls waited for an id, added up.",
		always, func(s *uid.Stats) float64 { return s.Waited.Seconds() }},
	{"uidring_failing", "uidring.generator.failing", "{generator}", UpDown, "", "1 while no further ids can be made; 0 also at the limit of borrowed time, and while time is being reserved.",
		always, func(s *uid.Stats) float64 { return flag(s.Failing()) }},
	{"uidring_closed", "uidring.generator.closed", "{generator}", UpDown, "", "1 once the generator is closed.",
		always, func(s *uid.Stats) float64 { return flag(s.Closed) }},

	{"uidring_ring_threshold_ids", "uidring.ring.threshold", "{id}", UpDown, "Threshold", "The ring is filled when it holds fewer ids than this.",
		hasRing, func(s *uid.Stats) float64 { return float64(s.Ring.Threshold) }},
	{"uidring_ring_capacity_ids", "uidring.ring.capacity", "{id}", UpDown, "Capacity", "Ids in a full ring.",
		hasRing, func(s *uid.Stats) float64 { return float64(s.Ring.Capacity) }},
	{"uidring_ring_span_seconds", "uidring.ring.span", Seconds, Gauge, "Time of a full ring", "Time that the ids of a full ring cover.",
		func(s *uid.Stats) bool { return hasRing(s) && hasClock(s) }, Span},
	{"uidring_ring_oldest_age_seconds", "uidring.ring.age", Seconds, Gauge, "Age of the next id", "By how much the time of the next id is behind the clock; negative if ahead.",
		hasRing, func(s *uid.Stats) float64 { return s.Ring.OldestAge.Seconds() }},
	{"uidring_ring_age_limit_seconds", "uidring.ring.age_limit", Seconds, Gauge, "Limit behind the clock", "MaxAge: by how much the time of an id may be behind the clock; absent without a limit.",
		func(s *uid.Stats) bool { return hasRing(s) && s.Ring.MaxAge >= 0 },
		func(s *uid.Stats) float64 { return s.Ring.MaxAge.Seconds() }},
	{"uidring_ring_refills_total", "uidring.ring.refill", "{refill}", Counter, "Filled ahead of demand", "Times that the ring was filled ahead of demand.",
		hasRing, func(s *uid.Stats) float64 { return float64(s.Ring.Refills) }},
	{"uidring_ring_helps_total", "uidring.ring.help", "{tick}", Counter, "Filled by a caller", "Ticks put by calls that found the ring empty.",
		hasRing, func(s *uid.Stats) float64 { return float64(s.Ring.Helps) }},
	{"uidring_ring_puts_rejected_total", "uidring.ring.rejected_put", "{tick}", Counter, "Ticks dropped", "Ticks whose ids were dropped.",
		hasRing, func(s *uid.Stats) float64 { return float64(s.Ring.RejectedPuts) }},
	{"uidring_borrowed_seconds", "uidring.ring.borrowed", Seconds, Gauge, "Borrowed time", "By how much the last tick put is ahead of the clock.",
		hasRing, func(s *uid.Stats) float64 { return s.Ring.Borrowed.Seconds() }},
	{"uidring_borrow_limit_seconds", "uidring.ring.borrow_limit", Seconds, Gauge, "Limit ahead of the clock", "MaxBorrow: by how much the time of an id may be ahead of the clock; absent without a limit.",
		func(s *uid.Stats) bool { return hasRing(s) && s.Ring.MaxBorrow >= 0 },
		func(s *uid.Stats) float64 { return s.Ring.MaxBorrow.Seconds() }},

	{"uidring_worker_number", "uidring.worker.number", "{number}", Gauge, "Number", "Worker number under which ids are stamped. No other process may have it at the same time.",
		hasClock, func(s *uid.Stats) float64 { return float64(s.Clock.Worker) }},
	{"uidring_worker_number_max", "uidring.worker.max_number", "{number}", Gauge, "Greatest number", "Largest worker number that the layout can hold.",
		hasClock, func(s *uid.Stats) float64 { return float64(MaxWorker(s.Clock.Layout)) }},
	{"uidring_worker_changes_total", "uidring.worker.change", "{change}", Counter, "Numbers lost", "Times that a leased worker number was lost and another taken.",
		hasClock, func(s *uid.Stats) float64 { return float64(s.Clock.WorkerChanges) }},
	{"uidring_lease_failing", "uidring.lease.failing", "{generator}", UpDown, "", "1 while the lease of the worker number is not renewed.",
		hasClock, func(s *uid.Stats) float64 { return flag(s.Clock.LeaseError != nil) }},
	{"uidring_reservation_end_timestamp_seconds", "uidring.lease.reserved_until", Seconds, Gauge, "Reserved until", "End of the time reserved under the worker number, since 1970; absent without an end.",
		func(s *uid.Stats) bool { return hasClock(s) && !s.Clock.ReservedUntil.IsZero() },
		func(s *uid.Stats) float64 { return unix(s.Clock.ReservedUntil) }},
	{"uidring_layout_end_timestamp_seconds", "uidring.layout.end", Seconds, Gauge, "Time ends", "First instant that the layout cannot stamp, since 1970.",
		func(s *uid.Stats) bool { return hasClock(s) && !s.Clock.LayoutEnd.IsZero() },
		func(s *uid.Stats) float64 { return unix(s.Clock.LayoutEnd) }},
	{LayoutInfo, "uidring.layout.info", "{generator}", UpDown, "", "1, with the layout of the ids.",
		hasClock, func(s *uid.Stats) float64 { return 1 }},

	{"uidring_load_step_ids", "uidring.load.step", "{id}", UpDown, "Ids of the last load", "Ids of the last load. The size of loads follows the rate of calls.",
		hasLoads, func(s *uid.Stats) float64 { return float64(s.Loads.Step) }},
	{"uidring_load_range_ids", "uidring.load.range", "{id}", UpDown, "Ids of the range", "Ids of the range in use.",
		isSegment, func(s *uid.Stats) float64 { return float64(s.Loads.InUse.N) }},
	{"uidring_load_next_ready", "uidring.load.next_ready", "{range}", UpDown, "", "1 while the range after the one in use is loaded.",
		isSegment, func(s *uid.Stats) float64 { return flag(s.Loads.Next.N > 0) }},
	{"uidring_loads_total", "uidring.load.request", "{request}", Counter, "Loads", "Requests for ids to the store or the servers.",
		hasLoads, func(s *uid.Stats) float64 { return float64(s.Loads.Loads) }},
	{"uidring_load_failures_total", "uidring.load.failure", "{request}", Counter, "Loads that failed", "Requests for ids that failed.",
		hasLoads, func(s *uid.Stats) float64 { return float64(s.Loads.Failures) }},
	{"uidring_load_duration_seconds", "uidring.load.duration", Seconds, Gauge, "Time of the last load", "Time that the last request took.",
		hasLoads, func(s *uid.Stats) float64 { return s.Loads.LoadTime.Seconds() }},
	{"uidring_load_running_seconds", "uidring.load.running_time", Seconds, Gauge, "", "How long the request under way has taken; 0 without one.",
		isSegment, func(s *uid.Stats) float64 { return s.Loads.Loading.Seconds() }},
	{"uidring_load_instance_changes_total", "uidring.load.instance_change", "{change}", Counter, "Changes of the instance", "Changes of the server's instance that answers.",
		isClient, func(s *uid.Stats) float64 { return float64(s.Loads.Changes) }},
}

// MaxWorker returns the greatest worker number of a layout.
func MaxWorker(layout bits.Layout) int64 { return 1<<layout.WorkerBits - 1 }

// Span returns how many seconds the ids of a full ring cover; 0 for ids that carry no time.
func Span(s *uid.Stats) float64 {
	if !hasRing(s) || !hasClock(s) {
		return 0
	}
	layout := s.Clock.Layout
	return float64(s.Ring.Capacity) / float64(int64(1)<<layout.SequenceBits) * layout.Unit.Seconds()
}

// Check returns what is wrong with the name of a generator, or with the generator.
func Check(name string, generator any) error {
	if name == "" || !utf8.ValidString(name) {
		return fmt.Errorf("the name is %q, want UTF-8 text that is not empty", name)
	}
	// A constructor returns a nil pointer with its error.
	if v := reflect.ValueOf(generator); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Errorf("%q is nil, want a generator such as *uid.Cached", name)
	}
	if made, ok := generator.(interface{ Layout() bits.Layout }); ok {
		if err := made.Layout().Validate(); err != nil {
			return fmt.Errorf("%q was not made by its constructor: %w", name, err)
		}
	}
	return nil
}

func always(*uid.Stats) bool     { return true }
func hasRing(s *uid.Stats) bool  { return s.Ring != nil }
func hasClock(s *uid.Stats) bool { return s.Clock != nil }
func hasLoads(s *uid.Stats) bool { return s.Loads != nil }

// hasStock is for generators that have ids ready in memory.
func hasStock(s *uid.Stats) bool { return hasRing(s) || hasLoads(s) }

// isSegment is for loads that name no instance of a server.
func isSegment(s *uid.Stats) bool { return hasLoads(s) && s.Loads.Instance == "" }
func isClient(s *uid.Stats) bool  { return hasLoads(s) && s.Loads.Instance != "" }

// unix returns seconds since 1970. It avoids UnixNano, which ends after 292 years.
func unix(t time.Time) float64 { return float64(t.Unix()) + float64(t.Nanosecond())/1e9 }

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}
