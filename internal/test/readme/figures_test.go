package readme

import (
	"strings"
	"testing"
)

// TestFigures: every row in README.md's table of speed is in BENCHMARKS.md, which a
// command writes: a row of the same name has the same medians, in the same order, and
// the same cap.
func TestFigures(t *testing.T) {
	_, section, _ := strings.Cut(read(t, "README.md"), "\n## How fast\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "|") {
			rows = append(rows, line)
		}
	}
	if len(rows) < 3 || !strings.HasPrefix(rows[1], "|--") && !strings.HasPrefix(rows[1], "| --") {
		t.Fatalf("below \"How fast\", README.md has the rows %q, want a table of figures", rows)
	}
	benchmarks := strings.Split(read(t, "cmd/internal/peers/BENCHMARKS.md"), "\n")
	for _, row := range rows[2:] {
		cells := strings.Split(strings.Trim(row, "| \n"), " | ")
		if len(cells) < 3 {
			t.Fatalf("README.md has the row %q, want a name, figures and a cap", row)
		}
		cap := " | " + cells[len(cells)-1]
		found := false
		for _, line := range benchmarks {
			found = found || hasMedians(line, cells[0], cells[1:len(cells)-1]) && strings.Contains(line, cap)
		}
		if !found {
			t.Errorf("README.md has %q, which BENCHMARKS.md does not", cells)
		}
	}
}

// hasMedians reports whether a row of BENCHMARKS.md has the name, and then these
// medians one after the other, which the page has in bold.
func hasMedians(row, name string, medians []string) bool {
	first, rest, _ := strings.Cut(row, " | ")
	if !strings.Contains(first, name) {
		return false
	}
	for _, median := range medians {
		cell, others, _ := strings.Cut(rest, " | ")
		if !strings.HasPrefix(cell, "**"+median+"**") {
			return false
		}
		rest = others
	}
	return true
}
