package uidprom

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v2"

	"github.com/uidring/uidring/internal/test/need"
)

// promtool runs Prometheus's own checker, of which UIDRING_TEST_PROMTOOL says where
// it is, and returns what that wrote. Without one the test is skipped.
func promtool(t *testing.T, input io.Reader, args ...string) []byte {
	t.Helper()
	path := need.Variable(t, "UIDRING_TEST_PROMTOOL")
	command := exec.CommandContext(t.Context(), path, args...)
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
	var rules []rule
	for _, p := range readDashboard(t).Panels {
		for _, target := range p.Targets {
			// Each under a name of its own: rules that are equal are refused.
			name := fmt.Sprintf("panel_%d_%s", p.ID, target.RefID)
			rules = append(rules, rule{Record: name, Expr: variables.Replace(target.Expr)})
		}
	}
	text, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": rules}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, nil, "check", "rules", file)
}

func TestExpositionByPromtool(t *testing.T) {
	if out := promtool(t, bytes.NewReader(read(t, "metrics.txt")), "check", "metrics"); len(out) > 0 {
		t.Errorf("promtool has to say: %s", out)
	}
}
