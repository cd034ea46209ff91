package bits

import (
	"fmt"
	"time"
)

// VestaParts are the fields of a Vesta id. Worker holds the field that Vesta calls the machine.
type VestaParts struct {
	Parts
	Type   int64 // 0 is seconds (peak), 1 is milliseconds (fine)
	Method int64 // how the id was made: 0 embedded, 1 by a server, 2 over REST
}

// An id of Vesta has, from its lowest bit: the machine (10 bits), the sequence, the
// time, the method (2), the type (1) and the version (1). vestaTypes are the widths of
// sequence and time, and the unit, by type.
var vestaTypes = [2]struct {
	sequence, time uint8
	unit           time.Duration
}{
	{20, 30, time.Second},
	{10, 40, time.Millisecond},
}

const vestaMachine = 10

var vestaEpoch = time.Date(2014, time.December, 31, 16, 0, 0, 0, time.UTC) // 2015 in China

// ParseVesta splits a Vesta id into its parts. One bit of the id indicates which of Vesta's two
// layouts it has. The sign bit is Vesta's version, which is always 0: for a negative number, the
// error matches [ErrForeign]. Package uid does not make Vesta ids.
func ParseVesta(id int64) (VestaParts, error) {
	if id < 0 {
		return VestaParts{}, fmt.Errorf("%w: %d, want 0 or more for Vesta", ErrForeign, id)
	}
	take := func(width uint8) int64 {
		value := id & (1<<width - 1)
		id >>= width
		return value
	}
	var p VestaParts
	p.Type = id >> 62
	widths := vestaTypes[p.Type]
	p.Worker = take(vestaMachine)
	p.Sequence = take(widths.sequence)
	p.Tick = take(widths.time)
	p.Method = take(2)
	layout := Layout{Epoch: vestaEpoch, Unit: widths.unit}
	p.Time = layout.instant(uint64(p.Tick))
	return p, nil
}
