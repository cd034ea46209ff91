package main

import (
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/uidring/uidring/cmd/internal/bench"
)

// page reads the figures of a run.
type page struct{ *bench.Result }

// of returns the samples of what has no setting.
func (p *page) of(name, unit string) bench.Series { return p.Of(name, bench.Setting{}, unit) }

// data is what page.md shows.
func (p *page) data(missed []bench.Bar) map[string]any {
	var none bench.Setting
	cores, apart := settings(p.Cores), apart(p.Cores)
	var tags []string
	for _, n := range tagCounts {
		tags = append(tags, tagsName(n))
	}
	return map[string]any{
		"Cores": p.Cores, "Ahead": writesAhead, "Half": writesFor / 2, "Generators": generators,
		"Peers":   p.peers(),
		"Notes":   bench.List(p.notes()),
		"Losses":  bench.List(p.losses(missed)),
		"Refills": p.refills(),
		"Tags":    p.Grid("tags", tags, "", bench.By(apart, bench.Cost)),
		"Writes":  p.Grid("ids/s wanted", p.Names(none, writesMade), "", bench.Units(writesMade, writesFirst, writesSecond, writesRange)),
		"CosID":   p.cosID(),
		"Rings":   p.Grid("ring", p.Names(none, heapBytes), "", append(bench.By(cores, bench.Cost), bench.Units(heapBytes, heapBytesPerID)...)),
		"Inside": p.Grid("call", p.Names(none, bench.Inside[0]), "",
			bench.Units(bench.Inside[2], bench.Inside[3], bench.PacedCalls, bench.Refills, bench.Helps, bench.Borrowed)),
	}
}

// rows returns those that were measured.
func (p *page) rows() (list []impl) {
	for _, row := range all {
		if slices.ContainsFunc(p.Figures, func(f bench.Figure) bool { return f.Name == row.Name }) {
			list = append(list, row)
		}
	}
	return list
}

// label returns a row's name on the page: its package, with the version that is linked.
func label(row impl) string {
	path, call, _ := strings.Cut(row.Package, ", ")
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			if row.Kind == peer && (path == dep.Path || strings.HasPrefix(path, dep.Path+"/")) {
				return strings.TrimSpace(path + " " + dep.Version + " " + call)
			}
		}
	}
	if row.Kind == ours {
		return "**" + row.Package + "**"
	}
	return row.Package
}

// peers is a table of every row, with a column of figures for each setting.
func (p *page) peers() string {
	var rows [][]string
	costs := bench.By(settings(p.Cores), bench.Cost)
	for _, row := range p.rows() {
		clock := "no"
		if row.ReadsClock {
			clock = "yes"
		}
		allocs := fmt.Sprint(math.Floor(p.Of(row.Name, bench.One, bench.AllocsPerCall).Median() + 0.001))
		rows = append(rows, append(p.Row(label(row), row.Name, "", costs), allocs, row.Cap, clock, row.GivesUp))
	}
	return bench.Table(append(bench.Heads("generator", costs), ">allocs/op", "cap by design", "clock read per id", "what it gives up"), rows...)
}

// notes lists how rows were configured, and which peers were measured at a rate at which
// their ids repeat.
func (p *page) notes() (items []string) {
	for _, row := range p.rows() {
		if row.Setup != "" {
			items = append(items, fmt.Sprintf("`%s`: %s.", row.Name, row.Setup))
		}
	}
	for _, row := range p.rows() {
		for _, s := range settings(p.Cores) {
			if rate := p.Of(row.Name, s, bench.Rate).Median(); row.RepeatsPast > 0 && rate > row.RepeatsPast {
				items = append(items, fmt.Sprintf("`%s` made %.1f million ids a second with %s. Past %.1f million its ids repeat.",
					row.Name, rate, s, row.RepeatsPast))
			}
		}
	}
	return items
}

// losses lists the rivals that cost less than ours for one id a call.
func (p *page) losses(missed []bench.Bar) (items []string) {
	for _, mine := range p.rows() {
		if mine.Kind != ours || !mine.Scales {
			continue
		}
		for _, s := range crowds(p.Cores) {
			if faster := p.faster(mine.Name, s); len(faster) > 0 {
				items = append(items, fmt.Sprintf("`%s` with %s is slower than %s.", mine.Name, s, strings.Join(faster, ", ")))
			}
		}
	}
	for _, b := range missed {
		items = append(items, fmt.Sprintf("A bar is missed: %s, want %s, measured %s.", b.What, b.Want, b.Measured))
	}
	if len(items) == 0 {
		items = []string{"nothing is faster, and no bar is missed."}
	}
	return items
}

// faster lists the rivals that cost less than the named one of ours, with figures.
func (p *page) faster(name string, s bench.Setting) (list []string) {
	mine := p.Cost(name, s).Median()
	for _, row := range p.rows() {
		if cost := p.Cost(row.Name, s).Median(); row.Kind > ours && cost < mine {
			list = append(list, fmt.Sprintf("`%s` (%s against %s ns)", row.Name, bench.Digits(cost), bench.Digits(mine)))
		}
	}
	return list
}

// refills is a table of ours: no peer stamps ids ahead of the clock on purpose.
func (p *page) refills() string {
	var rows [][]string
	units := []string{bench.Cost, bench.Rate, bench.Borrowed, bench.Refills, bench.Helps, bench.Failed}
	for _, row := range p.rows() {
		for _, s := range settings(p.Cores) {
			if row.Kind != ours {
				continue
			}
			columns := bench.Units(units...)
			for i := range columns {
				columns[i].Setting = s
			}
			rows = append(rows, p.Row(row.Name+", "+s.String(), row.Name, "", columns))
		}
	}
	return bench.Table(bench.Heads("call", bench.Units(units...)), rows...)
}
