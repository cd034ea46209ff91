package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/dustin/go-humanize"
)

// comparison is what has changed since an earlier bench.
type comparison struct {
	Time        time.Time    `json:"time"` // of the earlier one; zero if it does not say
	Version     string       `json:"version"`
	Differences []difference `json:"differences"` // of machine and settings
	Changes     []change     `json:"changes"`
}

// difference is a circumstance that is not as it was.
type difference struct {
	Name string `json:"name"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

const (
	speedFigure = "ids/s"
	tailFigure  = "p99 of a call"
)

// maxResult bounds what is read of a file that may be any.
const maxResult = 16 << 20

// readResult reads what bench --json has printed, of this release or an earlier
// one. It refuses anything else, and what no measurement can be.
func readResult(path string) (*result, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%q: there is no such file; bench --json prints one", path)
	case err != nil:
		return nil, err
	case info.Size() > maxResult:
		return nil, fmt.Errorf("%q is too large for what bench --json prints", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var r result
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%q is not what bench --json prints: %w", path, err)
	}
	known := 0
	for i := range r.Rows {
		row := &r.Rows[i]
		if !slices.ContainsFunc(subjects, func(s subject) bool { return s.name == row.Name }) {
			continue
		}
		known++
		if row.Rounds < 1 { // of a release that measured once
			row.Rounds, row.Spread = 1, spread{row.PerSecond, row.PerSecond, row.PerSecond}
		}
		if row.Goroutines < 1 || !row.Spread.ordered() {
			return nil, fmt.Errorf("%q: row %d, of %s, is none that bench --json prints", path, i+1, row.Name)
		}
	}
	if known == 0 || r.Go == "" || r.Layout == "" {
		return nil, fmt.Errorf("%q is not what bench --json prints: it has no rows of a bench", path)
	}
	return &r, nil
}

// compareWith compares the rows that both have.
func compareWith(old, now *result) *comparison {
	c := &comparison{Time: old.Time, Version: old.Version, Differences: differences(old, now), Changes: []change{}}
	for _, row := range now.Rows {
		before := old.row(row.Name, row.Goroutines)
		if before == nil {
			continue
		}
		add := func(figure string, from, to spread, moreIsBetter bool) {
			if !from.positive() || !to.positive() {
				return
			}
			ch := change{Name: row.Name, Goroutines: row.Goroutines, Figure: figure, Old: from, New: to}
			ch.compare(before.Rounds, row.Rounds, moreIsBetter)
			c.Changes = append(c.Changes, ch)
		}
		add(speedFigure, before.Spread, row.Spread, true)
		if before.Latency != nil && row.Latency != nil {
			add(tailFigure, before.Latency.P99, row.Latency.P99, false)
		}
	}
	return c
}

func differences(old, now *result) []difference {
	found := []difference{}
	add := func(name, before, after string, told bool) {
		if told && before != after {
			found = append(found, difference{name, before, after})
		}
	}
	add("uidring", old.Version, now.Version, old.Version != "")
	add("Go", old.Go, now.Go, true)
	add("platform", old.Platform, now.Platform, old.Platform != "")
	add("system", old.System, now.System, old.System != "")
	add("processor", old.CPU, now.CPU, old.CPU != "" && now.CPU != "")
	add("cores", fmt.Sprint(old.Cores), fmt.Sprint(now.Cores), old.Cores > 0)
	add("layout", old.Layout, now.Layout, true)
	add("round", fmt.Sprintf("%g s", old.Seconds), fmt.Sprintf("%g s", now.Seconds), old.Seconds > 0)
	add("rounds", humanize.Comma(int64(max(1, old.Rounds))), humanize.Comma(int64(now.Rounds)), true)
	add("boost power", fmt.Sprint(old.BoostPower), fmt.Sprint(now.BoostPower), old.BoostPower > 0)
	add("padding factor", fmt.Sprint(old.PaddingFactor), fmt.Sprint(now.PaddingFactor), old.PaddingFactor > 0)
	return found
}

// since says what the comparison is with.
func (c *comparison) since() string {
	text := "an earlier bench"
	if !c.Time.IsZero() {
		text = "the bench of " + c.Time.UTC().Format("2006-01-02 15:04") + " UTC"
	}
	return text
}
