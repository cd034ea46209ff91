package bits

import (
	"math"
	"math/bits"
	"time"
)

// This file computes ticks from whole seconds and the nanoseconds within a second,
// never from one count of nanoseconds. Such a count would wrap after 292 years, and a
// layout with 34 bits of seconds lasts 544.

// latest is the last instant whose seconds since the Unix epoch fit an int64.
var latest = time.Unix(math.MaxInt64-unixToInternal, 0).UTC()

// unixToInternal is how many seconds lie between year 1 and the Unix epoch.
// time.Time counts from year 1, so Unix seconds above MaxInt64 less this wrap.
const unixToInternal = 62135596800

func (l Layout) instant(tick uint64) time.Time {
	if l.Unit <= 0 {
		return l.Epoch // not valid; see Validate
	}
	var seconds, nanos uint64
	if l.Unit >= time.Second {
		hi, lo := bits.Mul64(tick, uint64(l.Unit/time.Second))
		if hi != 0 {
			return latest
		}
		seconds = lo
	} else {
		perSecond := uint64(time.Second / l.Unit)
		seconds = tick / perSecond
		nanos = tick % perSecond * uint64(l.Unit)
	}
	if room := math.MaxInt64 - unixToInternal - max(l.Epoch.Unix(), 0); seconds >= uint64(room) {
		return latest
	}
	return time.Unix(l.Epoch.Unix()+int64(seconds), int64(l.Epoch.Nanosecond())+int64(nanos)).UTC()
}

// tick returns the number of the tick that t lies in, negative before the epoch. For
// a tick that does not fit an int64, it returns the least or greatest int64.
func (l Layout) tick(t time.Time) int64 {
	if l.Unit <= 0 {
		return 0 // not valid; see Validate
	}
	seconds := t.Unix() - l.Epoch.Unix()
	nanos := int64(t.Nanosecond()) - int64(l.Epoch.Nanosecond())
	if nanos < 0 {
		seconds--
		nanos += int64(time.Second)
	}
	if l.Unit >= time.Second {
		return floorDiv(seconds, int64(l.Unit/time.Second))
	}
	perSecond := int64(time.Second / l.Unit)
	if seconds < 0 {
		if seconds < math.MinInt64/perSecond+1 {
			return math.MinInt64
		}
		return seconds*perSecond + nanos/int64(l.Unit)
	}
	// A layout of 63 bits uses every tick up to MaxInt64.
	hi, lo := bits.Mul64(uint64(seconds), uint64(perSecond))
	lo, carry := bits.Add64(lo, uint64(nanos/int64(l.Unit)), 0)
	if hi+carry != 0 || lo > math.MaxInt64 {
		return math.MaxInt64
	}
	return int64(lo)
}

// floorDiv divides rounding down, so that the instant before the epoch lies in
// tick -1 and not in tick 0. The divisor is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
