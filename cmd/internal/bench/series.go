package bench

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"golang.org/x/perf/benchmath"
)

// Series is the samples of one figure, a sample a round.
type Series []float64

// Over returns how many times base s is: the median of the rounds' ratios, or the ratio of
// the medians if one of them has more samples.
func (s Series) Over(base Series) float64 {
	if len(s) != len(base) {
		return s.Median() / base.Median()
	}
	var ratios Series
	for i := range s {
		ratios = append(ratios, s[i]/base[i])
	}
	return ratios.Median()
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

// String is the median with the least and the greatest sample, as in
// "2.58 (2.52–3.64)".
func (s Series) String() string {
	if len(s) == 0 {
		return "–"
	}
	return fmt.Sprintf("%s (%s–%s)", Digits(s.Median()), Digits(slices.Min(s)), Digits(slices.Max(s)))
}

// Bold is String with the median in bold.
func (s Series) Bold() string {
	median, rest, spread := strings.Cut(s.String(), " ")
	if !spread {
		return median
	}
	return "**" + median + "** " + rest
}

// Digits prints v with three digits at least, so that 0.4 and 38,000 fit one column.
func Digits(v float64) string {
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

// The verdicts of a change.
const (
	better  = "better"
	worse   = "worse"
	same    = "no change" // chance explains the difference, or it is too small to matter
	tooFew  = "too few rounds"
	matters = 0.02 // a smaller part of a figure is no change, however certain
)

// fewest is how many samples of either side the test needs to find anything: of
// fewer, even samples that do not overlap have a p of more than 0.05.
const fewest = 4

// Change is how a quantity went from one run to another.
type Change struct {
	Quantity
	Old     float64 `json:"old"` // median
	New     float64 `json:"new"`
	Delta   string  `json:"delta"` // in per cent
	P       float64 `json:"p"`     // how likely chance alone makes such a difference
	Verdict string  `json:"verdict"`
}

// changeOf judges the difference by the Mann-Whitney U test.
func changeOf(q Quantity, from, to Series) Change {
	c := Change{Quantity: q, Old: from.Median(), New: to.Median()}
	test := benchmath.AssumeNothing.Compare(from.sample(), to.sample())
	part := 0.0
	if c.Old > 0 { // of nothing, there is no part
		part = c.New/c.Old - 1
	}
	more, _ := judged(q.Unit)
	c.Delta, c.P = fmt.Sprintf("%+.1f%%", math.Round(1000*part)/10+0), test.P // + 0 makes -0 0
	switch {
	case min(len(from), len(to)) < fewest:
		c.Verdict = tooFew
	case test.P >= test.Alpha || math.Abs(part) < matters:
		c.Verdict = same
	case part < 0 != more:
		c.Verdict = better
	default:
		c.Verdict = worse
	}
	return c
}
