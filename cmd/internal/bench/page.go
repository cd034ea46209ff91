package bench

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"
	"time"

	"golang.org/x/perf/benchunit"

	"github.com/uidring/uidring/cmd/internal/cli"
)

//go:embed report.md
var reportText string

// page is what the template shows.
type page struct {
	*Result
	Title  string
	Bars   []Bar
	Own    any
	Steps  []Setting // of the grids
	names  []string  // of the grids
	charts bool      // the text has a line for each chart
}

// Bar is a promise about speed, with the figure that was measured.
type Bar struct {
	What, Want, Measured string
	Pass                 bool
}

// missed returns the bars that do not hold.
func missed(bars []Bar) []Bar {
	return slices.DeleteFunc(slices.Clone(bars), func(b Bar) bool { return b.Pass })
}

// newPage puts what was measured on most goroutines into the grids.
func (p *Program) newPage(r *Result) *page {
	d := &page{Result: r, Title: p.Title, Steps: r.steps()}
	if p.Bars != nil {
		d.Bars = p.Bars(r)
	}
	if p.Data != nil {
		d.Own = p.Data(r, missed(d.Bars))
	}
	if n := len(d.Steps); n > 0 {
		d.names = r.Names(Quantity{Setting: d.Steps[n-1], Unit: Cost})
	}
	return d
}

// markdown returns the page.
func (p *Program) markdown(d *page) (string, error) {
	t, err := template.New("report").Funcs(template.FuncMap{"bars": barTable, "missed": missed, "printable": cli.Printable}).Parse(reportText)
	if err == nil {
		_, err = t.New("own").Parse(strings.TrimSpace(p.Own))
	}
	var b strings.Builder
	if err == nil {
		err = t.Execute(&b, d)
	}
	return b.String(), err
}

// plain returns a page for a terminal: tables are aligned, and marks left out.
func plain(markdown string) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for line := range strings.Lines(marks.Replace(markdown)) {
		switch {
		case strings.HasPrefix(line, "| ---"):
		case strings.HasPrefix(line, "| "):
			fmt.Fprintln(w, strings.Join(cells(line), "\t"))
		default:
			fmt.Fprint(w, strings.TrimLeft(line, "# "))
		}
	}
	w.Flush()
	return b.String()
}

var marks = strings.NewReplacer("**", "", "`", "")

// Table writes a table in Markdown. A column whose head starts with ">" is set to the
// right.
func Table(head []string, rows ...[]string) string {
	var b strings.Builder
	write := func(row []string) {
		for _, cell := range row {
			b.WriteString("| " + strings.ReplaceAll(cli.Printable(cell), "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	names, rules := slices.Clone(head), make([]string, len(head))
	for i := range head {
		rules[i] = "---"
		if name, right := strings.CutPrefix(head[i], ">"); right {
			names[i], rules[i] = name, "---:"
		}
	}
	for _, row := range append([][]string{names, rules}, rows...) {
		write(row)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// cells returns what Table has put into a row.
func cells(row string) (list []string) {
	row = strings.TrimSpace(strings.ReplaceAll(row, `\|`, "\x00"))
	for cell := range strings.SplitSeq(row[1:len(row)-1], "|") {
		list = append(list, strings.ReplaceAll(strings.TrimSpace(cell), "\x00", "|"))
	}
	return list
}

// List writes a list in Markdown.
func List(items []string) string { return "- " + strings.Join(items, "\n- ") }

func barTable(bars []Bar) string {
	var rows [][]string
	for _, b := range bars {
		verdict := "pass"
		if !b.Pass {
			verdict = "**MISSED**"
		}
		rows = append(rows, []string{b.What, b.Want, b.Measured, verdict})
	}
	return Table([]string{"what", "bar", "measured", ""}, rows...)
}

// Setting is the table of what the figures hold for.
func (d *page) Setting() string {
	return Table([]string{"", ""},
		[]string{"CPU", d.CPU},
		[]string{"cores", fmt.Sprint(d.Cores)},
		[]string{"platform", d.Platform + ", " + d.Go},
		[]string{"uidring", d.Version},
		[]string{"layout", d.Layout},
		[]string{"rounds", fmt.Sprintf("%d, %g s a sample", d.Rounds, d.Seconds)},
		[]string{"run", fmt.Sprintf("%s, took %v", d.Time.UTC().Format("2006-01-02 15:04 MST"), time.Duration(d.Took*1e9).Round(time.Second))},
		[]string{"command", "`" + d.Command + "`"},
		[]string{"disturbed", fmt.Sprintf("%d of %d samples", d.Disturbed, d.Samples)})
}

// Grid is a table of what was measured on the most goroutines, by goroutines.
func (d *page) Grid(id string) string {
	head := []string{"goroutines"}
	for _, at := range d.Steps {
		head = append(head, fmt.Sprintf(">%d", at.Goroutines))
	}
	var rows [][]string
	for _, name := range d.names {
		if id == "borrowed" && d.Of(name, d.Steps[len(d.Steps)-1], Borrowed) == nil {
			continue
		}
		row := []string{name}
		for _, at := range d.Steps {
			text := ""
			switch id {
			case "cost":
				text = d.Cost(name, at).Bold() + " × " + Digits(d.Cost(name, at).Median()/d.Cost(Add, at).Median())
			case "throughput":
				text = scaled(d.PerSecond(name, at))
			case "borrowed":
				text = d.Of(name, at, Borrowed).Bold()
			case "allocs":
				text = Digits(d.Of(name, at, AllocsPerID).Median())
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	return Table(head, rows...)
}

// Latency is a table of paced calls, or nothing.
func (d *page) Latency() string {
	var rows [][]string
	head := []string{"call"}
	for _, unit := range Latencies {
		head = append(head, ">"+unit)
	}
	for _, name := range d.Paced() {
		row := []string{name}
		for _, unit := range Latencies {
			row = append(row, d.Of(name, Setting{}, unit).Bold())
		}
		rows = append(rows, row)
	}
	if rows == nil {
		return ""
	}
	return Table(head, rows...)
}

// Changed is the table of changes.
func (d *page) Changed() string {
	var rows [][]string
	for _, c := range d.Changes {
		at := c.Unit
		if c.Goroutines > 0 {
			at += ", " + c.Setting.String()
		}
		rows = append(rows, []string{c.Name, at, c.Delta, "**" + c.Verdict + "**", fmt.Sprintf("%.3f", c.P), Digits(c.New), Digits(c.Old)})
	}
	return Table([]string{"", "", ">change", "verdict", ">p", ">now", ">was"}, rows...)
}

// scaled writes a number to four figures, such as 387.2M.
func scaled(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return benchunit.Scale(v, benchunit.Decimal)
}
