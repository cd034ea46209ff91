package lease

import "time"

// pace computes how far ahead to reserve for a holder that uses time faster than the
// renewal does. The zero pace is ready for use.
type pace struct {
	at   time.Time // of the last measurement
	used int64     // the instant up to which time was used at that time
}

// shortest is the least time over which ahead measures a pace.
const shortest = 100 * time.Millisecond

// ahead returns the instant to reserve up to, in milliseconds since 1970, or 0
// if the window suffices. The holder has used time up to used, and would be at
// base without borrowing. ahead adds what the recent pace uses in two seconds,
// so that a holder writes once a second at any pace. It adds no more than the
// holder has borrowed, so that the next holder after a crash starts at most about
// twice as far ahead. ahead ignores a pace over a very short time: after a clock
// stepped back, such a pace would reserve half an hour.
func (p *pace) ahead(now time.Time, used, base int64, interval time.Duration) int64 {
	before := *p
	*p = pace{now, max(used, base)}
	elapsed := now.Sub(before.at)
	if elapsed >= interval || used <= before.used {
		return 0
	}
	twoSeconds := int64(2 * float64(used-before.used) / max(elapsed, shortest).Seconds())
	return used + min(twoSeconds, max(0, used-base))
}
