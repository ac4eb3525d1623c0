package internal_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hale/internal/platform/fault"
)

// refusalCodes find the codes of refusals in the source.
var refusalCodes = []*regexp.Regexp{
	regexp.MustCompile(`\brefuse\("([a-z_]+)", [^)]`),
	regexp.MustCompile(`\binvalidQuery\("[a-z_]+", "([a-z_]+)"`),
	regexp.MustCompile(`(?m)^\t(?:PayorUnknown|StatePlanUnknown|GuarantorMissing) += "([a-z_]+)"`), // an order repeats the warning of the insurance
	regexp.MustCompile(`fault\.Newf?\(fault\.(?:Refused|Conflict|NotFound|Unprocessable|Unavailable|Forbidden|TooLarge|TooMany),[^\n]*\n?[^\n]*?\.?WithType\("([a-z_]+)"\)`),
}

// Every code of a refusal is in the closed list and is used. docs/errors.md shows the list.
func TestCodesOfErrorsAreListed(t *testing.T) {
	page, err := os.ReadFile("../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, c := range slices.Concat(fault.GeneralCodes(), fault.SpecificCodes) {
		statuses := strings.ReplaceAll(strings.Trim(fmt.Sprint(c.Statuses()), "[]"), " ", ", ")
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s | %s |", c.Name, statuses, c.Cause, c.Remedy))
	}
	var written []string
	for line := range strings.Lines(string(page)) {
		if strings.HasPrefix(line, "| `") && strings.Count(line, " | ") == 3 {
			written = append(written, strings.TrimSpace(line))
		}
	}
	if diff := cmp.Diff(rows, written); diff != "" {
		t.Errorf("the tables of docs/errors.md differ from package fault (-fault +page):\n%s", diff)
	}
	var source strings.Builder
	err = filepath.WalkDir(".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.HasSuffix(path, "fault/codes.go") {
			return err
		}
		text, err := os.ReadFile(path)
		source.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range refusalCodes {
		for _, m := range pattern.FindAllStringSubmatch(source.String(), -1) {
			if code := m[1]; !fault.IsSpecific(code) && code != "status" {
				t.Errorf("%s is not in fault.SpecificCodes", code)
			}
		}
	}
	for _, c := range fault.SpecificCodes {
		if !strings.Contains(source.String(), `"`+c.Name+`"`) {
			t.Errorf("no refusal has the code %s", c.Name)
		}
	}
}
