package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/dustin/go-humanize"

	"github.com/uidring/uidring/uid"
)

// result is what bench prints.
type result struct {
	Go       string  `json:"go"`
	Platform string  `json:"platform"`
	Cores    int     `json:"cores"`
	Layout   string  `json:"layout"`
	Seconds  float64 `json:"duration_seconds"` // for each round
	Rows     []row   `json:"rows"`

	Time          time.Time `json:"time"` // of the start
	Version       string    `json:"version"`
	CPU           string    `json:"cpu"` // empty where the system does not tell
	System        string    `json:"system"`
	Rounds        int       `json:"rounds"`
	BoostPower    int       `json:"boost_power"`
	PaddingFactor int       `json:"padding_factor"`

	Interrupted bool        `json:"interrupted,omitempty"`
	Comparison  *comparison `json:"comparison,omitempty"`

	ticksOf string // how many ids Default has for a tick
}

// measureAll returns the rows that were measured, even with an error.
func measureAll(ctx context.Context, f benchFlags, stderr io.Writer) (*result, error) {
	cores := runtime.GOMAXPROCS(0)
	out := &result{
		Go:            runtime.Version(),
		Platform:      runtime.GOOS + "/" + runtime.GOARCH,
		Cores:         cores,
		Layout:        f.layout.String(),
		Seconds:       f.duration.Seconds(),
		Rows:          []row{},
		Time:          time.Now().UTC().Truncate(time.Second),
		Version:       release(),
		CPU:           cpuModel(),
		System:        system(),
		Rounds:        int(f.rounds),
		BoostPower:    uid.DefaultBoostPower,
		PaddingFactor: uid.DefaultPaddingFactor,
		ticksOf:       fmt.Sprintf("%s in %v", humanize.Comma(1<<f.layout.SequenceBits), f.layout.Unit),
	}
	steps := goroutineSteps(cores)
	progress := newProgress(stderr, len(steps)*len(subjects)*out.Rounds)
	for _, goroutines := range steps {
		cells := make([]cell, len(subjects))
		err := measureStep(ctx, f, goroutines, cells, func(name string) {
			progress.Describe(fmt.Sprintf("%-*s %3d goroutines", nameWidth, name, goroutines))
		}, func() { _ = progress.Add(1) })
		out.add(cells)
		if err != nil {
			out.Interrupted = true
			return out, errors.Join(err, progress.Clear())
		}
	}
	return out, nil
}

// cell is what the rounds of a subject have found so far.
type cell struct {
	rounds []row
	calls  []*hdrhistogram.Histogram
}

// measureStep fills the cells, one for each subject, by turns: what disturbs the
// machine for a while is then no matter of one subject alone.
func measureStep(ctx context.Context, f benchFlags, goroutines int, cells []cell, begins func(name string), ends func()) error {
	for range f.rounds {
		for i, s := range subjects {
			begins(s.name)
			r, err := s.measure(ctx, f.layout, goroutines, f.duration)
			if err != nil {
				return err
			}
			cells[i].rounds = append(cells[i].rounds, r)
			calls, err := s.latency(ctx, f.layout, goroutines, f.duration)
			if err != nil {
				return err
			}
			cells[i].calls = append(cells[i].calls, calls)
			ends()
		}
	}
	return nil
}

// add makes rows of the cells that have a round. The floor is the first.
func (r *result) add(cells []cell) {
	floor := 0.0
	for _, c := range cells {
		if len(c.rounds) == 0 {
			continue
		}
		row := c.row()
		if floor == 0 {
			floor = row.NsPerID
		}
		if floor > 0 {
			row.FloorRatio = row.NsPerID / floor
		}
		r.Rows = append(r.Rows, row)
	}
}

func (c *cell) row() row {
	slices.SortFunc(c.rounds, func(a, b row) int { return cmp.Compare(a.PerSecond, b.PerSecond) })
	all := c.rounds[(len(c.rounds)-1)/2] // as spreadOf does
	all.Rounds, all.Rejected, all.Stopped = len(c.rounds), 0, ""
	speeds := make([]float64, 0, len(c.rounds))
	for _, round := range c.rounds {
		speeds = append(speeds, round.PerSecond)
		all.Rejected += round.Rejected
		all.Stopped = cmp.Or(all.Stopped, round.Stopped)
	}
	all.Spread = spreadOf(speeds)
	all.Latency = latencyOf(c.calls)
	return all
}

// row returns that of a subject, or nil if it was not measured.
func (r *result) row(name string, goroutines int) *row {
	i := slices.IndexFunc(r.Rows, func(row row) bool { return row.Name == name && row.Goroutines == goroutines })
	if i < 0 {
		return nil
	}
	return &r.Rows[i]
}

// steps are the numbers of goroutines that there are rows of.
func (r *result) steps() []int {
	var steps []int
	for _, row := range r.Rows {
		steps = append(steps, row.Goroutines)
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// goroutineSteps are the powers of two below cores, and cores.
func goroutineSteps(cores int) []int {
	var steps []int
	for n := 1; n < cores; n *= 2 {
		steps = append(steps, n)
	}
	return append(steps, cores)
}
