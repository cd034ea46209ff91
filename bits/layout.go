package bits

import (
	"errors"
	"fmt"
	"time"
)

// TotalBits is how many bits of an id a [Layout] may use: 64 less the sign, so
// that every id is a positive BIGINT.
const TotalBits = 63

// ErrLayout is matched by every error that finds fault with a [Layout].
var ErrLayout = errors.New("bits: invalid layout")

// Layout says how an id is laid out. The zero Layout is not valid; [Default] and
// the other presets are, and so is a literal with all fields set.
//
// The ids of two layouts are not comparable: services that share a key space
// share one Layout, Epoch and Unit included.
type Layout struct {
	// TimeBits is the width of the ticks since Epoch, 1 or more. It decides how
	// long the layout lasts: 2^TimeBits ticks.
	TimeBits uint8

	// WorkerBits is the width of the worker number. It decides how many numbers
	// there are: 2^WorkerBits. With 0 the only worker is number 0.
	WorkerBits uint8

	// SequenceBits is the width of the sequence within a tick. It decides how
	// many ids one worker has for each tick: 2^SequenceBits.
	SequenceBits uint8

	// Epoch is the instant at which tick 0 begins. It is not in the future when
	// ids are made.
	Epoch time.Time

	// Unit is the length of a tick. It divides a second, or is a whole number of
	// seconds.
	Unit time.Duration
}

// Layouts by name. Treat them as constants. The instant given with each is the
// first that it can no longer stamp.
var (
	// Default is 28/22/13 in seconds from 2026-01-01: 8,192 ids a second for
	// each of 4,194,304 workers. It ends on 2034-07-04 at 21:24:16 UTC.
	Default = Layout{28, 22, 13, time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), time.Second}

	// Baidu is what uid-generator has by default, 28/22/13 in seconds from
	// 2016-05-20. It ended on 2024-11-20 at 21:24:16 UTC, so it is of use only
	// for reading old ids. Here the epoch is in UTC. In the original it is
	// midnight in China unless epochStr is set, and then midnight in the zone of
	// its JVM: set Epoch to that instant, as baidu,epoch=2016-05-20T00:00:00+08:00
	// does.
	Baidu = Layout{28, 22, 13, time.Date(2016, time.May, 20, 0, 0, 0, 0, time.UTC), time.Second}

	// LongLived is 31/23/9 in seconds from 2026-01-01: 512 ids a second, on
	// average, for each of 8,388,608 workers. It ends on 2094-01-19 at 03:14:08
	// UTC, after 68 years.
	LongLived = Layout{31, 23, 9, time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), time.Second}

	// Snowflake is the layout of Twitter's Snowflake, 41/10/12 in milliseconds
	// from 1288834974657 ms after the Unix epoch: 4,096 ids a millisecond for
	// each of 1,024 workers. It ends on 2080-07-10 at 17:30:30.209 UTC.
	Snowflake = Layout{41, 10, 12, time.UnixMilli(1288834974657).UTC(), time.Millisecond}

	// JSSafe is 31/12/10 in seconds from 2026-01-01. Its 53 bits pass through a
	// number of JavaScript, an IEEE 754 double, unharmed: 1,024 ids a second, on average, for each
	// of 4,096 workers. It ends on 2094-01-19 at 03:14:08 UTC.
	JSSafe = Layout{31, 12, 10, time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC), time.Second}
)

// Bits returns how many bits the layout uses, the sign not counted.
func (l Layout) Bits() int {
	// In int: as uint8 the widths 200, 100 and 19 would add up to 63.
	return int(l.TimeBits) + int(l.WorkerBits) + int(l.SequenceBits)
}

// Validate returns nil, or an error that names every fault of the layout with
// the value found and the values wanted. It matches [ErrLayout].
func (l Layout) Validate() error {
	var faults []error
	fault := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrLayout}, args...)...))
	}
	if l.TimeBits < 1 || l.TimeBits > TotalBits {
		fault("TimeBits is %d, want 1 to %d", l.TimeBits, TotalBits)
	}
	if sum := l.Bits(); sum > TotalBits {
		fault("TimeBits + WorkerBits + SequenceBits is %d + %d + %d = %d, want at most %d",
			l.TimeBits, l.WorkerBits, l.SequenceBits, sum, TotalBits)
	}
	if year := l.Epoch.UTC().Year(); year < 1 || year > 9999 {
		fault("Epoch is in the year %d, want 1 to 9999", year)
	}
	if l.Epoch.IsZero() {
		fault("Epoch is not set, want the instant of tick 0, such as 2026-01-01T00:00:00Z")
	}
	if !validUnit(l.Unit) {
		fault("Unit is %v, want a part of a second that divides it, or a whole number of seconds", l.Unit)
	}
	return errors.Join(faults...)
}

func validUnit(unit time.Duration) bool {
	return unit > 0 && (time.Second%unit == 0 || unit%time.Second == 0)
}

// End returns the first instant that the layout can no longer stamp: Epoch plus
// 2^TimeBits units. It is meaningful for a valid layout only. An end more than
// some 292 billion years away does not fit a [time.Time] and is returned as the
// latest instant that does.
func (l Layout) End() time.Time {
	return l.instant(1 << l.TimeBits)
}
