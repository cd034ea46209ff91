//go:build linux

package main

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/uidring/uidring/cmd/internal/clitest"
	"github.com/uidring/uidring/cmd/uidringd/internal/serve"
	"github.com/uidring/uidring/internal/test/need"
	"github.com/uidring/uidring/internal/test/statstest"
)

// The metrics of a server under TLS, some of whose requests failed, answer every query of the
// dashboard, and have all names in the alerts. The dashboard shows each metric.
func TestDashboard(t *testing.T) {
	certs, err := filepath.Abs("internal/config/testdata")
	need.Must(t, err)
	const operator = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08" // of the token test
	r := startConfig(t, `
generators: [{name: ids, kind: default, worker: "static:1", layout: "31/23/9,unit=1h", ids_per_s: -1}]
tokens: [{name: test, sha256: `+operator+`, generators: ["*"], operations: true}]
tls: {cert: `+certs+`/cert.pem, key: `+certs+`/key.pem}
limits: {wait: 1ms}
log: {requests_per_s: 0}
`)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	for _, status := range []int{200, 401, 503} { // an hour has 512 ids
		target, header := "/v1/ids", "Authorization: Bearer test"
		switch status {
		case 401:
			header = "X-Test: x"
		case 503:
			target += "?n=1000"
		}
		if got, text := get(t, client, r.url+target, header); got != status {
			t.Fatalf("%d %s, want %d", got, text, status)
		}
	}
	_, scraped := get(t, client, r.url+"/metrics", "Authorization: Bearer test")
	alerts, err := os.ReadFile("deploy/alerts.yml")
	need.Must(t, err)
	queries := statstest.Queries(t, "deploy/dashboard.json")
	asked := fmt.Sprint(queries)
	for _, name := range regexp.MustCompile(`uidringd_[a-z_]+`).FindAllString(string(alerts)+asked, -1) {
		if !strings.Contains(scraped, "\n"+name+"{") && !strings.Contains(scraped, "\n"+name+" ") {
			t.Errorf("the server has no metric %s", name)
		}
	}
	for _, m := range serve.Metrics {
		clitest.Wants(t, scraped, fmt.Sprintf("# HELP %s %s\n# TYPE %s %s\n", m.Name, m.Help, m.Name, m.Type))
		for _, label := range m.Labels {
			if !regexp.MustCompile(`(?m)^` + m.Name + `(_sum)?\{.*` + label + `="`).MatchString(scraped) {
				t.Errorf("%s has no label %s", m.Name, label)
			}
		}
	}
	inputs, checks := "", ""
	for _, line := range regexp.MustCompile(`(?m)^(uidringd_\w+)(?:\{(.*)\})? (\S+)$`).FindAllStringSubmatch(scraped, -1) {
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(line[1], "")
		if !strings.Contains(asked, base) {
			t.Errorf("no panel shows %s", line[1])
		}
		inputs += fmt.Sprintf("  - {series: %q, values: %s+1x10}\n", line[1]+"{"+strings.TrimPrefix(line[2]+`,job="ids",instance="a"`, ",")+"}", line[3])
	}
	for _, query := range queries {
		checks += fmt.Sprintf("  - {expr: %q, eval_time: 10m, exp_samples: [{labels: '{}', value: 1}]}\n", "count("+query+") > bool 0")
	}
	text := "tests:\n- interval: 1m\n  input_series:\n" + inputs + "  promql_expr_test:\n" + checks
	statstest.Promtool(t, nil, "test", "rules", write(t, t.TempDir(), "queries.yml", text))
}

// Each alert fires as the made-up series say.
func TestAlerts(t *testing.T) {
	statstest.Promtool(t, nil, "check", "rules", "deploy/alerts.yml")
	statstest.Promtool(t, nil, "test", "rules", "deploy/testdata/alerts_test.yml")
}
