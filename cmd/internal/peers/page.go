package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/perf/benchmath"
)

// shown are the rows that the chart has.
var shown = []string{"add", "Cached.Next", "Cached.NextN(256)", "Default.Next", "xid.New", "google/uuid.NewV7", "snowflake"}

// place writes the tables of a part between their marks in docs/benchmarks.md, and the chart.
func (r *results) place(p part, cores int) error {
	tables, err := p.tables(r, cores)
	if err != nil {
		return err
	}
	path := filepath.Join(*root, "docs", "benchmarks.md")
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for name, table := range tables {
		if text, err = between(text, name, table); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return os.WriteFile(path, text, 0o644)
}

// between replaces the text between the marks of a name.
func between(text []byte, name, by string) ([]byte, error) {
	before, rest, begun := strings.Cut(string(text), "<!-- begin "+name+" -->\n")
	_, after, ended := strings.Cut(rest, "<!-- end "+name+" -->")
	if !begun || !ended {
		return nil, fmt.Errorf("there is no <!-- begin %s --> with an end", name)
	}
	return fmt.Appendf(nil, "%s<!-- begin %s -->\n\n%s\n<!-- end %[2]s -->%[4]s", before, name, by, after), nil
}

// machine says what was measured, where and how.
func (r *results) machine(part string) string {
	return fmt.Sprintf("%s, %d cores, %s %s/%s, %s; `make bench`, part `%s`, %d rounds: median ± 95%% confidence.\n\n",
		r.cpu, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH, time.Now().UTC().Format(time.DateOnly), part, *rounds)
}

func table(head ...string) *strings.Builder {
	t := new(strings.Builder)
	line(t, head...)
	t.WriteString("|" + strings.Repeat("---|", len(head)) + "\n")
	return t
}

func line(t *strings.Builder, cells ...string) {
	fmt.Fprintf(t, "| %s |\n", strings.Join(cells, " | "))
}

// idTables returns the tables of ids, and draws the chart.
func (r *results) idTables(cores int) (map[string]string, error) {
	var errs []error
	check := func(s benchmath.Summary, err error) string { errs = append(errs, err); return cell(s) }
	series := []string{"1 goroutine", fmt.Sprintf("%d goroutines", cores)}
	head := []string{"ns per id", series[0], series[1], "× add, " + series[0]}
	all, drawn := table(head...), &chart{Title: "Nanoseconds per id, on a logarithmic scale", Series: series}
	for _, row := range rows {
		cells, bars := []string{"`" + row.name + "`"}, rowOfBars{Name: row.name}
		for _, at := range []int{1, cores} {
			s, err := r.summary(row.on(at), "sec/op")
			cells, bars.Values = append(cells, check(s, err)), append(bars.Values, s.Center)
		}
		line(all, append(cells, check(r.ratio(row.on(1), rows[0].on(1), "sec/op")))...)
		if slices.Contains(shown, row.name) {
			drawn.Rows = append(drawn.Rows, bars)
		}
	}
	promises := table("promise", series[0], series[1])
	for _, b := range bars {
		cells := []string{fmt.Sprintf("`%s` ÷ `%s`", b.name, b.base)}
		for i, most := range []float64{b.one, b.all} {
			text, at := "", []int{1, cores}[i]
			if most > 0 {
				text = fmt.Sprintf("≤ %v: %s", most, check(r.ratio(named(b.name).on(at), named(b.base).on(at), "sec/op")))
			}
			cells = append(cells, text)
		}
		line(promises, cells...)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return map[string]string{
		"ids":      r.machine("ids") + all.String(),
		"promises": promises.String(),
	}, os.WriteFile(filepath.Join(*root, "docs", "speed.svg"), []byte(drawn.svg()), 0o644)
}

// serverRatio is the server's rate over its base's.
func (r *results) serverRatio(row serverRow, cores int) (benchmath.Summary, error) {
	return r.ratio(on(row, "uidringd", cores), on(row, row.base, cores), "req/s")
}

func on(row serverRow, impl string, cores int) string {
	return fmt.Sprintf("%s/impl=%s-%d", row.benchmark, impl, cores)
}

func (r *results) serverTables(cores int) (map[string]string, error) {
	var errs []error
	check := func(s benchmath.Summary, err error) string { errs = append(errs, err); return cell(s) }
	t := table("requests a second", "base", "`uidringd`", "×", "promise")
	for _, row := range serverRows {
		promise := ""
		if row.least > 0 {
			promise = fmt.Sprintf("≥ %v", row.least)
		}
		line(t, row.name, check(r.summary(on(row, row.base, cores), "req/s")), check(r.summary(on(row, "uidringd", cores), "req/s")),
			check(r.serverRatio(row, cores)), promise)
	}
	return map[string]string{"server": r.machine("server") + t.String()}, errors.Join(errs...)
}
