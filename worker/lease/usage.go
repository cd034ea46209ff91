package lease

import "time"

// usage computes how far ahead to reserve for a holder that uses time faster than the
// renewal does. The zero usage is ready for use.
type usage struct {
	at   time.Time // of the last measurement
	used int64     // the instant up to which time was used at that time
}

// shortest is the least time over which ahead measures a speed.
const shortest = 100 * time.Millisecond

// ahead returns the instant to reserve up to, or 0 if the window suffices. The holder has used
// time up to used, and would be at base without borrowing. ahead adds what is used in two seconds
// at the recent speed, so that a holder writes once a second at any speed. It adds no more than
// the holder has borrowed, so that the next holder after a crash starts at most about twice as
// far ahead. After a clock stepped back, a speed over a very short time would reserve half an hour.
func (u *usage) ahead(now time.Time, used, base int64, interval time.Duration) int64 {
	before := *u
	*u = usage{now, max(used, base)}
	elapsed := now.Sub(before.at)
	if elapsed >= interval || used <= before.used {
		return 0
	}
	twoSeconds := int64(2 * float64(used-before.used) / max(elapsed, shortest).Seconds())
	return used + min(twoSeconds, max(0, used-base))
}
