package uidstatus

import (
	"math"

	"github.com/uidring/uidring/uid"
)

// picture is the circle. Ready is in thousandths, angles are in degrees.
type picture struct {
	Center, Below string
	Full          bool // ids that are ready have a limit, which the whole circle stands for
	Ready         int64
	Threshold     string  // of a ring
	Mark          float64 // where the threshold is
	Refills       int64   // the script shows when it changes
}

func newPicture(s uid.Stats) picture {
	p, most := picture{Center: compact(s.Remaining), Below: "ready"}, int64(0)
	switch {
	case s.Ring != nil:
		most = s.Ring.Capacity
	case s.Loads != nil:
		most = s.Loads.InUse.N + s.Loads.Next.N
	default:
		p.Center, p.Below = "now", "no ring"
	}
	if most > 0 {
		p.Below, p.Full, p.Ready = "of "+compact(most), true, part(float64(s.Remaining), float64(most))
	}
	if r := s.Ring; r != nil {
		p.Threshold, p.Mark, p.Refills = compact(r.Threshold), 360*float64(r.Threshold)/float64(most), r.Refills
	}
	return p
}

// part returns a of b in thousandths, from 0 to 1000. It is 0 only if a is.
func part(a, b float64) int64 {
	if a <= 0 || b <= 0 {
		return 0
	}
	return int64(min(1000, max(1, math.Round(1000*a/b))))
}
