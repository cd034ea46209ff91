package uidprom

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"

	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/statstest"
)

// metricsIn returns the metrics that a text names, and fails the test for one that there is
// not.
func metricsIn(t *testing.T, text string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, name := range regexp.MustCompile(`uidring_\w+`).FindAllString(text, -1) {
		names[name] = true
		if f := figures.Named(strings.TrimPrefix(name, "uidring_")); f == nil || f.Kind == figures.Text {
			t.Errorf("%s is no metric", name)
		}
	}
	return names
}

// Others rely on the names of the alerts. promtool checks the rest.
func TestAlerts(t *testing.T) {
	text := string(read(t, "alerts.yml"))
	metricsIn(t, text)
	for _, name := range []string{"WorkerNumbersNearlyUsedUp", "LayoutNearlyOver", "BorrowingNearBound", "LeaseNotRenewed", "TakesRejected", "NotRefilled"} {
		if !strings.Contains(text, "- alert: Uidring"+name+"\n") {
			t.Errorf("there is no alert Uidring%s", name)
		}
	}
}

// The dashboard shows every metric that there is, of the chosen generators, and leaves the
// data source open.
func TestDashboard(t *testing.T) {
	text := string(read(t, "dashboard.json"))
	shown := metricsIn(t, text)
	for _, f := range figures.All {
		if f.Kind != figures.Text && !shown["uidring_"+f.Name] {
			t.Errorf("no panel shows %s", f.Name)
		}
	}
	for _, expr := range statstest.Queries(t, "dashboard.json") {
		if strings.Count(expr, statstest.Variables.Replace(`{job=~"$job", instance=~"$instance", generator=~"$generator"}`)) != strings.Count(expr, "uidring_") {
			t.Errorf("%s\nwant the variables after each metric", expr)
		}
	}
	if sources := strings.Count(text, `"datasource": {`); sources != strings.Count(text, `"uid": "${datasource}"`) {
		t.Error("a panel has a data source of its own")
	}
}

func TestAlertsByPromtool(t *testing.T) {
	statstest.Promtool(t, nil, "check", "rules", "alerts.yml")
	statstest.Promtool(t, nil, "test", "rules", "testdata/alerts_test.yml")
}

// What the dashboard asks is PromQL: as rules that record it, promtool reads it.
func TestDashboardByPromtool(t *testing.T) {
	var rules []map[string]string
	for name, expr := range statstest.Queries(t, "dashboard.json") {
		rules = append(rules, map[string]string{"record": name, "expr": expr})
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	need.Must(t, err)
	file := filepath.Join(t.TempDir(), "rules.yml")
	need.Must(t, os.WriteFile(file, text, 0o600))
	statstest.Promtool(t, nil, "check", "rules", file)
}

func TestExpositionByPromtool(t *testing.T) {
	if out := statstest.Promtool(t, bytes.NewReader(read(t, "metrics.txt")), "check", "metrics"); len(out) > 0 {
		t.Errorf("promtool has to say: %s", out)
	}
}
