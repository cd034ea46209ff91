package uidprom

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// metric is a metric of each generator for which read returns a value.
type metric struct {
	name, help string
	kind       prometheus.ValueType
	read       func(reading) (value float64, ok bool)
}

// reading is the state of a generator at one scrape.
type reading struct {
	uid.Stats
	bits *bits.Allocator
}

const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
)

// layoutInfo is the only metric with a second label.
const layoutInfo = "uidring_layout_info"

// metrics lists all metrics, in the order of the package comment.
var metrics = []metric{
	{"uidring_ids_issued_total", "Ids issued.", counter,
		always(func(r reading) float64 { return float64(r.Issued) })},
	{"uidring_ids_dropped_total", "Ids dropped: too old, of a lost number, or left at Close.", counter,
		ofRing(func(r reading) float64 { return float64(r.Dropped) })},
	{"uidring_takes_rejected_total", "Calls for ids that failed.", counter,
		always(func(r reading) float64 { return float64(r.RejectedTakes) })},
	{"uidring_waited_seconds_total", "Time that calls waited for an id, added up.", counter,
		always(func(r reading) float64 { return r.Waited.Seconds() })},

	{"uidring_ring_remaining_ids", "Ids in the ring.", gauge,
		ofRing(func(r reading) float64 { return float64(r.Remaining) })},
	{"uidring_ring_threshold_ids", "The ring is filled again when it holds fewer ids.", gauge,
		ofRing(func(r reading) float64 { return float64(r.Threshold) })},
	{"uidring_ring_capacity_ids", "Ids in a full ring.", gauge,
		ofRing(func(r reading) float64 { return float64(r.Capacity) })},
	{"uidring_ring_span_seconds", "Time that the ids of a full ring cover.", gauge, ofRing(fullRing)},
	{"uidring_ring_oldest_age_seconds", "By how much the time of the next id is behind the clock; negative if ahead.", gauge,
		ofRing(func(r reading) float64 { return r.OldestAge.Seconds() })},
	{"uidring_ring_age_limit_seconds", "Limit of how far behind the clock ids are issued; absent without a limit.", gauge,
		func(r reading) (float64, bool) { return r.MaxAge.Seconds(), hasRing(r) && r.MaxAge >= 0 }},
	{"uidring_ring_refills_total", "Times that the ring was filled ahead of demand.", counter,
		ofRing(func(r reading) float64 { return float64(r.Refills) })},
	{"uidring_ring_helps_total", "Ticks put by calls that found the ring empty.", counter,
		ofRing(func(r reading) float64 { return float64(r.Helps) })},
	{"uidring_ring_puts_rejected_total", "Ticks whose ids were dropped; see Config.RejectedPut.", counter,
		ofRing(func(r reading) float64 { return float64(r.RejectedPuts) })},
	{"uidring_ring_failing", "1 while the ring cannot be filled; 0 while it only waits for the clock or for reserved time.", gauge,
		ofRing(func(r reading) float64 { return flag(r.Failing()) })},

	{"uidring_borrowed_seconds", "By how much the last tick put is ahead of the clock.", gauge,
		ofRing(func(r reading) float64 { return r.Borrowed.Seconds() })},
	{"uidring_borrow_limit_seconds", "Limit of how far ahead of the clock ids are stamped; absent without a limit.", gauge,
		func(r reading) (float64, bool) { return r.MaxBorrow.Seconds(), hasRing(r) && r.MaxBorrow >= 0 }},

	{"uidring_worker_number", "Worker number under which ids are stamped.", gauge,
		always(func(r reading) float64 { return float64(r.Worker) })},
	{"uidring_worker_number_max", "Largest worker number that the layout can hold.", gauge,
		always(func(r reading) float64 { return float64(r.bits.MaxWorker()) })},
	{"uidring_worker_changes_total", "Times that a leased worker number was lost and another taken.", counter,
		always(func(r reading) float64 { return float64(r.WorkerChanges) })},
	{"uidring_lease_failing", "1 while the lease of the worker number is not renewed.", gauge,
		always(func(r reading) float64 { return flag(r.LeaseError != nil) })},
	{"uidring_reservation_end_timestamp_seconds", "End of the time reserved under the worker number; absent without an end.", gauge,
		func(r reading) (float64, bool) { return timestamp(r.ReservedUntil), !r.ReservedUntil.IsZero() }},

	{"uidring_layout_end_timestamp_seconds", "First instant that the layout cannot stamp.", gauge,
		always(func(r reading) float64 { return timestamp(r.LayoutEnd) })},
	{layoutInfo, "Layout of the ids, as the label layout.", gauge,
		always(func(reading) float64 { return 1 })},
	{"uidring_closed", "1 once the generator is closed.", gauge,
		always(func(r reading) float64 { return flag(r.Closed) })},
}

func always(read func(reading) float64) func(reading) (float64, bool) {
	return func(r reading) (float64, bool) { return read(r), true }
}

func ofRing(read func(reading) float64) func(reading) (float64, bool) {
	return func(r reading) (float64, bool) { return read(r), hasRing(r) }
}

func hasRing(r reading) bool { return r.Capacity > 0 }

// fullRing returns the seconds that the ids of a full ring cover. A full ring alone
// reaches a smaller limit of borrowed time, so alerts leave such limits out.
func fullRing(r reading) float64 {
	return float64(r.Capacity) / float64(r.bits.MaxSequence()+1) * r.bits.Layout().Unit.Seconds()
}

// timestamp avoids UnixNano, which ends after 292 years.
func timestamp(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}
