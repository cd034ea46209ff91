// Package figures is the list of what uid.Stats holds. The status page, its JSON and the
// metrics print this list. It imports uid for Stats.
package figures

import (
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/uidring/uidring/bits"
	"github.com/uidring/uidring/uid"
)

// Kind is how a figure may be printed.
type Kind byte

// The kinds.
const (
	Counter Kind = iota // never decreases while the process runs
	Gauge
	Info // a text of few values: as a metric it is 1, with the text as the label layout
	Text // a text or a range: not a metric, because it can have any number of values
)

// Figure is a quantity of the generators that have it.
type Figure struct {
	Name  string // of the field in JSON; "uidring_" and Name is the metric
	Kind  Kind
	Group string                // heading on the page; empty for what the page shows by other means
	Label string                // on the page
	Help  string                // of the metric: one sentence
	Note  string                // what is normal, for a value that can alarm a reader; empty for others
	Limit string                // the name of the figure that bounds this one
	of    func(*uid.Stats) bool // which generators have the figure
	value func(*uid.Stats) any
}

var (
	all    = func(*uid.Stats) bool { return true }
	ring   = func(s *uid.Stats) bool { return s.Ring != nil }                      // Cached
	clock  = func(s *uid.Stats) bool { return s.Clock != nil }                     // ids that carry time
	loads  = func(s *uid.Stats) bool { return s.Loads != nil }                     // segments and clients
	stock  = func(s *uid.Stats) bool { return ring(s) || loads(s) }                // ids ready in memory
	client = func(s *uid.Stats) bool { return loads(s) && s.Loads.Instance != "" } // of a server
	store  = func(s *uid.Stats) bool { return loads(s) && !client(s) }             // segments
)

// Value returns the value of a generator: an int64, bool, [time.Duration], [time.Time],
// string or [uid.Run]. It is nil for a generator that has no such value.
func (f *Figure) Value(s *uid.Stats) any {
	if !f.of(s) {
		return nil
	}
	value := f.value(s)
	if err, ok := value.(error); ok {
		return err.Error()
	}
	if at, ok := value.(time.Time); ok && at.IsZero() {
		return nil
	}
	if run, ok := value.(uid.Run); ok && run.N == 0 {
		return nil
	}
	return value
}

// Named returns the figure of a name; nil if there is none.
func Named(name string) *Figure {
	for i := range All {
		if All[i].Name == name {
			return &All[i]
		}
	}
	return nil
}

const (
	ids    = "Ids"
	times  = "Timestamps"
	filled = "Ring"
	number = "Worker"
	layout = "Layout"
	load   = "Loads"
	faults = "Current error"
)

// All lists the figures in the order of the page. Names and meanings stay: alerts and
// dashboards of others rely on them.
var All = []Figure{
	{"ring_capacity_ids", Gauge, "", "Capacity", "Ids in a full ring.", "", "",
		ring, func(s *uid.Stats) any { return s.Ring.Capacity }},
	{"ring_threshold_ids", Gauge, "", "Threshold", "The ring is filled when it holds fewer ids than this.", "", "",
		ring, func(s *uid.Stats) any { return s.Ring.Threshold }},
	{"ring_refills_total", Counter, filled, "Filled ahead of demand", "Number of times that the ring was filled ahead of demand.", "", "",
		ring, func(s *uid.Stats) any { return s.Ring.Refills }},
	{"ring_helps_total", Counter, filled, "Ticks filled by callers", "Ticks added to the ring by calls that found it empty.",
		"Normal in a burst, and with one processor.", "",
		ring, func(s *uid.Stats) any { return s.Ring.Helps }},
	{"ring_puts_rejected_total", Counter, filled, "Ticks dropped", "Ticks whose ids were dropped.",
		"Normal when idle: their ids were older than the age limit.", "",
		ring, func(s *uid.Stats) any { return s.Ring.RejectedPuts }},

	{"ids_issued_total", Counter, ids, "Issued", "Ids issued.", "", "",
		all, func(s *uid.Stats) any { return s.Issued }},
	{"ids_remaining", Gauge, "", "Ready", "Ids that are ready in memory.", "", "",
		stock, func(s *uid.Stats) any { return s.Remaining }},
	{"ids_dropped_total", Counter, ids, "Dropped", "Ids dropped because they were too old, were stamped under a lost number, or were left at Close.",
		"Normal when idle: ids older than the age limit are replaced.", "",
		stock, func(s *uid.Stats) any { return s.Dropped }},
	{"ids_returned_total", Counter, ids, "Returned by Close", "Ids that Close returned to the store.", "", "",
		store, func(s *uid.Stats) any { return s.Loads.Returned }},
	{"takes_rejected_total", Counter, ids, "Calls that failed", "Failed calls for ids.", "", "",
		all, func(s *uid.Stats) any { return s.RejectedTakes }},
	{"takes_starved_total", Counter, ids, "Calls that found no id ready", "Calls that found no id ready. They generated their own ids, waited or failed.",
		"Normal in a burst.", "",
		stock, func(s *uid.Stats) any { return s.Starved }},
	{"waited_seconds_total", Counter, ids, "Total wait", "Total time that calls waited for an id.", "", "",
		all, func(s *uid.Stats) any { return s.Waited }},
	{"failing", Gauge, "", "", "1 while no further ids can be generated; it stays 0 at the limit of borrowed time and while time is being reserved.", "", "",
		all, func(s *uid.Stats) any { return s.Failing() }},
	{"closed", Gauge, "", "", "1 once the generator is closed.", "", "",
		all, func(s *uid.Stats) any { return s.Closed }},

	{"borrowed_seconds", Gauge, times, "Ahead of the clock", "How far the newest tick put into the ring is ahead of the clock.",
		"Normal up to the time span of a full ring.", "borrow_limit_seconds",
		ring, func(s *uid.Stats) any { return s.Ring.Borrowed }},
	{"borrow_limit_seconds", Gauge, "", "MaxBorrow", "MaxBorrow: how far the time of an id may be ahead of the clock; absent without a limit.", "", "",
		ring, func(s *uid.Stats) any { return limit(s.Ring.MaxBorrow) }},
	{"ring_oldest_age_seconds", Gauge, times, "Next id behind the clock", "How far the time of the next id is behind the clock; negative if ahead.", "", "ring_age_limit_seconds",
		ring, func(s *uid.Stats) any { return s.Ring.OldestAge }},
	{"ring_age_limit_seconds", Gauge, "", "MaxAge", "MaxAge: how far the time of an id may be behind the clock; absent without a limit.", "", "",
		ring, func(s *uid.Stats) any { return limit(s.Ring.MaxAge) }},
	{"ring_span_seconds", Gauge, times, "Time span of a full ring", "Time that the ids of a full ring cover.", "", "",
		ring, func(s *uid.Stats) any {
			if s.Clock == nil {
				return nil
			}
			return Span(s)
		}},

	{"worker_number", Gauge, number, "Worker number", "Worker number under which ids are stamped. No other process may have it at the same time.", "", "worker_number_max",
		clock, func(s *uid.Stats) any {
			if s.Clock.Worker < 0 { // there is none yet
				return nil
			}
			return s.Clock.Worker
		}},
	{"worker_number_max", Gauge, "", "Greatest number", "Largest worker number that the layout can hold.", "", "",
		clock, func(s *uid.Stats) any { return int64(1)<<s.Clock.Layout.WorkerBits - 1 }},
	{"worker_changes_total", Counter, number, "Numbers lost", "Number of times that a leased worker number was lost and another taken.", "", "",
		clock, func(s *uid.Stats) any { return s.Clock.WorkerChanges }},
	{"lease_failing", Gauge, "", "", "1 while the lease of the worker number cannot be renewed.", "", "",
		clock, func(s *uid.Stats) any { return s.Clock.LeaseError != nil }},
	{"reservation_end_timestamp_seconds", Gauge, number, "Time reserved until", "End of the time reserved under the worker number, in seconds since 1970; absent if it has no end.", "", "",
		clock, func(s *uid.Stats) any { return s.Clock.ReservedUntil }},

	{"layout_info", Info, layout, "Bits, epoch, tick", "Always 1; the label layout names the layout of the ids.", "", "",
		clock, func(s *uid.Stats) any { return s.Clock.Layout.String() }},
	{"layout_end_timestamp_seconds", Gauge, layout, "Time ends", "End of the layout's last tick, in seconds since 1970.", "", "",
		clock, func(s *uid.Stats) any { return s.Clock.LayoutEnd }},

	{"load_in_use", Text, load, "Range in use", "", "", "",
		loads, func(s *uid.Stats) any { return s.Loads.InUse }},
	{"load_next", Text, load, "Next range", "", "", "",
		loads, func(s *uid.Stats) any { return s.Loads.Next }},
	{"load_range_ids", Gauge, "", "", "Size of the range in use, in ids.", "", "",
		store, func(s *uid.Stats) any { return s.Loads.InUse.N }},
	{"load_next_ready", Gauge, "", "", "1 while the range after the one in use is ready.", "", "",
		store, func(s *uid.Stats) any { return s.Loads.Next.N > 0 }},
	{"loads_total", Counter, load, "Loads", "Requests to the store or the servers for ids.", "", "",
		loads, func(s *uid.Stats) any { return s.Loads.Requests }},
	{"load_failures_total", Counter, load, "Loads that failed", "Failed loads.", "", "",
		loads, func(s *uid.Stats) any { return s.Loads.Failures }},
	{"load_step_ids", Gauge, load, "Size of the last load", "Size of the last load, in ids. The size of loads follows the rate of calls.", "", "",
		loads, func(s *uid.Stats) any { return s.Loads.LastSize }},
	{"load_duration_seconds", Gauge, load, "Duration of the last load", "Time that the last request took.", "", "",
		loads, func(s *uid.Stats) any { return s.Loads.LoadTime }},
	{"load_running_seconds", Gauge, load, "Load in flight for", "How long the request in flight has taken so far; 0 without one.", "", "",
		store, func(s *uid.Stats) any { return s.Loads.Loading }},
	{"load_instance_changes_total", Counter, load, "Server changes", "Number of times that a different server instance answered.", "", "",
		client, func(s *uid.Stats) any { return s.Loads.Changes }},
	{"load_tag", Text, load, "Tag", "", "", "",
		loads, func(s *uid.Stats) any { return s.Loads.Tag }},
	{"load_from", Text, load, "From", "", "", "",
		loads, func(s *uid.Stats) any { return s.Loads.From }},

	{"last_error", Text, faults, "Generating ids", "", "", "",
		all, func(s *uid.Stats) any { return s.LastError }},
	{"lease_error", Text, faults, "Lease", "", "", "",
		clock, func(s *uid.Stats) any { return s.Clock.LeaseError }},
}

// Number returns a value as metrics and JSON have it, with durations in seconds and instants
// in seconds since 1970. It is not ok for texts and ranges.
func Number(value any) (number float64, ok bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), true
	case time.Duration:
		return v.Seconds(), true
	case time.Time:
		return float64(v.Unix()) + float64(v.Nanosecond())/1e9, true // UnixNano ends after 292 years
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// Grouped returns n with its digits in groups of three.
func Grouped(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Span returns the time that the ids of a full ring cover; 0 for ids that carry no time.
func Span(s *uid.Stats) time.Duration {
	if s.Ring == nil || s.Clock == nil {
		return 0
	}
	layout := s.Clock.Layout
	return time.Duration(float64(s.Ring.Capacity) / float64(int64(1)<<layout.SequenceBits) * float64(layout.Unit))
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

// limit leaves out uid.Unlimited.
func limit(d time.Duration) any {
	if d < 0 {
		return nil
	}
	return d
}
