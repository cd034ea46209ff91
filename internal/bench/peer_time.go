package bench

import "time"

// clockReading bounds from below whatever stamps each id with the moment of the
// call. It makes no ids: two readings may well be equal.
var clockReading = Impl{
	Name:       "time-now",
	Package:    "`time.Now()` alone",
	Kind:       Yardstick,
	ReadsClock: true,
	Cap:        "none",
	GivesUp:    "not an id: what reading the clock costs on this machine",
	New: func() (*Instance, error) {
		return &Instance{
			Batch: func(n int) (uint64, error) {
				var last uint64
				for range n {
					now := time.Now()
					last = uint64(now.Nanosecond())
				}
				return last, nil
			},
			One: func() (any, error) { return time.Now(), nil },
		}, nil
	},
}
