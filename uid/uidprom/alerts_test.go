package uidprom

import (
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v2"
)

// ruleFile is a rule file of Prometheus. What is not listed here is not allowed.
type ruleFile struct {
	Groups []struct {
		Name  string `yaml:"name"`
		Rules []rule `yaml:"rules"`
	} `yaml:"groups"`
}

type rule struct {
	Alert       string            `yaml:"alert,omitempty"`
	Record      string            `yaml:"record,omitempty"`
	Expr        string            `yaml:"expr"`
	For         time.Duration     `yaml:"for,omitempty"`
	Labels      map[string]string `yaml:"labels,omitempty"`
	Annotations map[string]string `yaml:"annotations,omitempty"`
}

func readAlerts(t *testing.T) []rule {
	t.Helper()
	var file ruleFile
	if err := yaml.UnmarshalStrict(read(t, "alerts.yml"), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Groups) != 1 || file.Groups[0].Name != "uidring" {
		t.Fatalf("groups are %v, want the one of the name uidring", file.Groups)
	}
	return file.Groups[0].Rules
}

func TestAlerts(t *testing.T) {
	var names []string
	for _, r := range readAlerts(t) {
		names = append(names, r.Alert)
		wellFormed(t, r.Expr)
		if severity := r.Labels["severity"]; severity != "warning" && severity != "critical" {
			t.Errorf("%s: severity is %q, want warning or critical", r.Alert, severity)
		}
		if !strings.Contains(r.Annotations["summary"], "{{ $labels.generator }}") || r.Annotations["description"] == "" {
			t.Errorf("%s: annotations are %v, want a summary with the generator, and a description", r.Alert, r.Annotations)
		}
	}
	want := []string{"UidringWorkerNumbersNearlyUsedUp", "UidringLayoutNearlyOver", "UidringBorrowingNearBound",
		"UidringLeaseNotRenewed", "UidringTakesRejected", "UidringNotRefilled"}
	if !slices.Equal(names, want) {
		t.Errorf("alerts are %q, want %q: others rely on the names", names, want)
	}
}

// Each alert is tested firing and not firing.
func TestAlertsAreTested(t *testing.T) {
	var file struct {
		Tests []struct {
			Cases []struct {
				Alert string `yaml:"alertname"`
				Want  []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		} `yaml:"tests"`
	}
	if err := yaml.Unmarshal(read(t, "testdata/alerts_test.yml"), &file); err != nil {
		t.Fatal(err)
	}
	tested := map[string][2]bool{}
	for _, test := range file.Tests {
		for _, c := range test.Cases {
			was := tested[c.Alert]
			tested[c.Alert] = [2]bool{was[0] || len(c.Want) > 0, was[1] || len(c.Want) == 0}
		}
	}
	for _, r := range readAlerts(t) {
		if tested[r.Alert] != [2]bool{true, true} {
			t.Errorf("%s: firing and not firing are tested: %v, want both", r.Alert, tested[r.Alert])
		}
	}
}
