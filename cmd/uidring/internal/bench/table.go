package bench

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"
	"text/tabwriter"

	"golang.org/x/perf/benchunit"

	"github.com/uidring/uidring/cmd/internal/measure"
)

// section is a table that the terminal and the report show.
type section struct {
	ID, Title, Lead string
	Head            []string
	Rows            [][]cell // a row begins with its name
	Picture         template.HTML

	of    func(name string, goroutines int) measure.Series // a figure by goroutines, if it is one
	plain bool                                             // without a picture
}

type cell struct{ Text, Note, Class string }

// sections returns what was measured. Of an interrupted bench, some cells are empty.
func (r *result) sections() []section {
	of := func(unit string) func(string, int) measure.Series {
		return func(name string, n int) measure.Series { return r.samples(name, n, unit) }
	}
	figures := []section{
		{ID: "cost", Title: "Nanoseconds an id", of: of(cost),
			Lead: "Wall time divided by the ids of all goroutines: the median, with the fastest and the\n" +
				"slowest round. × is the cost divided by that of the atomic add with as many goroutines."},
		{ID: "throughput", Title: "Ids a second", Lead: "Of all goroutines together.",
			of: func(name string, n int) measure.Series {
				return measure.Each(r.samples(name, n, cost), func(ns float64) float64 { return 1e9 / ns })
			}},
		{ID: "borrowed", Title: "Borrowed seconds", of: of(borrowed),
			Lead: "How far ahead of the clock the last ids are stamped, after a sample that only takes ids.\n" +
				"The layout allows " + r.Limits + ". Beyond that rate Cached borrows from the future.\n" +
				"Default and Slots would wait; here they have a layout with more ids than they take."},
		{ID: "allocs", Title: "Allocations an id", Lead: "Allocations of the harness are included.", of: of(allocs), plain: true},
	}
	for i := range figures {
		s := &figures[i]
		s.Head = []string{"Goroutines"}
		for _, n := range r.steps() {
			s.Head = append(s.Head, fmt.Sprint(n))
		}
		for _, name := range r.names() {
			row := []cell{{Text: name}}
			for _, n := range r.steps() {
				c := cell{Text: s.of(name, n).String()}
				switch s.ID {
				case "throughput":
					c.Text = scaled(r.perSecond(name, n), "")
				case "allocs":
					c.Text = measure.Figure(s.of(name, n).Median())
				case "cost":
					c.Note = "× " + measure.Figure(r.samples(name, n, cost).Median()/r.samples(measure.Add, n, cost).Median())
				}
				row = append(row, c)
			}
			if s.ID != "borrowed" || r.samples(name, 1, borrowed) != nil {
				s.Rows = append(s.Rows, row)
			}
		}
	}
	figures = append(figures, r.latencySection())
	if !r.Since.IsZero() {
		figures = append(figures, r.changeSection())
	}
	return figures
}

// perSecond returns the ids a second of the median cost. The median of each round's ids
// a second differs from it, if the number of rounds is even.
func (r *result) perSecond(name string, goroutines int) float64 {
	return 1e9 / r.samples(name, goroutines, cost).Median()
}

func (r *result) latencySection() section {
	s := section{ID: "latency", Title: "Latency at a million calls a second", Head: []string{"", "p50", "p99", "p99.99", "max"},
		Lead: "Of calls of one goroutine, each from its intended start to its end, with a reading of the\nclock. NextN(256) makes 256 ids a call."}
	for _, name := range r.names() {
		if r.samples(name, 1, latencies[0]) == nil {
			continue
		}
		row := []cell{{Text: name}}
		for _, unit := range latencies {
			row = append(row, cell{Text: scaled(r.samples(name, 1, unit).Median()/1e9, "s")})
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

func (r *result) changeSection() section {
	s := section{ID: "changes", Title: "Change since the bench of " + r.Since.UTC().Format("2006-01-02 15:04 MST"), Head: []string{"", "Change", "Now", "Was"},
		Lead: "p is the probability that chance alone makes such a difference. A change has p below 0.05,\n" +
			"and is 2 % or more. If the atomic add has changed too, the machine has changed."}
	for _, text := range r.Differences {
		s.Lead += "\nDifferent: " + text + "."
	}
	for _, c := range r.Changes {
		s.Rows = append(s.Rows, []cell{
			{Text: c.Name, Note: fmt.Sprintf("%s, goroutines: %d", c.Unit, c.Goroutines)},
			{Text: c.Delta, Note: fmt.Sprintf("%s, p = %.3f", c.Verdict, c.P), Class: string(c.Verdict)},
			{Text: measure.Figure(c.New)}, {Text: measure.Figure(c.Old)},
		})
	}
	return s
}

// write prints the sections for people.
func (r *result) write(w io.Writer) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s; %s, %s, cores: %d\nlayout %s; rounds: %d, %g s a sample; disturbed: %s\n",
		r.CPU, r.Go, r.Platform, r.Cores, r.Layout, r.Rounds, r.Seconds, r.Disturbed)
	for _, s := range r.sections() {
		fmt.Fprintf(&b, "\n%s\n%s\n", s.Title, s.Lead)
		columns := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		fmt.Fprintln(columns, strings.Join(s.Head, "\t"))
		for _, row := range s.Rows {
			for _, c := range row {
				fmt.Fprintf(columns, "%s\t", strings.TrimSpace(c.Text+"  "+c.Note))
			}
			fmt.Fprintln(columns)
		}
		columns.Flush()
	}
	_, err := w.Write(b.Bytes())
	return err
}

// scaled writes a number to four figures, such as 387.2M or 1.200µs.
func scaled(v float64, unit string) string {
	if math.IsNaN(v) {
		return "–"
	}
	return benchunit.Scale(v, benchunit.Decimal) + unit
}
