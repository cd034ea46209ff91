package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/uidring/uidring/cmd/internal/bench"
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
	nextBars    = []limit{{false, 1.35, bench.Add}, {true, 1, bench.Called}}
	segmentBars = []limit{{false, 1.5, bench.Add}, {true, 1.1, bench.Called}}
	clientBars  = []limit{{true, 1.1, bench.Called}}
	defaultBars = []limit{{false, 8, bench.CachedNext}, {true, 8, bench.CachedNext}}
	nextNBars   = []limit{{false, 1.6, fill.Name}, {true, 1.6, fill.Name}}
	allBars     = []limit{{false, 1, bench.Add}, {true, 0.5, bench.Add}}
	slotsBars   = []limit{{false, 1.3, bench.DefaultNext}, {true, 1.3, bench.DefaultNext}}
	clockBars   = []limit{{false, 0.9, bench.Now}, {true, 1.2, fastestPeer}}
)

// peerBars compares medians of a run.
func peerBars(r *bench.Result) (list []bench.Bar) {
	p := &page{r}
	for _, row := range p.rows() {
		for _, l := range row.Bars {
			for _, s := range settings(p.Cores) {
				if s.Many() == l.AllCores {
					list = append(list, p.ratio(row.Name, l, s))
				}
			}
		}
		if row.Flat {
			list = append(list, p.flat(row.Name))
		}
	}
	return append(append(list, p.pacedBars()...), p.writeBar(), p.startBar(), p.allocations())
}

// flat compares the medians from 2 goroutines to 64.
func (p *page) flat(name string) bench.Bar {
	var costs []float64
	for _, s := range crowds(p.Cores) {
		if s.Many() && s.Goroutines <= 64 {
			costs = append(costs, p.Cost(name, s).Median())
		}
	}
	least, most := slices.Min(costs), slices.Max(costs)
	return bench.Bar{
		What:     fmt.Sprintf("`%s`, from 2 to 64 goroutines", name),
		Want:     "the dearest ≤ 1.25 × the cheapest",
		Measured: fmt.Sprintf("%.3f ×: %s / %s ns", most/least, bench.Digits(most), bench.Digits(least)),
		Pass:     most/least <= 1.25,
	}
}

func (p *page) ratio(name string, l limit, s bench.Setting) bench.Bar {
	base := l.Base
	if base == fastestPeer {
		base = p.fastest(s)
	}
	one, under := p.Cost(name, s), p.Cost(base, s)
	ratio := one.Median() / under.Median()
	return bench.Bar{
		What:     fmt.Sprintf("`%s`, %s", name, s),
		Want:     fmt.Sprintf("≤ %.2f × %s", l.Most, l.Base),
		Measured: fmt.Sprintf("%.3f × `%s`: %s / %s ns", ratio, base, one, under),
		Pass:     ratio <= l.Most, // false of NaN
	}
}

// fastest names the fastest of the peers that read a clock.
func (p *page) fastest(s bench.Setting) (name string) {
	least := math.Inf(1)
	for _, row := range p.rows() {
		if cost := p.Cost(row.Name, s).Median(); row.Kind == peer && row.ReadsClock && cost < least {
			least, name = cost, row.Name
		}
	}
	return name
}

// allocations counts whole allocations a call, as go test does. The page shows the
// fraction too, as allocations per million ids.
func (p *page) allocations() bench.Bar {
	worst, whole := 0.0, 0.0
	for _, row := range p.rows() {
		for _, s := range settings(p.Cores) {
			if row.Kind == ours {
				worst = max(worst, p.Of(row.Name, s, bench.AllocsPerID).Median())
				whole = max(whole, math.Floor(p.Of(row.Name, s, bench.AllocsPerCall).Median()))
			}
		}
	}
	return bench.Bar{
		What: "allocations, any generator and method",
		Want: "0 a call",
		Measured: fmt.Sprintf("%.0f a call as go test counts, without the fraction; at most %s per million ids, the meter's own included",
			whole, bench.Digits(worst*1e6)),
		Pass: whole == 0,
	}
}
