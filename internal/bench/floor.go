package bench

import "sync/atomic"

// lineSize is two cache lines of most machines: x86 fetches lines in pairs.
const lineSize = 128

// paddedCounter has its line for itself, whatever it is allocated beside.
type paddedCounter struct {
	_ [lineSize]byte
	n atomic.Int64
	_ [lineSize - 8]byte
}

// counterFloor is what a number that is unique within a process costs at least,
// and what all ratios are against.
var counterFloor = Impl{
	Name:    "floor",
	Package: "a padded `atomic.Int64`, `Add(1)`",
	Kind:    Floor,
	Cap:     "none",
	GivesUp: "no time, no worker, starts again from 0 with the process",
	New: func() (*Instance, error) {
		counter := new(paddedCounter)
		return &Instance{
			Batch: func(n int) (uint64, error) {
				var last uint64
				for range n {
					last = uint64(counter.n.Add(1))
				}
				return last, nil
			},
			One: func() (any, error) { return counter.n.Add(1), nil },
		}, nil
	},
}
