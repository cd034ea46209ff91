package main

import (
	_ "embed"
	"fmt"
	"runtime/debug"
	"strings"
	"text/template"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/uidring/uidring/cmd/internal/measure"
)

//go:embed page.md
var pageText string

// page returns the text of BENCHMARKS.md.
func (r *results) page(command string) (string, error) {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, map[string]any{
		"R": r, "Command": command, "Cores": r.Machine.Cores, "Generators": generators, "Interval": measure.Interval,
		"AllBars": r.bars(), "Missed": r.missed(),
		"Setting": r.setting(), "Bars": barTable(r.bars()), "Peers": r.peerTable(), "Notes": r.notes(), "Losses": r.losses(),
		"Borrowed": r.borrowedTable(), "Crowds": r.crowdTable(), "Rings": r.ringTable(), "Latency": r.latencyTable(),
		"Tags": r.tagTable(), "Writes": r.writeTable(), "CosID": r.cosIDTable(), "Ahead": writesAhead, "Half": writesFor / 2,
	})
	return b.String(), err
}

// table writes rows, the first of them the header. A column whose header starts with
// ">" is set to the right.
func table(rows ...[]string) string {
	rules := make([]string, len(rows[0]))
	for i, cell := range rows[0] {
		rules[i] = "---"
		if strings.HasPrefix(cell, ">") {
			rows[0][i], rules[i] = cell[1:], "---:"
		}
	}
	var lines []string
	for i, row := range rows {
		lines = append(lines, "| "+strings.Join(row, " | ")+" |")
		if i == 0 {
			lines = append(lines, "| "+strings.Join(rules, " | ")+" |")
		}
	}
	return strings.Join(lines, "\n")
}

func list(items []string) string { return "- " + strings.Join(items, "\n- ") }

// bold returns a series with its median in bold.
func bold(s measure.Series) string {
	median, rest, ok := strings.Cut(s.String(), " ")
	if !ok {
		return median
	}
	return "**" + median + "** " + rest
}

func number(n int) string { return humanize.Comma(int64(n)) }

func (r *results) setting() string {
	m := r.Machine
	return table([]string{"", ""},
		[]string{"CPU", m.CPU},
		[]string{"cores", fmt.Sprint(m.Cores)},
		[]string{"Go", m.Go + ", " + m.Platform},
		[]string{"rounds", fmt.Sprintf("%d, with samples of %v, paced samples of %v", r.Count, r.Time, r.Paced)},
		[]string{"run", fmt.Sprintf("%s, took %v", r.Started.UTC().Format("2006-01-02 15:04 MST"), r.Took.Round(time.Second))},
		[]string{"disturbed", fmt.Sprintf("%d of %d samples", r.Calm.Disturbed, r.Calm.Samples)})
}

func barTable(bars []bar) string {
	rows := [][]string{{"what", "bar", "measured", ""}}
	for _, b := range bars {
		verdict := "pass"
		if !b.Pass {
			verdict = "**MISSED**"
		}
		rows = append(rows, []string{b.What, b.Want, b.Measured, verdict})
	}
	return table(rows...)
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

// peerTable has every row, with a column of figures for each setting.
func (r *results) peerTable() string {
	head := []string{"generator"}
	for _, s := range r.settings {
		head = append(head, ">ns/id, "+s.String())
	}
	rows := [][]string{append(head, ">allocs/op", "cap by design", "clock read per id", "what it gives up")}
	for _, row := range all() {
		line := []string{label(row)}
		for _, s := range r.settings {
			line = append(line, bold(r.cell(row.Name, s).NsPerID))
		}
		line = append(line, fmt.Sprint(int(r.cell(row.Name, one).AllocsPerCall()+0.001)))
		clock := "no"
		if row.ReadsClock {
			clock = "yes"
		}
		rows = append(rows, append(line, row.Cap, clock, row.GivesUp))
	}
	return table(rows...)
}

// notes lists how rows were configured, and which peers were measured at a rate at which
// their ids repeat.
func (r *results) notes() string {
	var items []string
	for _, row := range all() {
		if row.Setup != "" {
			items = append(items, fmt.Sprintf("`%s`: %s.", row.Name, row.Setup))
		}
	}
	for _, row := range all() {
		for _, s := range r.settings {
			if rate := r.cell(row.Name, s).PerSecond(); row.RepeatsPast > 0 && rate > row.RepeatsPast {
				items = append(items, fmt.Sprintf("`%s` made %.1f million ids a second with %s. Past %.1f million its ids repeat.",
					row.Name, rate/1e6, s, row.RepeatsPast/1e6))
			}
		}
	}
	return list(items)
}

// losses lists the rivals that cost less than ours for one id a call.
func (r *results) losses() string {
	var items []string
	for _, mine := range all() {
		if mine.Kind != ours || !mine.Scales {
			continue
		}
		for _, s := range crowds() {
			if faster := r.faster(mine.Name, s); len(faster) > 0 {
				items = append(items, fmt.Sprintf("`%s` with %s is slower than %s.", mine.Name, s, strings.Join(faster, ", ")))
			}
		}
	}
	for _, b := range r.missed() {
		items = append(items, fmt.Sprintf("A bar is missed: %s, want %s, measured %s.", b.What, b.Want, b.Measured))
	}
	if len(items) == 0 {
		items = []string{"nothing is faster, and no bar is missed."}
	}
	return list(items)
}

// faster lists the rivals that cost less than the named one of ours, with figures.
func (r *results) faster(name string, s setting) (list []string) {
	mine := r.cell(name, s)
	for _, row := range all() {
		c := r.cell(row.Name, s)
		if c != nil && row.Kind > ours && c.NsPerID.Median() < mine.NsPerID.Median() {
			list = append(list, fmt.Sprintf("`%s` (%s against %s ns)", row.Name,
				measure.Figure(c.NsPerID.Median()), measure.Figure(mine.NsPerID.Median())))
		}
	}
	return list
}
