package main

import "slices"

// spread is what some rounds found of one figure.
type spread struct {
	Lowest  float64 `json:"lowest"`
	Median  float64 `json:"median"` // one that was found; of an even number, the lower
	Highest float64 `json:"highest"`
}

// spreadOf returns the spread of values, which it sorts; zero for none.
func spreadOf(values []float64) spread {
	if len(values) == 0 {
		return spread{}
	}
	slices.Sort(values)
	return spread{values[0], values[(len(values)-1)/2], values[len(values)-1]}
}

func (s spread) ordered() bool {
	return 0 <= s.Lowest && s.Lowest <= s.Median && s.Median <= s.Highest
}

// positive tells that there is a ratio to it.
func (s spread) positive() bool { return s.Lowest > 0 && s.ordered() }

// change is how a figure went from one bench to another, in per cent: by the
// medians, and at the least and the most that the rounds of both allow.
type change struct {
	Name       string  `json:"name"`
	Goroutines int     `json:"goroutines"`
	Figure     string  `json:"figure"`
	Old        spread  `json:"old"`
	New        spread  `json:"new"`
	Percent    float64 `json:"percent"`
	Least      float64 `json:"least_percent"`
	Most       float64 `json:"most_percent"`
	Verdict    verdict `json:"verdict"`
}

type verdict string

const (
	better  verdict = "better"
	worse   verdict = "worse"
	within  verdict = "within the spread"
	unknown verdict = "spread not known" // of one round there is none
)

// compare fills in what follows from Old and New.
func (c *change) compare(oldRounds, newRounds int, moreIsBetter bool) {
	c.Percent = percent(c.New.Median, c.Old.Median)
	c.Least = percent(c.New.Lowest, c.Old.Highest)
	c.Most = percent(c.New.Highest, c.Old.Lowest)
	switch {
	case oldRounds < 2 || newRounds < 2:
		c.Verdict = unknown
	case c.Least <= 0 && c.Most >= 0:
		c.Verdict = within
	case (c.Least > 0) == moreIsBetter:
		c.Verdict = better
	default:
		c.Verdict = worse
	}
}

func percent(to, from float64) float64 { return 100 * (to/from - 1) }
