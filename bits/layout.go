package bits

import (
	"errors"
	"fmt"
	"time"
)

// TotalBits is how many bits a [Layout] may use: all of a BIGINT except the sign bit.
const TotalBits = 63

// ErrLayout is matched by every error about an invalid [Layout].
var ErrLayout = errors.New("bits: invalid layout")

// Layout defines the fields of an id. Start from [Fleet] or another preset, read a Layout with
// [ParseLayout], or set every field except WorkerParts, which is optional. The zero Layout is
// invalid.
//
// Ids with different layouts can collide, so services that share a key space must use the same
// Layout, including Epoch and Unit. [NewSuccession] reports when one layout may follow another.
type Layout struct {
	// TimeBits is the width of the tick field, 1 or more. The layout lasts 2^TimeBits ticks from
	// Epoch.
	TimeBits uint8

	// WorkerBits is the width of the worker number. There are 2^WorkerBits worker numbers, starting
	// at 0.
	WorkerBits uint8

	// SequenceBits is the width of the sequence number. A worker has 2^SequenceBits ids per tick.
	SequenceBits uint8

	// Epoch is the instant at which tick 0 begins. No id can be made before it.
	Epoch time.Time

	// Unit is the length of a tick: a whole number of seconds, or a duration that divides a second
	// evenly, such as 10ms.
	Unit time.Duration

	// WorkerParts lists the parts of a worker number and their widths, highest first:
	// "datacenter:5+machine:5", or "5+5" without names. The widths must total WorkerBits. Empty
	// means no parts. Parts do not affect ids; [Allocator.JoinWorker] and [Allocator.SplitWorker]
	// use them.
	WorkerParts string
}

var epoch2026 = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Fleet returns the layout 31/16/16 with one-second ticks from 2026-01-01: 65,536 ids a second, on
// average, for each of 65,536 workers. It is what a generator has in a new store if its config states
// no layout. Use it with leased worker numbers, which are reused. It ends on 2094-01-19 at 03:14:08
// UTC.
func Fleet() Layout { return Layout{31, 16, 16, epoch2026, time.Second, ""} }

// Registry returns the layout 28/22/13 with one-second ticks from 2026-01-01: 8,192 ids a second, on
// average, for each of 4,194,304 workers. It is for a worker.Registry, which consumes one worker
// number per start, and ends on 2034-07-04 at 21:24:16 UTC.
func Registry() Layout { return Layout{28, 22, 13, epoch2026, time.Second, ""} }

// LongLived returns the layout 31/23/9 with one-second ticks from 2026-01-01: 512 ids a second, on
// average, for each of 8,388,608 workers. It ends on 2094-01-19 at 03:14:08 UTC.
func LongLived() Layout { return Layout{31, 23, 9, epoch2026, time.Second, ""} }

// JSSafe returns the layout 31/12/10 with one-second ticks from 2026-01-01: 1,024 ids a second, on
// average, for each of 4,096 workers. Its ids have 53 bits, which a JavaScript number holds
// exactly. It ends on 2094-01-19 at 03:14:08 UTC.
func JSSafe() Layout { return Layout{31, 12, 10, epoch2026, time.Second, ""} }

// Snowflake returns the layout of Twitter's Snowflake, 41/10/12 with one-millisecond ticks and an
// epoch 1288834974657 ms after the Unix epoch: 4,096 ids a millisecond for each of 1,024 workers.
// It ends on 2080-07-10 at 17:30:30.209 UTC.
func Snowflake() Layout {
	return Layout{41, 10, 12, time.UnixMilli(1288834974657).UTC(), time.Millisecond, ""}
}

// Baidu returns the stock layout of uid-generator: 28/22/13 with one-second ticks from 2016-05-20
// at midnight UTC. It ended on 2024-11-20 at 21:24:16 UTC, so use it only to read old ids.
// uid-generator itself counts from midnight in China or, if epochStr is set, from midnight in the
// time zone of its JVM. To read its ids, set Epoch to that instant, as
// baidu,epoch=2016-05-20T00:00:00+08:00 does.
func Baidu() Layout {
	return Layout{28, 22, 13, time.Date(2016, time.May, 20, 0, 0, 0, 0, time.UTC), time.Second, ""}
}

// Bits returns how many bits the layout uses, not counting the sign bit.
func (l Layout) Bits() int {
	// In int: as uint8 the widths 200, 100 and 19 would add up to 63.
	return int(l.TimeBits) + int(l.WorkerBits) + int(l.SequenceBits)
}

// Validate returns nil, or an error that matches [ErrLayout] and names every invalid field, with
// its value and the allowed values.
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
	if _, err := l.workerParts(); err != nil {
		faults = append(faults, err)
	}
	if year := l.Epoch.UTC().Year(); year < 1 || year > 9999 {
		fault("Epoch is in the year %d, want 1 to 9999", year)
	}
	if l.Epoch.IsZero() {
		fault("Epoch is not set, want the instant of tick 0, such as 2026-01-01T00:00:00Z")
	}
	if l.Unit <= 0 || time.Second%l.Unit != 0 && l.Unit%time.Second != 0 {
		fault("Unit is %v, want a whole number of seconds, or a duration that divides a second evenly", l.Unit)
	}
	return errors.Join(faults...)
}

// End returns the instant at which a valid layout ends: Epoch plus 2^TimeBits units. If a
// [time.Time] cannot hold that instant, End returns the latest one that it can hold, 292 billion
// years from now.
func (l Layout) End() time.Time {
	return l.instant(1 << l.TimeBits)
}
