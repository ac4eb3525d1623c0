package app_test

import (
	"testing"

	"hale/internal/platform/fault"
)

// Each operation declares codes that exist, and each code of a single refusal is declared.
// The tests of package codetest compare the answers.
func TestOperationsDeclareTheirCodes(t *testing.T) {
	var document struct {
		Paths map[string]map[string]struct {
			Codes []string `json:"x-error-codes"`
		}
	}
	decodeFile(t, "../../docs/openapi.json", &document)
	declared := map[string]bool{}
	for address, operations := range document.Paths {
		for method, o := range operations {
			for _, code := range o.Codes {
				declared[code] = true
				if !fault.IsSpecific(code) {
					t.Errorf("%s %s declares %s, which is no code of a single refusal", method, address, code)
				}
			}
		}
	}
	for _, c := range fault.SpecificCodes {
		if !declared[c.Name] {
			t.Errorf("no operation declares %s", c.Name)
		}
	}
}
