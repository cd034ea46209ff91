package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/uidring/uidring/cmd/internal/cli"
	"github.com/uidring/uidring/cmd/internal/measure"
	"github.com/uidring/uidring/uid"
)

// result is what bench prints.
type result struct {
	measure.Machine
	Version     string    `json:"version"`
	Time        time.Time `json:"time"` // of the start
	Layout      string    `json:"layout"`
	Limits      string    `json:"limits"`           // what the layout allows
	Seconds     float64   `json:"duration_seconds"` // of a sample
	Rounds      int64     `json:"rounds"`
	Disturbed   string    `json:"disturbed"` // how many samples of how many
	Interrupted bool      `json:"interrupted,omitempty"`
	Figures     []figure  `json:"figures"`
	Since       time.Time `json:"since,omitzero"` // of the earlier bench
	Differences []string  `json:"differences,omitempty"`
	Changes     []change  `json:"changes,omitempty"`
}

// figure is one quantity of a subject, by round.
type figure struct {
	Name       string         `json:"name"`
	Goroutines int            `json:"goroutines"`
	Unit       string         `json:"unit"`
	Samples    measure.Series `json:"samples"`
}

// The units.
const (
	cost     = "ns/id"
	allocs   = "allocs/id"
	borrowed = "borrowed s"
)

// latencies are the units of a call's latency.
var latencies = []string{"p50 ns", "p99 ns", "p99.99 ns", "max ns"}

// measureAll returns the figures that were measured, even with an error.
func measureAll(ctx context.Context, o options, stderr io.Writer) (*result, error) {
	gen, err := measure.NewCached(o.layout, uid.DefaultBoostPower)
	if err != nil {
		return nil, err
	}
	if err := gen.Close(); err != nil {
		return nil, err
	}
	r := &result{
		Machine: measure.ThisMachine(),
		Version: cli.Release(),
		Time:    time.Now().UTC().Truncate(time.Second),
		Layout:  o.layout.String(),
		Seconds: o.duration.Seconds(),
		Rounds:  o.rounds,
		Limits:  fmt.Sprintf("%s ids in %v", humanize.Comma(1<<o.layout.SequenceBits), o.layout.Unit),
	}
	var (
		cells []*measure.Cell
		paces []*measure.Pace
		tasks []measure.Task
	)
	for _, s := range append(measure.Floors(), measure.Ours(o.layout, uid.DefaultBoostPower)...) {
		for _, n := range goroutineSteps(runtime.GOMAXPROCS(0)) {
			c := &measure.Cell{Subject: s, Goroutines: n, Time: o.duration}
			cells = append(cells, c)
			tasks = append(tasks, c)
		}
		if !strings.HasSuffix(s.Name, ".All") { // a loop makes no single calls
			p := &measure.Pace{Subject: s, Time: o.duration / 2}
			paces = append(paces, p)
			tasks = append(tasks, p)
		}
	}
	samples := len(tasks) * int(o.rounds)
	calm := measure.Calm{Patience: time.Duration(samples) * o.duration}
	progress := newProgress(stderr, samples)
	err = measure.Rounds(ctx, int(o.rounds), tasks, &calm, func() { _ = progress.Add(1) })
	r.Interrupted = err != nil
	r.Disturbed = fmt.Sprintf("%d of %d samples", calm.Disturbed, calm.Samples)
	for _, c := range cells {
		if len(c.NsPerID) == 0 {
			continue
		}
		r.add(c.Name, c.Goroutines, cost, c.NsPerID)
		r.add(c.Name, c.Goroutines, allocs, measure.Series{math.Round(1000*c.AllocsPerID()) / 1000})
		r.add(c.Name, c.Goroutines, borrowed, c.Borrowed())
	}
	for _, p := range paces {
		for i, unit := range latencies {
			r.add(p.Name, 1, unit, p.Latency[i])
		}
	}
	return r, errors.Join(err, progress.Clear())
}

func (r *result) add(name string, goroutines int, unit string, samples measure.Series) {
	if len(samples) > 0 {
		r.Figures = append(r.Figures, figure{name, goroutines, unit, samples})
	}
}

// samples returns those of a figure, or none.
func (r *result) samples(name string, goroutines int, unit string) measure.Series {
	for _, f := range r.Figures {
		if f.Name == name && f.Goroutines == goroutines && f.Unit == unit {
			return f.Samples
		}
	}
	return nil
}

// names returns what was measured, in order.
func (r *result) names() (names []string) {
	for _, f := range r.Figures {
		if !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}

// steps returns the numbers of goroutines, in order.
func (r *result) steps() (steps []int) {
	for _, f := range r.Figures {
		steps = append(steps, f.Goroutines)
	}
	slices.Sort(steps)
	return slices.Compact(steps)
}

// goroutineSteps are the powers of two below cores, and cores.
func goroutineSteps(cores int) (steps []int) {
	for n := 1; n < cores; n *= 2 {
		steps = append(steps, n)
	}
	return append(steps, cores)
}

// maxResult bounds what is read of a file that may be any.
const maxResult = 16 << 20

// read reads what bench --json has printed.
func read(path string) (*result, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Size() > maxResult {
		return nil, fmt.Errorf("%s has %d bytes, want what bench --json prints", path, info.Size())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(result)
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s is not what bench --json prints: %w", path, err)
	}
	if len(r.Figures) == 0 {
		return nil, fmt.Errorf("%s is not what bench --json prints: it has no figures", path)
	}
	for i, f := range r.Figures {
		if len(f.Samples) == 0 || slices.Min(f.Samples) < 0 {
			return nil, fmt.Errorf("%s is not what bench --json prints: figure %d has samples %v", path, i+1, []float64(f.Samples))
		}
	}
	return r, nil
}

// change is how a figure went since an earlier bench.
type change struct {
	Name       string  `json:"name"`
	Goroutines int     `json:"goroutines"`
	Unit       string  `json:"unit"`
	Old        float64 `json:"old"`
	New        float64 `json:"new"`
	measure.Change
}

// compare fills in what has changed since old: costs, and latencies at p99. How much
// is borrowed follows from how long a sample was.
func (r *result) compare(old *result) {
	r.Since = old.Time
	for _, d := range []struct{ name, old, now string }{
		{"uidring", old.Version, r.Version}, {"Go", old.Go, r.Go}, {"CPU", old.CPU, r.CPU}, {"platform", old.Platform, r.Platform},
		{"cores", fmt.Sprint(old.Cores), fmt.Sprint(r.Cores)}, {"layout", old.Layout, r.Layout},
		{"seconds of a sample", fmt.Sprint(old.Seconds), fmt.Sprint(r.Seconds)}, {"rounds", fmt.Sprint(old.Rounds), fmt.Sprint(r.Rounds)},
	} {
		if d.old != d.now {
			r.Differences = append(r.Differences, fmt.Sprintf("%s: %s, now %s", d.name, cli.Printable(d.old), d.now))
		}
	}
	for _, f := range r.Figures {
		before := old.samples(f.Name, f.Goroutines, f.Unit)
		if (f.Unit == cost || f.Unit == latencies[1]) && before != nil {
			r.Changes = append(r.Changes, change{f.Name, f.Goroutines, f.Unit, before.Median(), f.Samples.Median(), measure.Compare(before, f.Samples)})
		}
	}
}
