package worker

import "time"

// pace tells how far ahead to reserve for a holder that uses time up faster than
// the beat renews it. The zero pace has seen nothing yet.
type pace struct {
	at   time.Time // of the last look
	used int64     // up to which instant time was used, then
}

// shortest is the least time that a pace is taken over.
const shortest = 100 * time.Millisecond

// ahead returns up to which instant to reserve, in milliseconds since 1970, for a
// holder that has used it up to used and would be at base without borrowing, or 0
// if the window will do. It is what the pace since the last look would use in two
// seconds, so that writes come down to one a second at any pace; but no more than
// the holder has borrowed already, so that one who follows a crash starts no more
// than about twice as far ahead as the dead had come. Two looks in a moment say
// little about a pace: after a clock that stepped back by hours, which looks like
// borrowing, a second used in a millisecond would have half an hour reserved.
func (p *pace) ahead(now time.Time, used, base int64, beat time.Duration) int64 {
	before := *p
	*p = pace{now, max(used, base)}
	elapsed := now.Sub(before.at)
	if before.at.IsZero() || elapsed >= beat || used <= before.used {
		return 0
	}
	twoSeconds := int64(2 * float64(used-before.used) / max(elapsed, shortest).Seconds())
	return used + min(twoSeconds, max(0, used-base))
}
