package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/uidring/uidring/cmd/internal/measure"
)

// limit is a promise: an id costs at most so many times what base costs.
type limit struct {
	AllCores bool // on all cores, in both placements of the threads; otherwise by one goroutine
	Most     float64
	Base     string // name of a row, or fastestPeer
}

// fastestPeer stands for the fastest of the peers that read a clock.
const fastestPeer = "the fastest peer that reads a clock"

// The promises of rows.
var (
	nextBars    = []limit{{false, 1.35, measure.Add}, {true, 1, measure.Called}}
	segmentBars = []limit{{false, 1.5, measure.Add}, {true, 1.1, measure.Called}}
	clientBars  = []limit{{true, 1.1, measure.Called}}
	defaultBars = []limit{{false, 8, measure.CachedNext}, {true, 8, measure.CachedNext}}
	nextNBars   = []limit{{false, 1.6, fill.Name}, {true, 1.6, fill.Name}}
	allBars     = []limit{{false, 1, measure.Add}, {true, 0.5, measure.Add}}
	slotsBars   = []limit{{false, 1.3, measure.DefaultNext}, {true, 1.3, measure.DefaultNext}}
	clockBars   = []limit{{false, 0.9, measure.Now}, {true, 1.2, fastestPeer}}
)

// bar is a promise about speed, with the figure that was measured.
type bar struct {
	What, Want, Measured string
	Pass                 bool
}

// bars compares medians of this run.
func (r *results) bars() (list []bar) {
	for _, row := range all() {
		for _, l := range row.Bars {
			for _, s := range r.settings {
				if s.many() == l.AllCores {
					list = append(list, r.ratio(row.Name, l, s))
				}
			}
		}
		if row.Flat {
			list = append(list, r.flat(row.Name))
		}
	}
	return append(append(list, r.pacedBars()...), r.writeBar(), r.startup.bar(), r.allocations())
}

// flat compares the medians from 2 goroutines to 64.
func (r *results) flat(name string) bar {
	var costs []float64
	for _, s := range crowds() {
		if s.many() && s.Goroutines <= 64 {
			costs = append(costs, r.cell(name, s).NsPerID.Median())
		}
	}
	least, most := slices.Min(costs), slices.Max(costs)
	return bar{
		What:     fmt.Sprintf("`%s`, from 2 to 64 goroutines", name),
		Want:     "the dearest ≤ 1.25 × the cheapest",
		Measured: fmt.Sprintf("%.3f ×: %s / %s ns", most/least, measure.Figure(most), measure.Figure(least)),
		Pass:     most/least <= 1.25,
	}
}

func (r *results) ratio(name string, l limit, s setting) bar {
	base := l.Base
	if base == fastestPeer {
		base = r.fastest(s)
	}
	one, under := r.cell(name, s), r.cell(base, s)
	ratio := one.Over(under)
	return bar{
		What:     fmt.Sprintf("`%s`, %s", name, s),
		Want:     fmt.Sprintf("≤ %.2f × %s", l.Most, l.Base),
		Measured: fmt.Sprintf("%.3f × `%s`: %s / %s ns", ratio, base, one.NsPerID, under.NsPerID),
		Pass:     ratio <= l.Most, // false of NaN
	}
}

// fastest names the fastest of the peers that read a clock.
func (r *results) fastest(s setting) string {
	rivals := slices.DeleteFunc(all(), func(row impl) bool { return row.Kind != peer || !row.ReadsClock })
	return slices.MinFunc(rivals, func(a, b impl) int {
		return cmp.Compare(r.cell(a.Name, s).NsPerID.Median(), r.cell(b.Name, s).NsPerID.Median())
	}).Name
}

// allocations counts whole allocations a call, as go test does. The page shows the
// fraction too, as allocations per million ids.
func (r *results) allocations() bar {
	worst, whole := 0.0, 0.0
	for _, row := range all() {
		for _, s := range r.settings {
			if row.Kind == ours {
				worst = max(worst, r.cell(row.Name, s).AllocsPerID())
				whole = max(whole, math.Floor(r.cell(row.Name, s).AllocsPerCall()))
			}
		}
	}
	return bar{
		What: "allocations, any generator and method",
		Want: "0 a call",
		Measured: fmt.Sprintf("%.0f a call as go test counts, without the fraction; at most %s per million ids, the meter's own included",
			whole, measure.Figure(worst*1e6)),
		Pass: whole == 0,
	}
}

// missed returns the bars that do not hold.
func (r *results) missed() []bar { return missed(r.bars()) }

func missed(bars []bar) []bar {
	return slices.DeleteFunc(slices.Clone(bars), func(b bar) bool { return b.Pass })
}
