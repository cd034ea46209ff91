package uidprom

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// metric is one of those that every generator has, or every one to which it
// applies.
type metric struct {
	name, help string
	kind       prometheus.ValueType
	read       func(reading) (value float64, ok bool)
}

// reading is what one scrape finds of a generator.
type reading struct {
	uid.Stats
	bits *bits.Allocator
}

const (
	counter = prometheus.CounterValue
	gauge   = prometheus.GaugeValue
)

// layoutInfo has a label more than the others.
const layoutInfo = "uidring_layout_info"

// metrics are all that there are, as the package comment lists them.
var metrics = []metric{
	{"uidring_ids_issued_total", "Ids issued.", counter,
		always(func(r reading) float64 { return float64(r.Issued) })},
	{"uidring_ids_dropped_total", "Ids dropped for their age, or by Close.", counter,
		ofRing(func(r reading) float64 { return float64(r.Dropped) })},
	{"uidring_takes_rejected_total", "Calls for ids that failed.", counter,
		always(func(r reading) float64 { return float64(r.RejectedTakes) })},
	{"uidring_waited_seconds_total", "Time that calls waited for an id, all together.", counter,
		always(func(r reading) float64 { return r.Waited.Seconds() })},

	{"uidring_ring_remaining_ids", "Ids in the ring.", gauge,
		ofRing(func(r reading) float64 { return float64(r.Remaining) })},
	{"uidring_ring_threshold_ids", "Fewer ids than these in the ring, and it is filled again.", gauge,
		ofRing(func(r reading) float64 { return float64(r.Threshold) })},
	{"uidring_ring_capacity_ids", "Ids that the ring holds when full.", gauge,
		ofRing(func(r reading) float64 { return float64(r.Capacity) })},
	{"uidring_ring_span_seconds", "Time that the ids of a full ring carry.", gauge, ofRing(span)},
	{"uidring_ring_oldest_age_seconds", "Since the time that the next id carries; negative if that is yet to come.", gauge,
		ofRing(func(r reading) float64 { return r.OldestAge.Seconds() })},
	{"uidring_ring_refills_total", "Times that the ring was filled ahead of demand.", counter,
		ofRing(func(r reading) float64 { return float64(r.Refills) })},
	{"uidring_ring_helps_total", "Ticks that takers put because the ring was empty.", counter,
		ofRing(func(r reading) float64 { return float64(r.Helps) })},
	{"uidring_ring_puts_rejected_total", "Times that the ring refused a tick's ids.", counter,
		ofRing(func(r reading) float64 { return float64(r.RejectedPuts) })},
	{"uidring_ring_failing", "1 while the ring cannot be filled; a bound of borrowed time that is reached is no failure.", gauge,
		ofRing(func(r reading) float64 { return flag(failing(r.LastError)) })},

	{"uidring_borrowed_seconds", "How far ahead of the clock the last tick made is.", gauge,
		ofRing(func(r reading) float64 { return r.Borrowed.Seconds() })},
	{"uidring_borrow_limit_seconds", "How far ahead of the clock ids may be stamped; absent without bound.", gauge,
		func(r reading) (float64, bool) { return r.MaxBorrow.Seconds(), hasRing(r) && r.MaxBorrow >= 0 }},

	{"uidring_worker_number", "Worker number under which ids are stamped.", gauge,
		always(func(r reading) float64 { return float64(r.Worker) })},
	{"uidring_worker_number_max", "Largest worker number that the layout can hold.", gauge,
		always(func(r reading) float64 { return float64(r.bits.MaxWorker()) })},
	{"uidring_worker_changes_total", "Times that a leased worker number was lost and another taken.", counter,
		always(func(r reading) float64 { return float64(r.WorkerChanges) })},
	{"uidring_lease_failing", "1 while no more time is being reserved under the worker number.", gauge,
		always(func(r reading) float64 { return flag(r.LeaseError != nil) })},
	{"uidring_reservation_end_timestamp_seconds", "End of the time reserved under the worker number; absent where that has no end.", gauge,
		func(r reading) (float64, bool) { return timestamp(r.ReservedUntil), !r.ReservedUntil.IsZero() }},

	{"uidring_layout_end_timestamp_seconds", "First instant that the layout cannot stamp.", gauge,
		always(func(r reading) float64 { return timestamp(r.LayoutEnd) })},
	{layoutInfo, "How ids are laid out.", gauge,
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

// span tells a bound of borrowed time that is meant to be reached, since a full
// ring does, from one that is not.
func span(r reading) float64 {
	return float64(r.Capacity) / float64(r.bits.MaxSequence()+1) * r.bits.Layout().Unit.Seconds()
}

// failing reports whether err, for which the ring could not be filled, is more
// than a wait for the clock or for a reservation that is under way.
func failing(err error) bool {
	if reservation := (*uid.ReservationError)(nil); errors.As(err, &reservation) {
		return reservation.Err != nil
	}
	return err != nil && !errors.Is(err, uid.ErrBorrowLimit)
}

// timestamp does not go by nanoseconds, of which an int64 holds 292 years.
func timestamp(t time.Time) float64 {
	return float64(t.Unix()) + float64(t.Nanosecond())/1e9
}

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}
