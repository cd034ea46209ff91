package uidotel

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/uid"
)

// The package comment lists every instrument with its kind, its unit and uidprom's name, and
// no other.
func TestPackageCommentListsThem(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	var want, listed []string
	for _, f := range figures.All {
		want = append(want, fmt.Sprintf("%s %c %s %s", f.OTel, f.Kind, f.Unit, f.Name))
	}
	for _, m := range regexp.MustCompile(`(?m)^//\t(uidring\.\S+) +([cug]) (\S+) +(\S+)$`).FindAllStringSubmatch(string(doc), -1) {
		listed = append(listed, strings.Join(m[1:], " "))
	}
	if !slices.Equal(listed, want) {
		t.Errorf("the package comment lists\n%s\nwant\n%s", strings.Join(listed, "\n"), strings.Join(want, "\n"))
	}
}

// Every figure that a generator has is observed, and no other. Kinds and units are those of
// the table. The layout is an attribute of one instrument. Names follow OpenTelemetry's conventions: lower case, and no name is also the
// namespace of another.
func TestValues(t *testing.T) {
	p, reader := provider(t)
	register(t, p, "calm", calm())
	register(t, p, "troubled", troubled())
	register(t, p, "tags", counters())
	register(t, p, "client", client())
	points := collect(t, reader)
	seen := map[string]bool{}
	for key, s := range map[string]uid.Stats{
		"calm": calm().stats, "troubled": troubled().stats, "client": client().stats,
		"tags invoices": counters().stats[0], "tags payments": counters().stats[1],
	} {
		for _, f := range figures.All {
			got, there := points[f.OTel+" "+key]
			if want, ok := f.Read(&s); there != ok || ok && (got.value != want || got.kind != f.Kind || got.unit != f.Unit) {
				t.Errorf("%s of %s is %v (%v), %c %s; want %v (%v), %c %s", f.OTel, key, got.value, there, got.kind, got.unit, want, ok, f.Kind, f.Unit)
			}
			layout, has := got.attributes.Value("uidring.layout")
			if info := there && f.Name == figures.LayoutInfo; has != info || info && layout.AsString() != s.Clock.Layout.String() {
				t.Errorf("%s of %s has the layout %q", f.OTel, key, layout.AsString())
			}
			seen[f.OTel] = seen[f.OTel] || there
			delete(points, f.OTel+" "+key)
		}
	}
	if len(points) > 0 {
		t.Errorf("observed too: %v", points)
	}
	for _, f := range figures.All {
		if !seen[f.OTel] {
			t.Errorf("no generator of the test has %s", f.OTel)
		}
		if !regexp.MustCompile(`^uidring(\.[a-z]+(_[a-z]+)*){2}$`).MatchString(f.OTel) || strings.HasSuffix(f.OTel, "_total") {
			t.Errorf("%s: want lower case, two dots, no _total", f.OTel)
		}
		if !regexp.MustCompile(`^(s|\{[a-z]+\})$`).MatchString(f.Unit) {
			t.Errorf("the unit of %s is %q, want s or an annotation", f.OTel, f.Unit)
		}
	}
}
