package internal_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each row of the tables in docs/security.md names tests that exist, or says who or what
// is missing.
func TestSecurityTables(t *testing.T) {
	page, err := os.ReadFile("../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tables, found := strings.Cut(string(page), "## OWASP ASVS")
	if !found {
		t.Fatal("the page has no table of ASVS")
	}
	test := regexp.MustCompile("`(internal[a-z0-9/]*) (Test\\w+)`")
	rows := 0
	for line := range strings.Lines(tables) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || len(cells) != 3 || strings.HasPrefix(line, "|---") || strings.Contains(line, "| Evidence |") {
			continue
		}
		rows++
		evidence := strings.TrimSpace(cells[2])
		named := test.FindAllStringSubmatch(evidence, -1)
		if len(named) == 0 && !strings.HasPrefix(evidence, "operator: ") && !strings.HasPrefix(evidence, "not yet") && !strings.HasPrefix(evidence, "not applicable: ") {
			t.Errorf("no evidence: %s", line)
		}
		for _, n := range named {
			if !hasTest(t, filepath.Join("..", n[1]), n[2]) {
				t.Errorf("%s has no %s", n[1], n[2])
			}
		}
	}
	if rows < 40 {
		t.Errorf("only %d rows", rows)
	}
}

func hasTest(t *testing.T, folder, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") {
			return true
		}
	}
	return false
}
