package clients

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A linter of another maker finds nothing in the OpenAPI document. It must also find a
// mistake, because a linter that accepts everything proves nothing.
func TestRedoclyFindsNothing(t *testing.T) {
	linter, err := filepath.Abs("node_modules/@redocly/cli/bin/cli.js")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(linter); err != nil {
		t.Skip("redocly is not here: npm ci in clients/ brings it")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("redocly needs Node, which is not here")
	}
	document, err := os.ReadFile("../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	lint := func(text []byte) (problems []string) {
		t.Helper()
		path := filepath.Join(t.TempDir(), "openapi.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		run := exec.CommandContext(t.Context(), node, linter, "lint", path, "--config", "redocly.yaml", "--format=json")
		run.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
		var said bytes.Buffer
		run.Stderr = &said
		out, failed := run.Output() // fails if there are errors
		var answer struct {
			Problems []struct {
				RuleID, Message string
				Location        []struct{ Pointer string }
			}
		}
		if err := json.Unmarshal(out, &answer); err != nil {
			t.Fatalf("%v, %v: %s %s", err, failed, out, &said)
		}
		for _, p := range answer.Problems {
			line := p.RuleID + ": " + p.Message
			if len(p.Location) > 0 {
				line += " " + p.Location[0].Pointer
			}
			problems = append(problems, line)
		}
		return problems
	}
	for _, problem := range lint(document) {
		t.Error(problem)
	}
	mistaken := bytes.Replace(document, []byte(`"operationId": "`), []byte(`"operationID": "`), 1)
	if bytes.Equal(mistaken, document) || len(lint(mistaken)) == 0 {
		t.Error("a mistake is not found")
	}
}
