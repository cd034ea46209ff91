package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
)

//go:embed report.html
var reportText string

var reportPage = template.Must(template.New("report").Funcs(template.FuncMap{
	"parts": func(name string) []string { return strings.SplitAfter(name, ".") }, // between which a line may end
}).Parse(reportText))

// reportData is what the page is made from. Text is escaped by the template; pictures
// have none but numbers.
type reportData struct {
	Time        string
	Interrupted bool
	Most        string // goroutines that the tiles are of
	Tiles       []tile
	Facts       []group
	Legend      []legend
	Sections    []section
	Since       string
	Differences []difference
	Changes     []table
}

// tile is the short of a subject.
type tile struct{ Name, Class, Speed, Unit, Rest string }

type group struct {
	Title string
	Facts []fact
}

type fact struct{ Name, Value string }

type legend struct{ Class, Text string }

type section struct {
	ID, Title, Lead string
	Picture         template.HTML
	Table           table
}

type table struct {
	Title string
	Head  []string
	Rows  []tableRow
}

type tableRow struct {
	Name, Note string
	Cells      []tableCell
}

type tableCell struct{ Text, Note, Class string }

// charted are the subjects that charts have. The rest is in the tables: Default by
// NextN would lie on Default by Next.
var charted = []struct{ name, class, text string }{
	{"atomic add", "floor", "atomic add, for comparison"},
	{"Default.Next", "standard", "Default.Next"},
	{"Cached.Next", "cached", "Cached.Next"},
	{"Cached.NextN(256)", "batch", "Cached.NextN(256)"},
}

// page returns the report as a file of its own.
func (r *result) page() ([]byte, error) {
	steps := r.steps()
	most := steps[len(steps)-1]
	p := reportData{
		Time:        r.Time.UTC().Format("2006-01-02 15:04:05") + " UTC",
		Interrupted: r.Interrupted,
		Most:        goroutineCount(most),
		Tiles:       r.tiles(most),
		Facts:       r.facts(),
	}
	for _, c := range charted {
		p.Legend = append(p.Legend, legend{c.class, c.text})
	}
	for _, build := range []func([]int) (section, error){r.throughput, r.calls, r.borrowing, r.ratios, r.counts} {
		s, err := build(steps)
		if err != nil {
			return nil, err
		}
		p.Sections = append(p.Sections, s)
	}
	if c := r.Comparison; c != nil {
		p.Since, p.Differences, p.Changes = c.since(), c.Differences, c.tables()
	}
	var b bytes.Buffer
	err := reportPage.Execute(&b, p)
	return b.Bytes(), err
}

func (r *result) tiles(goroutines int) []tile {
	var tiles []tile
	for _, c := range charted[1:] {
		row := r.row(c.name, goroutines)
		if row == nil {
			continue
		}
		speed, unit := humanize.ComputeSI(row.PerSecond)
		tiles = append(tiles, tile{c.name, c.class, figures(speed), scale(unit) + "ids/s",
			fmt.Sprintf("%s ns an id, %s × the atomic add", figure(row.NsPerID), figure(row.FloorRatio))})
	}
	return tiles
}

func (r *result) facts() []group {
	known := func(text string) string {
		if text == "" {
			return "not known"
		}
		return text
	}
	return []group{
		{"Machine", []fact{
			{"Processor", known(r.CPU)},
			{"Cores used", strconv.Itoa(r.Cores)},
			{"System", known(r.System) + ", " + r.Platform},
			{"Go", r.Go},
			{"uidring", known(r.Version)},
		}},
		{"Settings", []fact{
			{"Layout", r.Layout},
			{"Boost power", strconv.Itoa(r.BoostPower)},
			{"Padding factor", strconv.Itoa(r.PaddingFactor) + " %"},
			{"Borrowing", "without bound"},
			{"Rounds", fmt.Sprintf("%d of %g s, and a part of it for single calls", r.Rounds, r.Seconds)},
		}},
	}
}

// tables are the changes by what has changed.
func (c *comparison) tables() []table {
	var tables []table
	for _, kind := range []struct{ figure, title string }{{speedFigure, "Ids a second"}, {tailFigure, "99th percentile of a call"}} {
		t := table{Title: kind.title, Head: []string{"", "Change", "Now"}}
		for _, ch := range c.Changes {
			if ch.Figure != kind.figure {
				continue
			}
			note := string(ch.Verdict)
			if ch.Verdict != unknown {
				note = unbroken(ch.span()) + "\n" + note
			}
			t.Rows = append(t.Rows, tableRow{ch.Name, goroutineCount(ch.Goroutines), []tableCell{
				{signed(ch.Percent), note, verdictClasses[ch.Verdict]},
				{ch.short(ch.New.Median), unbroken("was " + ch.short(ch.Old.Median)), ""},
			}})
		}
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

func (c *change) short(x float64) string {
	if c.Figure == tailFigure {
		return span(x)
	}
	return short(x)
}

// unbroken keeps text on one line.
func unbroken(text string) string { return strings.ReplaceAll(text, " ", "\u00a0") }

var verdictClasses = map[verdict]string{better: "better", worse: "worse"}

func goroutineCount(n int) string {
	if n == 1 {
		return "1 goroutine"
	}
	return fmt.Sprintf("%d goroutines", n)
}

// figures writes a number from 1 to 1,000 to three figures.
func figures(x float64) string {
	if x >= 99.95 {
		return strconv.FormatFloat(x, 'f', 0, 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// scale sets a prefix for thousands apart from what follows; k alone would be
// missed.
func scale(prefix string) string {
	switch prefix {
	case "k":
		return "thousand "
	case "M":
		return "million "
	case "G":
		return "billion "
	}
	return prefix
}
