package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/dustin/go-humanize"
)

// series is the samples of one figure, a sample a round.
type series []float64

// median of an even number of samples is the mean of the two in the middle; of
// none it is NaN.
func (s series) median() float64 {
	if len(s) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(s))
	half := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[half]
	}
	return (sorted[half-1] + sorted[half]) / 2
}

// spread is the median with the least and the greatest sample.
func (s series) spread() string {
	if len(s) == 0 {
		return "–"
	}
	return fmt.Sprintf("**%s** (%s–%s)", figure(s.median()), figure(slices.Min(s)), figure(slices.Max(s)))
}

// figure prints v with three digits at least, so that 0.4 and 38,000 fit one
// column.
func figure(v float64) string {
	switch {
	case math.IsNaN(v):
		return "–"
	case v == 0:
		return "0"
	case v < 1:
		return fmt.Sprintf("%.3f", v)
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	default:
		return humanize.Comma(int64(math.Round(v)))
	}
}
