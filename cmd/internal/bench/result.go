package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/uidring/uidring/cmd/internal/cli"
)

// Result is what a run measured.
type Result struct {
	Machine
	Version     string    `json:"version"`
	Command     string    `json:"command"`
	Time        time.Time `json:"time"` // of the start
	Took        float64   `json:"took_seconds"`
	Layout      string    `json:"layout"`
	Limits      string    `json:"limits"`           // what the layout allows
	Seconds     float64   `json:"duration_seconds"` // of a sample
	Rounds      int64     `json:"rounds"`
	Samples     int       `json:"samples"`   // of all tasks
	Disturbed   int       `json:"disturbed"` // of these
	Interrupted bool      `json:"interrupted,omitempty"`
	Figures     []Figure  `json:"figures"`
	Since       time.Time `json:"since,omitzero"` // of the earlier run
	Differences []string  `json:"differences,omitempty"`
	Changes     []Change  `json:"changes,omitempty"`
}

// Quantity is what a task measures of a subject.
type Quantity struct {
	Name string `json:"name"`
	Setting
	Unit string `json:"unit"`
}

// Figure is the samples of a quantity.
type Figure struct {
	Quantity
	Samples Series `json:"samples"`
}

// Of returns a figure of one sample.
func Of(name string, at Setting, unit string, sample float64) Figure {
	return Figure{Quantity{name, at, unit}, Series{sample}}
}

// Add adds samples to the figures of the same quantities.
func (r *Result) Add(figures ...Figure) {
	for _, f := range figures {
		at := slices.IndexFunc(r.Figures, func(old Figure) bool { return old.Quantity == f.Quantity })
		if at < 0 {
			r.Figures = append(r.Figures, f)
			continue
		}
		r.Figures[at].Samples = append(r.Figures[at].Samples, f.Samples...)
	}
}

// Of returns the samples of a quantity, or none.
func (r *Result) Of(name string, at Setting, unit string) Series {
	for _, f := range r.Figures {
		if f.Quantity == (Quantity{name, at, unit}) {
			return f.Samples
		}
	}
	return nil
}

// Cost returns what an id costs in nanoseconds, by round.
func (r *Result) Cost(name string, at Setting) Series { return r.Of(name, at, Cost) }

// Names returns the names that have a quantity, in order.
func (r *Result) Names(at Setting, unit string) (names []string) {
	for _, f := range r.Figures {
		if f.Setting == at && f.Unit == unit {
			names = append(names, f.Name)
		}
	}
	return names
}

// steps returns the settings of the tables and charts by goroutines, in order.
func (r *Result) steps() (steps []Setting) {
	for _, f := range r.Figures {
		if f.Unit == Cost && !f.Anywhere && !slices.Contains(steps, f.Setting) {
			steps = append(steps, f.Setting)
		}
	}
	slices.SortFunc(steps, func(a, b Setting) int { return a.Goroutines - b.Goroutines })
	return steps
}

// read reads what --json has printed.
func read(path string) (*Result, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := new(Result)
	err = json.Unmarshal(text, r)
	if err == nil && len(r.Figures) == 0 {
		err = errors.New("it has no figures")
	}
	for i, f := range r.Figures {
		if err == nil && (len(f.Samples) == 0 || slices.Min(f.Samples) < 0) {
			err = fmt.Errorf("figure %d has samples %v", i+1, []float64(f.Samples))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s is not what bench --json prints: %w", path, err)
	}
	return r, nil
}

// Units of servers.
const (
	Calls = "calls/s" // each is sent when the last is answered; a suffix tells other ways
	P99   = "p99 ms"
)

// judged reports whether compare judges a unit, and whether more is better. How much is
// borrowed follows from how long a sample was.
func judged(unit string) (more, judged bool) {
	more = strings.HasPrefix(unit, Calls)
	return more, more || unit == Cost || unit == Latencies[1] || unit == P99
}

// compare fills in what has changed since old.
func (r *Result) compare(old *Result) {
	r.Since, r.Differences, r.Changes = old.Time, nil, nil
	for _, d := range []struct{ name, old, now string }{
		{"uidring", old.Version, r.Version}, {"Go", old.Go, r.Go}, {"CPU", old.CPU, r.CPU}, {"platform", old.Platform, r.Platform},
		{"cores", fmt.Sprint(old.Cores), fmt.Sprint(r.Cores)}, {"layout", old.Layout, r.Layout},
		{"seconds of a sample", fmt.Sprint(old.Seconds), fmt.Sprint(r.Seconds)}, {"rounds", fmt.Sprint(old.Rounds), fmt.Sprint(r.Rounds)},
	} {
		if d.old != d.now {
			r.Differences = append(r.Differences, fmt.Sprintf("%s: %s, now %s", d.name, cli.Printable(d.old), cli.Printable(d.now)))
		}
	}
	for _, f := range r.Figures {
		before := old.Of(f.Name, f.Setting, f.Unit)
		if _, judged := judged(f.Unit); judged && before != nil {
			r.Changes = append(r.Changes, changeOf(f.Quantity, before, f.Samples))
		}
	}
}
