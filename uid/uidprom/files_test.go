package uidprom

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"

	"github.com/uidring/uidring/internal/figures"
	"github.com/uidring/uidring/internal/test/need"
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
	for _, expr := range queries(t) {
		if strings.Count(expr, `{job=~"$job", instance=~"$instance", generator=~"$generator"}`) != strings.Count(expr, "uidring_") {
			t.Errorf("%s\nwant the variables after each metric", expr)
		}
	}
	if sources := strings.Count(text, `"datasource": {`); sources != strings.Count(text, `"uid": "${datasource}"`) {
		t.Error("a panel has a data source of its own")
	}
}

// queries returns what the dashboard's panels ask, by names of their own.
func queries(t *testing.T) map[string]string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			ID      int
			Targets []struct{ RefID, Expr string }
		}
	}
	need.Must(t, json.Unmarshal(read(t, "dashboard.json"), &dashboard))
	all := map[string]string{}
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			all[fmt.Sprintf("panel_%d_%s", p.ID, target.RefID)] = target.Expr
		}
	}
	return all
}

// promtool runs Prometheus's own checker, which UIDRING_TEST_PROMTOOL names, and returns
// what that wrote. Without one the test is skipped.
func promtool(t *testing.T, input io.Reader, args ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), need.Variable(t, "UIDRING_TEST_PROMTOOL"), args...)
	command.Stdin = input
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

func TestAlertsByPromtool(t *testing.T) {
	promtool(t, nil, "check", "rules", "alerts.yml")
	promtool(t, nil, "test", "rules", "testdata/alerts_test.yml")
}

// What the dashboard asks is PromQL: as rules that record it, promtool reads it.
func TestDashboardByPromtool(t *testing.T) {
	variables := strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*", "$generator", ".*")
	var rules []map[string]string
	for name, expr := range queries(t) {
		rules = append(rules, map[string]string{"record": name, "expr": variables.Replace(expr)})
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	need.Must(t, err)
	file := filepath.Join(t.TempDir(), "rules.yml")
	need.Must(t, os.WriteFile(file, text, 0o600))
	promtool(t, nil, "check", "rules", file)
}

func TestExpositionByPromtool(t *testing.T) {
	if out := promtool(t, bytes.NewReader(read(t, "metrics.txt")), "check", "metrics"); len(out) > 0 {
		t.Errorf("promtool has to say: %s", out)
	}
}
