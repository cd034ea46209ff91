package main

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// write prints the rows as a table for people.
func (r *result) write(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s, %s, cores: %d; layout %s; rounds: %d, %gs each\n", r.Go, r.Platform, r.Cores, r.Layout, r.Rounds, r.Seconds)
	const format = "%10s  %-*s  %14s  %7s  %10s  %8s  %9s  %9s  %9s  %8s  %12s\n"
	for i, row := range r.Rows {
		if i == 0 || row.Goroutines != r.Rows[i-1].Goroutines {
			fmt.Fprintf(&b, "\n"+format, "goroutines", nameWidth, "", "ids/s", "spread", "ns/id", "x add", "p50", "p99", "allocs/id", "rejected", "borrowed s")
		}
		fmt.Fprintf(&b, format, strconv.Itoa(row.Goroutines), nameWidth, row.Name, humanize.Comma(int64(row.PerSecond+0.5)), row.width(),
			figure(row.NsPerID), figure(row.FloorRatio), row.call(func(l *latency) spread { return l.P50 }), row.call(func(l *latency) spread { return l.P99 }),
			strconv.FormatFloat(row.AllocsPerID, 'f', 3, 64), humanize.Comma(row.Rejected), humanize.Comma(int64(row.BorrowedSeconds+0.5)))
		if row.Stopped != "" {
			fmt.Fprintf(&b, "%10s  it ended after %.3f s: %s\n", "", row.Seconds, row.Stopped)
		}
	}
	fmt.Fprintf(&b, `
ids/s, ns/id, allocs/id, borrowed s: of the round in the middle
spread: between the slowest and the fastest round, against the one in the middle
ns/id: wall time over the ids of all goroutines together
x add: ns/id over that of the atomic add at as many goroutines
p50, p99: no more than this for half the calls, and for 99 in 100, each timed by
itself, reading the clock included; NextN(256) makes 256 ids a call
rejected: calls that failed
borrowed s: how far ahead of the clock the last ids are stamped
Default has %s, and then waits for the clock
`, r.ticksOf)
	if r.Comparison != nil {
		r.Comparison.write(&b)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// width is how far apart the rounds are.
func (r *row) width() string {
	if r.Rounds < 2 || !r.Spread.positive() {
		return "-"
	}
	return strconv.FormatFloat(100*(r.Spread.Highest-r.Spread.Lowest)/r.Spread.Median, 'f', 1, 64) + "%"
}

// call is the median of a figure of the calls' latency.
func (r *row) call(of func(*latency) spread) string {
	if r.Latency == nil {
		return "-"
	}
	return span(of(r.Latency).Median)
}

func (c *comparison) write(b *bytes.Buffer) {
	fmt.Fprintf(b, "\nchange since %s\n", c.since())
	for _, d := range c.Differences {
		fmt.Fprintf(b, "not the same: %s, %s and now %s\n", d.Name, printable(d.Old), printable(d.New))
	}
	if len(c.Changes) == 0 {
		fmt.Fprintln(b, "nothing was measured both times")
		return
	}
	for _, kind := range []string{speedFigure, tailFigure} {
		const format = "%10s  %-*s  %14s  %14s  %9s  %21s  %s\n"
		header := false
		for _, ch := range c.Changes {
			if ch.Figure != kind {
				continue
			}
			if !header {
				fmt.Fprintf(b, "\n"+format, "goroutines", nameWidth, "", kind, "was", "change", "spread", "it is")
				header = true
			}
			fmt.Fprintf(b, format, strconv.Itoa(ch.Goroutines), nameWidth, ch.Name, ch.show(ch.New.Median), ch.show(ch.Old.Median),
				signed(ch.Percent), ch.span(), ch.Verdict)
		}
	}
	fmt.Fprint(b, `
change: between the rounds in the middle
spread: from the worst that rounds of both allow to the best; a change is within it
when the rounds of both overlap. Few rounds show too little of it: see --count.
Where the atomic add has changed as well, it is the machine that has
`)
}

// show writes a value of the figure that has changed.
func (c *change) show(x float64) string {
	if c.Figure == tailFigure {
		return span(x)
	}
	return humanize.Comma(int64(x + 0.5))
}

// span is the least and the most of the change.
func (c *change) span() string {
	if c.Verdict == unknown {
		return "-"
	}
	return signed(c.Least) + " to " + signed(c.Most)
}

func signed(percent float64) string {
	if percent >= 1000 {
		return "x" + strconv.FormatFloat(percent/100+1, 'f', 1, 64)
	}
	return fmt.Sprintf("%+.1f%%", math.Round(10*percent)/10+0) // of -0, 0
}

// span writes a time given in nanoseconds, to three figures.
func span(ns float64) string {
	units := []string{"ns", "µs", "ms", "s"}
	for ns >= 999.5 && len(units) > 1 {
		ns, units = ns/1000, units[1:]
	}
	if ns >= 99.95 {
		return strconv.FormatFloat(ns, 'f', 0, 64) + " " + units[0]
	}
	return strconv.FormatFloat(ns, 'g', 3, 64) + " " + units[0]
}

// figure writes a number with the decimals that still mean something.
func figure(x float64) string {
	if x >= 1000 {
		return humanize.Comma(int64(x + 0.5))
	}
	return strconv.FormatFloat(x, 'f', 2, 64)
}
