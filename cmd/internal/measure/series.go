package measure

import (
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"
	"golang.org/x/perf/benchmath"
)

// Series is the samples of one figure, a sample a round.
type Series []float64

// Each collects one figure of all values.
func Each[T any](values []T, figure func(T) float64) Series {
	s := make(Series, 0, len(values))
	for _, v := range values {
		s = append(s, figure(v))
	}
	return s
}

func (s Series) sample() *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(s), &benchmath.DefaultThresholds)
}

// Median of no samples is NaN.
func (s Series) Median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	return benchmath.AssumeNothing.Summary(s.sample(), 0.95).Center
}

// Least of no samples is NaN.
func (s Series) Least() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	return slices.Min(s)
}

// String is the median with the least and the greatest sample, as in
// "2.58 (2.52–3.64)".
func (s Series) String() string {
	if len(s) == 0 {
		return "–"
	}
	return fmt.Sprintf("%s (%s–%s)", Figure(s.Median()), Figure(slices.Min(s)), Figure(slices.Max(s)))
}

// Figure prints v with three digits at least, so that 0.4 and 38,000 fit one column.
func Figure(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v == 0:
		return "0"
	case v < 1:
		return fmt.Sprintf("%.3f", v)
	case v < 9.995:
		return fmt.Sprintf("%.2f", v)
	case v < 99.95:
		return fmt.Sprintf("%.1f", v)
	default:
		return humanize.Comma(int64(math.Round(v)))
	}
}

// Verdict says what a change means.
type Verdict string

// The verdicts of a figure of which less is better.
const (
	Better  Verdict = "better"
	Worse   Verdict = "worse"
	Same    Verdict = "no change" // chance explains the difference, or it is too small to matter
	TooFew  Verdict = "too few rounds"
	matters         = 0.02 // a smaller part of a figure is no change, however certain
)

// fewest is how many samples of either side the test needs to find anything: of
// fewer, even samples that do not overlap have a p of more than 0.05.
const fewest = 4

// Change is how a figure of which less is better went from one run to another.
type Change struct {
	Delta   string  `json:"delta"` // in per cent, of the medians
	P       float64 `json:"p"`     // how likely chance alone makes such a difference
	Verdict Verdict `json:"verdict"`
}

// Compare judges the difference by the Mann-Whitney U test.
func Compare(from, to Series) Change {
	before, after := from.Median(), to.Median()
	test := benchmath.AssumeNothing.Compare(from.sample(), to.sample())
	part := after/before - 1
	c := Change{Delta: fmt.Sprintf("%+.1f%%", math.Round(1000*part)/10+0), P: test.P} // + 0 makes -0 0
	switch {
	case min(len(from), len(to)) < fewest:
		c.Verdict = TooFew
	case test.P >= test.Alpha || math.Abs(part) < matters:
		c.Verdict = Same
	case part < 0:
		c.Verdict = Better
	default:
		c.Verdict = Worse
	}
	return c
}
