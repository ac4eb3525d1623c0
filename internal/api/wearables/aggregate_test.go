package wearables

import (
	"testing"
)

// The header of a request chooses the form of a result. The form with the
// higher weight wins. If both have the same weight, the other form wins if the
// header has its name. Otherwise JSON wins.
func TestFormsOfAResult(t *testing.T) {
	for header, want := range map[string]string{
		"":                     "json",
		"*/*":                  "json",
		"application/json":     "json",
		"application/*":        "json",
		"text/html, */*;q=0.1": "json",
		parquetType:            "packed",
		parquetType + ", */*":  "packed",
		"application/json, text/plain, */*, " + parquetType: "packed",
		"application/json, " + parquetType + ";q=0.5":       "json",
		"application/json;q=0.5, " + parquetType:            "packed",
		"*/*, " + parquetType + ";q=0":                      "json",
		"application/json;q=0, */*;q=0.3":                   "packed",
		"application/json;q=0.2, application/*;q=0.7":       "packed",
		parquetType + ";q=0":                                "refused",
		"*/*;q=0":                                           "refused",
		"text/csv":                                          "refused",
		"text/csv;q=much, " + archiveType:                   "refused",
		"application/json;q=2":                              "refused",
	} {
		got := "json"
		if packed, err := accepts(header, parquetType); err != nil {
			got = "refused"
		} else if packed {
			got = "packed"
		}
		if got != want {
			t.Errorf("%q gives %s, want %s", header, got, want)
		}
	}
}
