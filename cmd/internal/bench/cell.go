package bench

import (
	"context"
	"runtime"
	"time"

	"github.com/uidring/uidring/uid"
)

// Cell measures what an id costs, of a subject that some goroutines share.
type Cell struct {
	Subject
	Setting
	Time time.Duration // of a sample
}

// Units of cells.
const (
	Cost          = "ns/id"
	Rate          = "million ids/s" // of all goroutines
	AllocsPerID   = "allocs/id"     // those of other goroutines and of the harness included, a few a sample
	AllocsPerCall = "allocs/call"   // what go test prints as allocs/op, before it drops the fraction
)

// Units of what is refilled. Refills and helps of a cell are for each million ids.
const (
	Borrowed = "borrowed s" // how far the last id in a ring is ahead of the clock
	Refills  = "refills"    // or loads
	Helps    = "helps"      // calls that found a ring empty, and put ids themselves or waited for a load
	Failed   = "failed"
)

// refilled returns the figures of a ring or of loads, with counts divided by per.
func refilled(name string, at Setting, s uid.Stats, per float64) []Figure {
	sample := []Figure{Of(name, at, Failed, float64(s.RejectedTakes))}
	if s.Ring != nil {
		sample = append(sample, Of(name, at, Borrowed, s.Ring.Borrowed.Seconds()),
			Of(name, at, Refills, float64(s.Ring.Refills)/per), Of(name, at, Helps, float64(s.Ring.Helps)/per))
	}
	if s.Loads != nil {
		sample = append(sample, Of(name, at, Refills, float64(s.Loads.Loads)/per), Of(name, at, Helps, float64(s.Starved)/per))
	}
	return sample
}

// Sample implements Task. It first warms the instance up for a tenth of the time.
func (c *Cell) Sample(ctx context.Context) (sample []Figure, err error) {
	err = c.use(func(in *Instance) error {
		if _, _, err := fan(ctx, in.Loop, c.Setting, c.Time/10); err != nil {
			return err
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		calls, took, err := fan(ctx, in.Loop, c.Setting, c.Time)
		if err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		ids, allocs := float64(calls)*float64(max(in.PerCall, 1)), float64(after.Mallocs-before.Mallocs)
		sample = []Figure{
			Of(c.Name, c.Setting, Cost, float64(took.Nanoseconds())/ids),
			Of(c.Name, c.Setting, Rate, ids/1e6/took.Seconds()),
			Of(c.Name, c.Setting, AllocsPerID, allocs/ids),
			Of(c.Name, c.Setting, AllocsPerCall, allocs/float64(calls)),
		}
		if in.Stats != nil {
			s := in.Stats()
			sample = append(sample, refilled(c.Name, c.Setting, s, float64(s.Issued)/1e6)...)
		}
		return nil
	})
	return sample, err
}
