package statstest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/uidring/uidring/internal/test/need"
)

// Promtool runs Prometheus's own checker, which UIDRING_TEST_PROMTOOL names, and returns
// what that wrote. Without one the test is skipped.
func Promtool(t *testing.T, input io.Reader, args ...string) []byte {
	t.Helper()
	command := exec.CommandContext(t.Context(), need.Variable(t, "UIDRING_TEST_PROMTOOL"), args...)
	command.Stdin = input
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Queries returns what a dashboard's panels ask, by names of their own.
func Queries(t *testing.T, dashboard string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(dashboard)
	need.Must(t, err)
	var read struct {
		Panels []struct {
			ID      int
			Targets []struct{ RefID, Expr string }
		}
	}
	need.Must(t, json.Unmarshal(text, &read))
	all := map[string]string{}
	for _, p := range read.Panels {
		for _, target := range p.Targets {
			all[fmt.Sprintf("panel_%d_%s", p.ID, target.RefID)] = Variables.Replace(target.Expr)
		}
	}
	return all
}

// Variables puts values in the places of a dashboard's variables.
var Variables = strings.NewReplacer("$__rate_interval", "5m", "$job", ".*", "$instance", ".*", "$generator", ".*")
