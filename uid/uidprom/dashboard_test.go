package uidprom

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/figures"
)

// dashboard is what these tests look at of Grafana's model.
type dashboard struct {
	Title         string
	UID           string
	SchemaVersion int
	ID            *int
	Templating    struct {
		List []struct {
			Name, Type, Definition string
			Datasource             *datasource
			Query                  any
		}
	}
	Panels []panel
}

type datasource struct{ Type, UID string }

type panel struct {
	ID                       int
	Type, Title, Description string
	Datasource               datasource
	GridPos                  struct{ X, Y, W, H int }
	FieldConfig              struct{ Defaults struct{ Unit string } }
	Targets                  []struct {
		RefID, Expr string
		Datasource  datasource
	}
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	if err := json.Unmarshal(read(t, "dashboard.json"), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// The dashboard shows every metric that there is, and asks for no other.
func TestDashboardShowsEveryMetric(t *testing.T) {
	shown := map[string]bool{}
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			names := wellFormed(t, target.Expr)
			for _, name := range names {
				shown[name] = true
			}
			if got := strings.Count(target.Expr, chosen); got != len(names) {
				t.Errorf("%s\nhas %s %d times, want it after each metric", target.Expr, chosen, got)
			}
		}
	}
	for _, f := range figures.All {
		if f.Kind != figures.Text && !shown["uidring_"+f.Name] {
			t.Errorf("no panel shows %s", f.Name)
		}
	}
}

// chosen is what the dashboard's variables choose.
const chosen = `{job=~"$job", instance=~"$instance", generator=~"$generator"}`

// It can be imported as it is, with whatever data source there is.
func TestDashboardIsPortable(t *testing.T) {
	d := readDashboard(t)
	if d.Title == "" || d.UID == "" || d.ID != nil || d.SchemaVersion == 0 {
		t.Errorf("title %q, uid %q, id %v, schema %d, want all but the id", d.Title, d.UID, d.ID, d.SchemaVersion)
	}
	chosen := datasource{"prometheus", "${datasource}"}
	var names []string
	for i, v := range d.Templating.List {
		names = append(names, v.Name)
		switch {
		case i == 0 && (v.Type != "datasource" || v.Query != "prometheus"):
			t.Errorf("%s is a %s of %v, want a data source, of prometheus", v.Name, v.Type, v.Query)
		case i > 0:
			wellFormed(t, v.Definition)
			if v.Datasource == nil || *v.Datasource != chosen {
				t.Errorf("%s asks %v, want %v", v.Name, v.Datasource, chosen)
			}
		}
	}
	if want := []string{"datasource", "job", "instance", "generator"}; !slices.Equal(names, want) {
		t.Errorf("variables are %q, want %q", names, want)
	}
	for _, p := range d.Panels {
		if p.Datasource != chosen {
			t.Errorf("%s asks %v, want %v", p.Title, p.Datasource, chosen)
		}
		for _, target := range p.Targets {
			if target.Datasource != chosen || target.RefID == "" {
				t.Errorf("%s: %s asks %v, want %v, and a reference", p.Title, target.Expr, target.Datasource, chosen)
			}
		}
	}
}

// Panels have what a reader needs, and none lies over another.
func TestDashboardPanels(t *testing.T) {
	panels := readDashboard(t).Panels
	for i, p := range panels {
		if p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" || p.Type == "" || len(p.Targets) == 0 {
			t.Errorf("panel %d: want a title, a description, a unit, a type and a target", p.ID)
		}
		a := p.GridPos
		if a.W <= 0 || a.H <= 0 || a.X < 0 || a.X+a.W > 24 {
			t.Errorf("%s is at %v, want it within 24 columns", p.Title, a)
		}
		for _, q := range panels[:i] {
			b := q.GridPos
			if p.ID == q.ID {
				t.Errorf("%s and %s have the same id", p.Title, q.Title)
			}
			if a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H {
				t.Errorf("%s lies over %s", p.Title, q.Title)
			}
		}
	}
}
