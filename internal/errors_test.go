package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"hale/internal/platform/fault"
)

// refusalCodes find the codes of refusals in the source.
var refusalCodes = []*regexp.Regexp{
	regexp.MustCompile(`\brefuse\("([a-z_]+)", [^)]`),
	regexp.MustCompile(`\binvalidQuery\("[a-z_]+", "([a-z_]+)"`),
	regexp.MustCompile(`(?m)^\t(?:PayorUnknown|StatePlanUnknown|GuarantorMissing) += "([a-z_]+)"`), // an order repeats the warning of the insurance
	regexp.MustCompile(`fault\.Newf?\(fault\.(?:Refused|Conflict|NotFound|Unprocessable|Unavailable|Forbidden|TooLarge|TooMany),[^\n]*\n?[^\n]*?\.?WithType\("([a-z_]+)"\)`),
}

// Every code of a refusal is in the closed list, is used, and has a row in the docs.
func TestCodesOfErrorsAreListed(t *testing.T) {
	page, err := os.ReadFile("../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range fault.Codes() {
		if strings.Count(string(page), "\n| `"+code+"` |") != 1 {
			t.Errorf("docs/errors.md needs one row for %s", code)
		}
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
			if code := m[1]; !slices.Contains(fault.SpecificCodes, code) && code != "status" {
				t.Errorf("%s is not in fault.SpecificCodes", code)
			}
		}
	}
	for _, code := range fault.SpecificCodes {
		if !strings.Contains(source.String(), `"`+code+`"`) {
			t.Errorf("no refusal has the code %s", code)
		}
	}
}
