package internal_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

var metricName = regexp.MustCompile(`\b(?:hale|data|database|http|db|webhook|webhooks|outgoing|deletions|clock|job|jobs|results|critical)_[a-z_]*[a-z]\b`)

// Every alert is triggered by a test of promtool, and the alerts and the dashboard use
// only documented metrics.
func TestAlertsAndDashboard(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile("../" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var rules struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	var tests struct {
		Tests []struct {
			Rules []struct{ Alertname string } `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal([]byte(read("deploy/prometheus/hale.rules.yml")), &rules); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(read("deploy/prometheus/hale.test.yml")), &tests); err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, one := range tests.Tests {
		for _, r := range one.Rules {
			tested[r.Alertname] = true
		}
	}
	documented, playbook := read("docs/operations.md"), read("docs/playbook.md")
	used := read("deploy/grafana/hale.json")
	if len(rules.Groups) == 0 || len(rules.Groups[0].Rules) < 15 {
		t.Fatal("there are hardly any alerts: the test shows nothing")
	}
	for _, r := range rules.Groups[0].Rules {
		if !tested[r.Alert] {
			t.Errorf("no test triggers %s", r.Alert)
		}
		if !strings.Contains(playbook, "`"+r.Alert+"`") {
			t.Errorf("docs/playbook.md does not describe %s", r.Alert)
		}
		used += r.Expr + "\n"
	}
	for _, name := range metricName.FindAllString(used, -1) {
		base := strings.TrimSuffix(strings.TrimSuffix(name, "_count"), "_bucket")
		if !strings.Contains(documented, base) {
			t.Errorf("docs/operations.md does not describe %s", name)
		}
	}
}
