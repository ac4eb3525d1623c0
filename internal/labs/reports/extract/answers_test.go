package extract

import (
	"slices"
	"testing"
)

// Answers in words are results, also with text behind them, below a table, and without one.
func TestAnswersOutsideOfTables(t *testing.T) {
	for _, c := range []struct{ line, name, value, note, flag string }{
		{"SARS-CoV-2 PCR: DETECTED Ct 24.3", "SARS-CoV-2 PCR", "DETECTED", "Ct 24.3", ""},
		{"HIV 1/2 Ab: Reactive (index 8.9)", "HIV 1/2 Ab", "Reactive", "index 8.9", ""},
		{"Anti-HCV: Positive (0.12)", "Anti-HCV", "Positive", "0.12", ""},
		{"MRSA screen  POSITIVE  A", "MRSA screen", "POSITIVE", "", "A"},
		{"MRSA screen     POSITIVE     A", "MRSA screen", "POSITIVE", "", "A"},
		{"Influenza A RNA: Not detected", "Influenza A RNA", "Not detected", "", ""},
		{"SARS-CoV-2 antigen: POSITIVE  S/CO 14.2", "SARS-CoV-2 antigen", "POSITIVE", "S/CO 14.2", ""},
		{"RSV RNA Not Detected", "RSV RNA", "Not Detected", "", ""},
		{"C. difficile toxin: Negative (repeat in 7 days if symptoms persist)", "C. difficile toxin", "Negative", "repeat in 7 days if symptoms persist", ""},
		{"Quxin marker: weakly positive", "Quxin marker", "weakly positive", "", ""},
		{"Factor V Leiden Heterozygous", "Factor V Leiden", "Heterozygous", "", ""},
	} {
		for place, lines := range map[string][]string{
			"below a table":   append(slices.Clone(head), "Sodium                     139                135-145             mmol/L    ", "Chloride                   101                98-107              mmol/L    ", "", c.line),
			"inside a table":  append(slices.Clone(head), "Sodium                     139                135-145             mmol/L    ", c.line, "Chloride                   101                98-107              mmol/L    "),
			"in a list":       append(slices.Clone(head[:4]), "Sodium 139 mmol/L 135-145", "Chloride 101 mmol/L 98-107", "", c.line),
			"below a culture": append(slices.Clone(head[:4]), "Blood culture: No growth after 5 days.", c.line),
		} {
			if place == "inside a table" && c.name == "MRSA screen" {
				continue // the columns split it
			}
			result, err := Read(Document{Pages: []Page{printedPage(FromText, lines...)}})
			if err != nil {
				t.Errorf("%s, %s: %v", c.line, place, err)
				continue
			}
			at := slices.IndexFunc(result.Rows, func(r Row) bool { return r.Name == c.name })
			if at < 0 {
				t.Errorf("%s, %s: %+v", c.line, place, result.Rows)
				continue
			}
			if row := result.Rows[at]; row.Value != c.value || row.Note != c.note || row.Flag != c.flag {
				t.Errorf("%s, %s: %+v", c.line, place, row)
			}
		}
	}
}

// Explanations and denials are no results.
func TestAnswersOfExplanations(t *testing.T) {
	for _, line := range []string{
		"Comment: Negative results do not exclude an infection.",
		"SARS-CoV-2 PCR: Negative results do not exclude an infection.",
		"No HIV antibody detected",
		"Reference: Negative",
		"Negative: not detected",
		"Positive: > 1.1",
		"Patient: positive",
		"Mother's HBsAg: Positive",
		"HIV antibody of partner: Reactive",
		"Previous HIV Ab: Negative",
	} {
		result := read(t, FromText, "Sodium                     139                135-145             mmol/L    ", "Chloride                   101                98-107              mmol/L    ", "", "", line)
		if len(result.Rows) != 2 {
			t.Errorf("%s: %+v", line, result.Rows[len(result.Rows)-1])
		}
	}
}

// Each answer of a line is a result.
func TestSeveralAnswersOfALine(t *testing.T) {
	for _, line := range []string{
		"HIV Ab: Negative, HBsAg: Not detected, HCV Ab: Reactive",
		"HIV Ab: Negative   HBsAg: Not detected   HCV Ab: Reactive",
		"HIV Ab: Negative (0.12) HBsAg: Not detected; HCV Ab: Reactive A",
	} {
		result := read(t, FromText, "Sodium                     139                135-145             mmol/L    ", "Chloride                   101                98-107              mmol/L    ", "", line)
		for name, value := range map[string]string{"HIV Ab": "Negative", "HBsAg": "Not detected", "HCV Ab": "Reactive"} {
			if row := find(t, result, name); row.Value != value || row.Box.Width > 0.5 {
				t.Errorf("%s: %+v", line, row)
			}
		}
	}
}
