// Package figures is the table of what uid.Stats counts: the words and names by which the
// status page, Prometheus and OpenTelemetry show each figure.
package figures

import (
	"time"

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
	Label string                                    // on the status page
	Help  string                                    // one sentence
	Read  func(*uid.Stats) (value float64, ok bool) // ok is false for a generator that has no such value
}

// All lists the figures, in the order in which they are documented.
var All = []Figure{
	{"uidring_ids_issued_total", "uidring.id.issued", "{id}", Counter, "Ids issued", "Ids issued.",
		always(func(s *uid.Stats) float64 { return float64(s.Issued) })},
	{"uidring_ids_remaining", "uidring.id.remaining", "{id}", UpDown, "Ready", "Ids that are ready in memory.",
		ofStock(func(s *uid.Stats) float64 { return float64(s.Remaining) })},
	{"uidring_ids_dropped_total", "uidring.id.dropped", "{id}", Counter, "Ids dropped", "Ids dropped: too old, of a lost number, or left at Close.",
		ofStock(func(s *uid.Stats) float64 { return float64(s.Dropped) })},
	{"uidring_ids_returned_total", "uidring.id.returned", "{id}", Counter, "Ids returned", "Ids that Close gave back to the store.",
		ofStore(func(l *uid.LoadStats) float64 { return float64(l.Returned) })},
	{"uidring_takes_rejected_total", "uidring.call.rejected", "{call}", Counter, "Calls for ids that failed", "Calls for ids that failed.",
		always(func(s *uid.Stats) float64 { return float64(s.RejectedTakes) })},
	{"uidring_takes_starved_total", "uidring.call.starved", "{call}", Counter, "Calls that found no id", "Calls that found no id ready. They made ids, waited or failed.",
		ofStock(func(s *uid.Stats) float64 { return float64(s.Starved) })},
	{"uidring_waited_seconds_total", "uidring.call.wait_time", Seconds, Counter, "Time that calls waited", "Time that calls waited for an id, added up.",
		always(func(s *uid.Stats) float64 { return s.Waited.Seconds() })},
	{"uidring_failing", "uidring.generator.failing", "{generator}", UpDown, "", "1 while no further ids can be made; 0 also at the limit of borrowed time, and while time is being reserved.",
		always(func(s *uid.Stats) float64 { return flag(s.Failing()) })},
	{"uidring_closed", "uidring.generator.closed", "{generator}", UpDown, "", "1 once the generator is closed.",
		always(func(s *uid.Stats) float64 { return flag(s.Closed) })},

	{"uidring_ring_threshold_ids", "uidring.ring.threshold", "{id}", UpDown, "Threshold", "The ring is filled when it holds fewer ids than this.",
		ofRing(func(r *uid.RingStats) float64 { return float64(r.Threshold) })},
	{"uidring_ring_capacity_ids", "uidring.ring.capacity", "{id}", UpDown, "Capacity", "Ids in a full ring.",
		ofRing(func(r *uid.RingStats) float64 { return float64(r.Capacity) })},
	{"uidring_ring_span_seconds", "uidring.ring.span", Seconds, Gauge, "Time of a full ring", "Time that the ids of a full ring cover.", span},
	{"uidring_ring_oldest_age_seconds", "uidring.ring.age", Seconds, Gauge, "Age of the next id", "By how much the time of the next id is behind the clock; negative if ahead.",
		ofRing(func(r *uid.RingStats) float64 { return r.OldestAge.Seconds() })},
	{"uidring_ring_age_limit_seconds", "uidring.ring.age_limit", Seconds, Gauge, "Limit behind the clock", "MaxAge: by how much the time of an id may be behind the clock; absent without a limit.",
		limit(func(r *uid.RingStats) time.Duration { return r.MaxAge })},
	{"uidring_ring_refills_total", "uidring.ring.refill", "{refill}", Counter, "Filled ahead of demand", "Times that the ring was filled ahead of demand.",
		ofRing(func(r *uid.RingStats) float64 { return float64(r.Refills) })},
	{"uidring_ring_helps_total", "uidring.ring.help", "{tick}", Counter, "Filled by a caller", "Ticks put by calls that found the ring empty.",
		ofRing(func(r *uid.RingStats) float64 { return float64(r.Helps) })},
	{"uidring_ring_puts_rejected_total", "uidring.ring.rejected_put", "{tick}", Counter, "Ticks dropped", "Ticks whose ids were dropped.",
		ofRing(func(r *uid.RingStats) float64 { return float64(r.RejectedPuts) })},
	{"uidring_borrowed_seconds", "uidring.ring.borrowed", Seconds, Gauge, "Borrowed time", "By how much the last tick put is ahead of the clock.",
		ofRing(func(r *uid.RingStats) float64 { return r.Borrowed.Seconds() })},
	{"uidring_borrow_limit_seconds", "uidring.ring.borrow_limit", Seconds, Gauge, "Limit ahead of the clock", "MaxBorrow: by how much the time of an id may be ahead of the clock; absent without a limit.",
		limit(func(r *uid.RingStats) time.Duration { return r.MaxBorrow })},

	{"uidring_worker_number", "uidring.worker.number", "{number}", Gauge, "Number", "Worker number under which ids are stamped. No other process may have it at the same time.",
		ofClock(func(c *uid.ClockStats) float64 { return float64(c.Worker) })},
	{"uidring_worker_number_max", "uidring.worker.max_number", "{number}", Gauge, "Greatest number", "Largest worker number that the layout can hold.",
		ofClock(func(c *uid.ClockStats) float64 { return float64(MaxWorker(c.Layout)) })},
	{"uidring_worker_changes_total", "uidring.worker.change", "{change}", Counter, "Numbers lost", "Times that a leased worker number was lost and another taken.",
		ofClock(func(c *uid.ClockStats) float64 { return float64(c.WorkerChanges) })},
	{"uidring_lease_failing", "uidring.lease.failing", "{generator}", UpDown, "", "1 while the lease of the worker number is not renewed.",
		ofClock(func(c *uid.ClockStats) float64 { return flag(c.LeaseError != nil) })},
	{"uidring_reservation_end_timestamp_seconds", "uidring.lease.reserved_until", Seconds, Gauge, "Reserved until", "End of the time reserved under the worker number, since 1970; absent without an end.",
		instant(func(c *uid.ClockStats) time.Time { return c.ReservedUntil })},
	{"uidring_layout_end_timestamp_seconds", "uidring.layout.end", Seconds, Gauge, "Time ends", "First instant that the layout cannot stamp, since 1970.",
		instant(func(c *uid.ClockStats) time.Time { return c.LayoutEnd })},
	{LayoutInfo, "uidring.layout.info", "{generator}", UpDown, "", "1, with the layout of the ids.",
		ofClock(func(*uid.ClockStats) float64 { return 1 })},

	{"uidring_load_step_ids", "uidring.load.step", "{id}", UpDown, "Ids of the last load", "Ids of the last load. The size of loads follows the rate of calls.",
		ofLoads(func(l *uid.LoadStats) float64 { return float64(l.Step) })},
	{"uidring_load_range_ids", "uidring.load.range", "{id}", UpDown, "Ids of the range", "Ids of the range in use.",
		ofStore(func(l *uid.LoadStats) float64 { return float64(l.InUse.N) })},
	{"uidring_load_next_ready", "uidring.load.next_ready", "{range}", UpDown, "", "1 while the range after the one in use is loaded.",
		ofStore(func(l *uid.LoadStats) float64 { return flag(l.Next.N > 0) })},
	{"uidring_loads_total", "uidring.load.request", "{request}", Counter, "Loads", "Requests for ids to the store or the servers.",
		ofLoads(func(l *uid.LoadStats) float64 { return float64(l.Loads) })},
	{"uidring_load_failures_total", "uidring.load.failure", "{request}", Counter, "Loads that failed", "Requests for ids that failed.",
		ofLoads(func(l *uid.LoadStats) float64 { return float64(l.Failures) })},
	{"uidring_load_duration_seconds", "uidring.load.duration", Seconds, Gauge, "Time of the last load", "Time that the last request took.",
		ofLoads(func(l *uid.LoadStats) float64 { return l.LoadTime.Seconds() })},
	{"uidring_load_running_seconds", "uidring.load.running_time", Seconds, Gauge, "", "How long the request under way has taken; 0 without one.",
		ofStore(func(l *uid.LoadStats) float64 { return l.Loading.Seconds() })},
	{"uidring_load_instance_changes_total", "uidring.load.instance_change", "{change}", Counter, "Changes of the instance", "Changes of the server's instance that answers.",
		ofServer(func(l *uid.LoadStats) float64 { return float64(l.Changes) })},
}

// MaxWorker returns the greatest worker number of a layout.
func MaxWorker(layout bits.Layout) int64 { return 1<<layout.WorkerBits - 1 }

func always(read func(*uid.Stats) float64) func(*uid.Stats) (float64, bool) {
	return func(s *uid.Stats) (float64, bool) { return read(s), true }
}

// part reads a part of Stats, for generators that have the part.
func part[P any](of func(*uid.Stats) *P, read func(*P) float64) func(*uid.Stats) (float64, bool) {
	return func(s *uid.Stats) (float64, bool) {
		p := of(s)
		if p == nil {
			return 0, false
		}
		return read(p), true
	}
}

// ofStock is for generators that have ids ready in memory.
func ofStock(read func(*uid.Stats) float64) func(*uid.Stats) (float64, bool) {
	return func(s *uid.Stats) (float64, bool) { return read(s), s.Ring != nil || s.Loads != nil }
}

func ofRing(read func(*uid.RingStats) float64) func(*uid.Stats) (float64, bool) {
	return part(func(s *uid.Stats) *uid.RingStats { return s.Ring }, read)
}

func ofClock(read func(*uid.ClockStats) float64) func(*uid.Stats) (float64, bool) {
	return part(func(s *uid.Stats) *uid.ClockStats { return s.Clock }, read)
}

func ofLoads(read func(*uid.LoadStats) float64) func(*uid.Stats) (float64, bool) {
	return part(func(s *uid.Stats) *uid.LoadStats { return s.Loads }, read)
}

// ofStore is for segments, whose loads name no instance of a server.
func ofStore(read func(*uid.LoadStats) float64) func(*uid.Stats) (float64, bool) {
	return part(func(s *uid.Stats) *uid.LoadStats {
		if s.Loads == nil || s.Loads.Instance != "" {
			return nil
		}
		return s.Loads
	}, read)
}

// ofServer is for clients.
func ofServer(read func(*uid.LoadStats) float64) func(*uid.Stats) (float64, bool) {
	return part(func(s *uid.Stats) *uid.LoadStats {
		if s.Loads == nil || s.Loads.Instance == "" {
			return nil
		}
		return s.Loads
	}, read)
}

// limit is absent for a negative duration, which is none.
func limit(of func(*uid.RingStats) time.Duration) func(*uid.Stats) (float64, bool) {
	return func(s *uid.Stats) (float64, bool) {
		if s.Ring == nil || of(s.Ring) < 0 {
			return 0, false
		}
		return of(s.Ring).Seconds(), true
	}
}

// instant is absent for the zero time. It avoids UnixNano, which ends after 292 years.
func instant(of func(*uid.ClockStats) time.Time) func(*uid.Stats) (float64, bool) {
	return func(s *uid.Stats) (float64, bool) {
		if s.Clock == nil || of(s.Clock).IsZero() {
			return 0, false
		}
		t := of(s.Clock)
		return float64(t.Unix()) + float64(t.Nanosecond())/1e9, true
	}
}

// span is the time that the ids of a full ring cover.
func span(s *uid.Stats) (float64, bool) {
	if s.Ring == nil || s.Clock == nil {
		return 0, false
	}
	layout := s.Clock.Layout
	return float64(s.Ring.Capacity) / float64(int64(1)<<layout.SequenceBits) * layout.Unit.Seconds(), true
}

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}
