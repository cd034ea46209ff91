package main

import (
	"fmt"
	"math"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/uidring/uidring/cmd/internal/bench"
)

// page is what page.md shows.
type page struct {
	*bench.Result
	missed []bench.Bar
}

func number(n int) string { return humanize.Comma(int64(n)) }

// rows returns those that were measured.
func (p *page) rows() (list []impl) {
	for _, row := range all {
		if slices.ContainsFunc(p.Figures, func(f bench.Figure) bool { return f.Name == row.Name }) {
			list = append(list, row)
		}
	}
	return list
}

// withCosts returns the head of a table with a column of costs for each setting.
func withCosts(first []string, settings []bench.Setting, last ...string) []string {
	for _, s := range settings {
		first = append(first, ">ns/id, "+s.String())
	}
	return append(first, last...)
}

// costs adds the cells of these columns to a row.
func (p *page) costs(row []string, name string, settings []bench.Setting) []string {
	for _, s := range settings {
		row = append(row, p.Cost(name, s).Bold())
	}
	return row
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

// Peers is a table of every row, with a column of figures for each setting.
func (p *page) Peers() string {
	var rows [][]string
	for _, row := range p.rows() {
		clock := "no"
		if row.ReadsClock {
			clock = "yes"
		}
		allocs := fmt.Sprint(math.Floor(p.Of(row.Name, bench.One, bench.AllocsPerCall).Median() + 0.001))
		rows = append(rows, append(p.costs([]string{label(row)}, row.Name, settings(p.Cores)), allocs, row.Cap, clock, row.GivesUp))
	}
	return bench.Table(withCosts([]string{"generator"}, settings(p.Cores), ">allocs/op", "cap by design", "clock read per id", "what it gives up"), rows...)
}

// Notes lists how rows were configured, and which peers were measured at a rate at which
// their ids repeat.
func (p *page) Notes() string {
	var items []string
	for _, row := range p.rows() {
		if row.Setup != "" {
			items = append(items, fmt.Sprintf("`%s`: %s.", row.Name, row.Setup))
		}
	}
	for _, row := range p.rows() {
		for _, s := range settings(p.Cores) {
			if rate := p.PerSecond(row.Name, s); row.RepeatsPast > 0 && rate > row.RepeatsPast {
				items = append(items, fmt.Sprintf("`%s` made %.1f million ids a second with %s. Past %.1f million its ids repeat.",
					row.Name, rate/1e6, s, row.RepeatsPast/1e6))
			}
		}
	}
	return bench.List(items)
}

// Losses lists the rivals that cost less than ours for one id a call.
func (p *page) Losses() string {
	var items []string
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
	for _, b := range p.missed {
		items = append(items, fmt.Sprintf("A bar is missed: %s, want %s, measured %s.", b.What, b.Want, b.Measured))
	}
	if len(items) == 0 {
		items = []string{"nothing is faster, and no bar is missed."}
	}
	return bench.List(items)
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

// Refills is a table of ours: no peer stamps ids ahead of the clock on purpose.
func (p *page) Refills() string {
	var rows [][]string
	for _, row := range p.rows() {
		for _, s := range settings(p.Cores) {
			if p.Of(row.Name, s, bench.Refills) != nil {
				line := []string{"`" + row.Name + "`", s.String(), p.Cost(row.Name, s).Bold(), bench.Digits(p.PerSecond(row.Name, s) / 1e6), p.Of(row.Name, s, bench.Borrowed).Bold()}
				rows = append(rows, p.digits(line, row.Name, s, bench.Refills, bench.Helps, bench.Failed))
			}
		}
	}
	return bench.Table([]string{"call", "goroutines", ">ns/id", ">million ids/s", ">borrowed at the end of a sample, s",
		">refills per million ids", ">helps per million ids", ">failed"}, rows...)
}

// digits adds medians to a row.
func (p *page) digits(row []string, name string, s bench.Setting, units ...string) []string {
	for _, unit := range units {
		row = append(row, bench.Digits(p.Of(name, s, unit).Median()))
	}
	return row
}

// Inside is a table of paced calls, from when they started.
func (p *page) Inside() string {
	var rows [][]string
	var paced bench.Setting
	for _, name := range p.Paced() {
		row := []string{"`" + name + "`", p.Of(name, paced, bench.Inside[2]).Bold(), p.Of(name, paced, bench.Inside[3]).Bold(),
			bench.Digits(p.Of(name, paced, bench.PacedCalls).Median() / 1e6)}
		rows = append(rows, p.digits(row, name, paced, bench.Refills, bench.Helps, bench.Borrowed))
	}
	return bench.Table([]string{"call", ">p99.99 inside, ns", ">max inside, ns", ">million calls/s", ">refills", ">helps", ">borrowed, s"}, rows...)
}

// Rings is a table by the size of the ring.
func (p *page) Rings() string {
	var rows [][]string
	for _, power := range boosts {
		heap := p.Of(boostName(power), bench.Setting{}, heapBytes)
		row := p.costs([]string{fmt.Sprint(power), number(slots(power))}, boostName(power), settings(p.Cores))
		rows = append(rows, append(row, heap.Bold(), bench.Digits(heap.Median()/float64(slots(power)))))
	}
	return bench.Table(withCosts([]string{">BoostPower", ">ids in the ring"}, settings(p.Cores), ">heap, bytes", ">bytes an id"), rows...)
}
