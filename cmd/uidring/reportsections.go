package main

import (
	"math"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"
)

// points are what a chart shows of a subject.
func (r *result) series(goroutines []int, of func(*row) spread) []plotSeries {
	var all []plotSeries
	for _, c := range charted {
		s := plotSeries{class: c.class}
		for _, n := range goroutines {
			var p spread
			if row := r.row(c.name, n); row != nil {
				p = of(row)
			}
			s.points = append(s.points, p)
		}
		all = append(all, s)
	}
	return all
}

// grid is a table of subjects against goroutines.
func (r *result) grid(title string, goroutines []int, of func(*row) tableCell) table {
	t := table{Title: title, Head: []string{"Goroutines"}}
	for _, n := range goroutines {
		t.Head = append(t.Head, strconv.Itoa(n))
	}
	for _, s := range subjects {
		line := tableRow{Name: s.name}
		for _, n := range goroutines {
			cell := tableCell{Text: "–"}
			if row := r.row(s.name, n); row != nil {
				cell = of(row)
			}
			line.Cells = append(line.Cells, cell)
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}

func (r *result) throughput(goroutines []int) (s section, err error) {
	s = section{
		ID: "throughput", Title: "Throughput",
		Lead: "Ids a second, all goroutines together. The dot is the round in the middle, the bar reaches from the slowest round to the fastest.",
	}
	s.Table = r.grid("Ids a second", goroutines, func(row *row) tableCell {
		cell := tableCell{Text: short(row.PerSecond)}
		if row.Rounds > 1 && row.Spread.positive() {
			cell.Note = short(row.Spread.Lowest) + " – " + short(row.Spread.Highest)
		}
		return cell
	})
	s.Picture, err = plot{s.ID, s.Title, "Ids a second against goroutines. The table below has the figures.",
		func(power int) string { return short(math.Pow10(power)) },
		r.series(goroutines, func(row *row) spread { return row.Spread })}.svg(goroutines)
	return s, err
}

func (r *result) calls(goroutines []int) (s section, err error) {
	s = section{
		ID: "latency", Title: "Latency of a call",
		Lead: "The dot is the median, the bar reaches up to the 99th percentile. Every call was timed by itself, " +
			"reading the clock included, which is most of what the atomic add shows here. The longest call of Default " +
			"is its wait for the next tick. NextN(256) makes 256 ids a call.",
	}
	s.Table = table{Title: "Latency of a call", Head: []string{"", "p50", "p99", "p99.9", "Longest"}}
	for _, n := range goroutines {
		for _, subject := range subjects {
			row := r.row(subject.name, n)
			if row == nil {
				continue
			}
			line := tableRow{Name: row.Name, Note: goroutineCount(n)}
			for _, of := range []func(*latency) spread{
				func(l *latency) spread { return l.P50 }, func(l *latency) spread { return l.P99 },
				func(l *latency) spread { return l.P999 }, func(l *latency) spread { return l.Max },
			} {
				line.Cells = append(line.Cells, tableCell{Text: row.call(of)})
			}
			s.Table.Rows = append(s.Table.Rows, line)
		}
	}
	s.Picture, err = plot{s.ID, s.Title, "Nanoseconds of a call against goroutines, median to 99th percentile. The table below has the figures.",
		func(power int) string { return span(math.Pow10(power)) },
		r.series(goroutines, func(row *row) spread {
			if row.Latency == nil {
				return spread{}
			}
			p50 := row.Latency.P50.Median
			return spread{p50, p50, row.Latency.P99.Median}
		})}.svg(goroutines)
	return s, err
}

func (r *result) borrowing(goroutines []int) (s section, err error) {
	s = section{
		ID: "borrowed", Title: "Borrowed seconds",
		Lead: "How far ahead of the clock the last ids are stamped, after a round that does nothing but take ids, " +
			"with no bound to it. Default never borrows: it waits.",
	}
	s.Table = r.grid("Seconds borrowed", goroutines, func(row *row) tableCell {
		return tableCell{Text: humanize.Comma(int64(row.BorrowedSeconds + 0.5))}
	})
	s.Picture, err = plot{s.ID, s.Title, "Seconds borrowed against goroutines. The table below has the figures.",
		func(power int) string { return short(math.Pow10(power)) + "s" },
		r.series(goroutines, func(row *row) spread {
			b := row.BorrowedSeconds
			if b < 1 { // none that a logarithm could show
				return spread{}
			}
			return spread{b, b, b}
		})}.svg(goroutines)
	return s, err
}

func (r *result) ratios(goroutines []int) (s section, err error) {
	s = section{
		ID: "ratio", Title: "Against the atomic add",
		Lead: "Time an id takes, as a multiple of a bare atomic add by as many goroutines. Less is better; " +
			"Default is as slow as its layout has it.",
	}
	s.Table = r.grid("Times the atomic add", goroutines, func(row *row) tableCell {
		return tableCell{Text: figure(row.FloorRatio), Note: figure(row.NsPerID) + " ns/id"}
	})
	s.Picture, err = plot{s.ID, s.Title, "Multiples of the atomic add against goroutines. The table below has the figures.",
		func(power int) string { return short(math.Pow10(power)) + "×" },
		r.series(goroutines, func(row *row) spread { return spread{row.FloorRatio, row.FloorRatio, row.FloorRatio} })}.svg(goroutines)
	return s, err
}

// counts has no picture: mostly it is noughts.
func (r *result) counts([]int) (section, error) {
	s := section{ID: "counts", Title: "Allocations and failures", Lead: "In a round that is measured for speed; calls that failed are those of all rounds."}
	s.Table = table{Title: "Allocations and failures", Head: []string{"", "Allocations an id", "Failed calls"}}
	for _, row := range r.Rows {
		s.Table.Rows = append(s.Table.Rows, tableRow{row.Name, goroutineCount(row.Goroutines), []tableCell{
			{Text: strconv.FormatFloat(row.AllocsPerID, 'f', 3, 64)},
			{Text: humanize.Comma(row.Rejected), Note: row.Stopped},
		}})
	}
	return s, nil
}

// short writes a number to three figures, with a letter for thousands.
func short(x float64) string {
	if x < 1000 {
		if x < 1 {
			return strconv.FormatFloat(x, 'g', 3, 64)
		}
		return figures(x)
	}
	letters := []string{"", "k", "M", "G", "T"}
	for x >= 999.5 && len(letters) > 1 {
		x, letters = x/1000, slices.Delete(letters, 0, 1)
	}
	return figures(x) + " " + letters[0]
}
