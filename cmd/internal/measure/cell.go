package measure

import (
	"context"
	"runtime"
	"time"

	"github.com/uidring/uidring/uid"
)

// Cell measures what an id costs, of a subject that some goroutines share.
type Cell struct {
	Subject
	Goroutines int
	Placement  Placement
	Time       time.Duration // of a sample

	NsPerID Series
	Ring    []uid.Stats // at the end of each sample; empty for what has no ring
	IDs     int64       // of all samples
	Calls   int64       // of all samples; fewer than IDs where a call makes many
	Allocs  uint64      // of all samples, those of other goroutines included
}

// Sample implements Task. It first warms the instance up for a tenth of the time.
func (c *Cell) Sample(ctx context.Context) (keep func(), err error) {
	var (
		before, after  runtime.MemStats
		calls, perCall int64
		took           time.Duration
		ring           []uid.Stats
	)
	err = c.use(func(in *Instance) (err error) {
		if _, _, err := fan(ctx, in.Loop, c.Goroutines, c.Placement, c.Time/10); err != nil {
			return err
		}
		runtime.ReadMemStats(&before)
		calls, took, err = fan(ctx, in.Loop, c.Goroutines, c.Placement, c.Time)
		runtime.ReadMemStats(&after)
		perCall, ring = int64(max(in.PerCall, 1)), in.ring()
		return err
	})
	return func() {
		c.Calls += calls
		c.IDs += calls * perCall
		c.Allocs += after.Mallocs - before.Mallocs
		c.NsPerID = append(c.NsPerID, float64(took.Nanoseconds())/float64(calls*perCall))
		c.Ring = append(c.Ring, ring...)
	}, err
}

// Borrowed returns how many seconds ahead of the clock the last ids were, by sample.
func (c *Cell) Borrowed() Series {
	return Each(c.Ring, Borrowed)
}

// Borrowed returns how many seconds ahead of the clock the last id in a ring is.
func Borrowed(s uid.Stats) float64 {
	if s.Ring == nil {
		return 0
	}
	return s.Ring.Borrowed.Seconds()
}

// AllocsPerID is the mean; the harness's own allocations, a few a sample, are in it.
func (c *Cell) AllocsPerID() float64 { return float64(c.Allocs) / float64(max(c.IDs, 1)) }

// AllocsPerCall is what go test prints as allocs/op, before it drops the fraction.
func (c *Cell) AllocsPerCall() float64 { return float64(c.Allocs) / float64(max(c.Calls, 1)) }

// PerSecond is the number of ids a second, at the median.
func (c *Cell) PerSecond() float64 { return 1e9 / c.NsPerID.Median() }

// Over returns how many times the cost of base an id costs, by the medians.
func (c *Cell) Over(base *Cell) float64 { return c.NsPerID.Median() / base.NsPerID.Median() }
