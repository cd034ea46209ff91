package bench

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"text/template"
	"time"

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
	Steps  []Setting // of the tables by goroutines
	names  []string  // of these tables
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

// newPage puts what was measured on the most goroutines into the tables by goroutines.
func (p *Program) newPage(r *Result) *page {
	d := &page{Result: r, Title: p.Title, Steps: r.steps()}
	if p.Bars != nil {
		d.Bars = p.Bars(r)
	}
	if p.Data != nil {
		d.Own = p.Data(r, missed(d.Bars))
	}
	if n := len(d.Steps); n > 0 {
		d.names = r.Names(d.Steps[n-1], Cost)
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

// Column is a quantity of each row of a table.
type Column struct {
	Head string
	Setting
	Unit string
}

// Units are columns of subjects without goroutines.
func Units(units ...string) (columns []Column) {
	for _, unit := range units {
		columns = append(columns, Column{unit, Setting{}, unit})
	}
	return columns
}

// By are columns of one unit.
func By(settings []Setting, unit string) (columns []Column) {
	for _, at := range settings {
		columns = append(columns, Column{unit + ", " + at.String(), at, unit})
	}
	return columns
}

// Heads returns the heads of columns, behind the one of the names.
func Heads(first string, columns []Column) []string {
	heads := []string{first}
	for _, c := range columns {
		heads = append(heads, ">"+c.Head)
	}
	return heads
}

// Row returns the figures of a subject, behind a label. What compare judges has its ratio
// to the base, if there is a base.
func (r *Result) Row(label, name, base string, columns []Column) []string {
	row := []string{label}
	for _, c := range columns {
		samples := r.Of(name, c.Setting, c.Unit)
		cell := samples.Bold()
		if _, judged := judged(c.Unit); judged && base != "" {
			cell += " × " + Digits(samples.Over(r.Of(base, c.Setting, c.Unit)))
		}
		row = append(row, cell)
	}
	return row
}

// Grid is a table with a row for each name.
func (r *Result) Grid(first string, names []string, base string, columns []Column) string {
	var rows [][]string
	for _, name := range names {
		rows = append(rows, r.Row(name, name, base, columns))
	}
	return Table(Heads(first, columns), rows...)
}

// ByGoroutines is a table of what was measured on the most goroutines.
func (d *page) ByGoroutines(unit string) string {
	var columns []Column
	for _, at := range d.Steps {
		columns = append(columns, Column{fmt.Sprint(at.Goroutines), at, unit})
	}
	names := slices.DeleteFunc(slices.Clone(d.names), func(name string) bool { return d.Of(name, d.Steps[len(d.Steps)-1], unit) == nil })
	return d.Grid("goroutines", names, Add, columns)
}

// Latency is a table of paced calls, or nothing.
func (d *page) Latency() string {
	names := d.Names(Setting{}, Latencies[0])
	if names == nil {
		return ""
	}
	return d.Grid("call", names, "", Units(Latencies[:]...))
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
