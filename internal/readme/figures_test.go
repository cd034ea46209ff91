package readme

import (
	"regexp"
	"strings"
	"testing"
)

// TestFigures: every figure in README.md's table of speed is the median in the
// row of the same generator in BENCHMARKS.md, which a command writes.
func TestFigures(t *testing.T) {
	_, section, ok := strings.Cut(read(t, "README.md"), "\n## How fast\n")
	section, _, _ = strings.Cut(section, "\n## ")
	rows := regexp.MustCompile(`(?m)^\| (.*[a-z].*) \| ([0-9.,]+) \| ([0-9.,]+) \|$`).FindAllStringSubmatch(section, -1)
	if !ok || len(rows) < 5 {
		t.Fatalf("README.md has %d rows of figures, want 5 or more", len(rows))
	}
	benchmarks := strings.Split(read(t, "internal/bench/BENCHMARKS.md"), "\n")
	for _, row := range rows {
		found := false
		for _, line := range benchmarks {
			cells := strings.Split(line, " | ")
			if len(cells) > 2 && strings.Contains(cells[0], row[1]) &&
				strings.HasPrefix(cells[1], "**"+row[2]+"**") && strings.HasPrefix(cells[2], "**"+row[3]+"**") {
				found = true
			}
		}
		if !found {
			t.Errorf("README.md has %q, %s and %s ns, which BENCHMARKS.md does not", row[1], row[2], row[3])
		}
	}
}
