package readme

import (
	"strings"
	"testing"
)

// TestFigures: every row in README.md's table of speed names a row of BENCHMARKS.md in
// backquotes, and has its medians.
func TestFigures(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "README.md"), "\n## How fast\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows [][]string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "|") {
			rows = append(rows, cells(line))
		}
	}
	if len(rows) < 3 {
		t.Fatalf("below \"How fast\", README.md has the rows %q, want a table of figures", rows)
	}
	medians := map[string][]string{}
	for line := range strings.Lines(read(t, "BENCHMARKS.md")) {
		if row := cells(line); len(row) > 2 {
			name, _, _ := strings.Cut(row[0], " beside ")
			medians[name] = append(medians[name], row[1]+" "+row[2])
		}
	}
	for _, row := range rows[2:] {
		_, name, _ := strings.Cut(row[0], "`")
		name, _, _ = strings.Cut(name, "`")
		figures := row[1] + " " + row[2]
		found := false
		for _, pair := range medians[name] {
			found = found || pair == figures
		}
		if !found {
			t.Errorf("README.md has %s with %s, and BENCHMARKS.md %q", name, figures, medians[name])
		}
	}
}

// cells returns the cells of a table's row, medians without their spread.
func cells(line string) (list []string) {
	for cell := range strings.SplitSeq(strings.Trim(line, "| \n"), "|") {
		cell, _, _ = strings.Cut(strings.TrimSpace(cell), " ±")
		list = append(list, cell)
	}
	return list
}
