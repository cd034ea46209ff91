package uidprom

import (
	"regexp"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/figures"
)

// wellFormed fails the test unless expr asks for metrics that there are, and
// counters by what they grew. It returns their names. That expr is PromQL is for
// promtool to say: its parser would bring half of Prometheus into go.mod.
func wellFormed(t *testing.T, expr string) []string {
	t.Helper()
	var names []string
	for _, at := range regexp.MustCompile(`uidring_\w+`).FindAllStringIndex(expr, -1) {
		name := expr[at[0]:at[1]]
		names = append(names, name)
		f := figures.Named(strings.TrimPrefix(name, "uidring_"))
		if f == nil || f.Kind == figures.Text {
			t.Errorf("%s\nasks for %s, which there is not", expr, name)
			continue
		}
		before := expr[:at[0]]
		grown := strings.HasSuffix(before, "rate(") || strings.HasSuffix(before, "increase(")
		if grown != (f.Kind == figures.Counter) {
			t.Errorf("%s\nhas %s, want rate and increase of all counters, and of nothing else", expr, name)
		}
	}
	if len(names) == 0 {
		t.Errorf("%s\nasks for no metric", expr)
	}
	return names
}
