package internal_test

import (
	"os"
	"strings"
	"testing"
)

// Each imported module has a line in the record of dependencies, with its purpose and the
// alternative.
func TestEveryDependencyHasAReason(t *testing.T) {
	record := readText(t, "../docs/decisions/0001-dependencies.md")
	required := directRequirements(readText(t, "../go.mod"))
	for _, path := range required {
		if !strings.Contains(record, "`"+path) {
			t.Errorf("%s has no line in docs/decisions/0001-dependencies.md", path)
		}
	}
}

// directRequirements returns the modules that go.mod requires for our own imports.
// `go mod tidy` marks all others as indirect.
func directRequirements(modfile string) []string {
	var paths []string
	inside := false
	for line := range strings.Lines(modfile) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 2 && fields[0] == "require" && fields[1] == "(":
			inside = true
		case len(fields) == 1 && fields[0] == ")":
			inside = false
		case inside && len(fields) >= 2 && !strings.Contains(line, "// indirect"):
			paths = append(paths, fields[0])
		case len(fields) >= 3 && fields[0] == "require" && !strings.Contains(line, "// indirect"):
			paths = append(paths, fields[1])
		}
	}
	return paths
}

func TestDirectRequirements(t *testing.T) {
	got := directRequirements("module x\n\nrequire a.org/one v1.0.0\n\nrequire (\n\tb.org/two v2.0.0\n\tc.org/three v3.0.0 // indirect\n)\n")
	if strings.Join(got, " ") != "a.org/one b.org/two" {
		t.Errorf("direct requirements are %v", got)
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
