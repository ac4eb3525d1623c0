package settingsfile

import (
	"testing"
)

// An unknown section would give no labs, without a message.
func TestCheckSections(t *testing.T) {
	for document, want := range map[string]string{
		"":                                  "",
		"listen: x":                         "",
		"networks: {hl7v2: {}}":             "",
		"networks: {}":                      "",
		"networks:\n  hl7v2: {}\n  hl7: {}": "line 3: unknown network hl7: the networks are hl7v2, fulfilment",
		"networks: {HL7v2: {}, ' ': 1}":     "line 1: unknown network HL7v2: the networks are hl7v2, fulfilment\nline 1: unknown network \" \": the networks are hl7v2, fulfilment",
		"a: &x {hl7v3: {}}\nnetworks: *x":   "line 1: unknown network hl7v3: the networks are hl7v2, fulfilment",
		"networks:":                         "",
		"a: 1\nnetworks: 7":                 "line 2: must be a mapping of keys to values",
		"networks: [1":                      "line 1: did not find expected ',' or ']'",
	} {
		got := ""
		if err := CheckSections([]byte(document), "hl7v2", "fulfilment"); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, not %q", document, got, want)
		}
	}
}
