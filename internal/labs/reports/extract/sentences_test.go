package extract

import (
	"slices"
	"strings"
	"testing"
)

// readText reads a report of running text.
func readText(t *testing.T, lines ...string) Result {
	t.Helper()
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]), lines...)...)}})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// Of running text, only values that a sentence reports as current become results.
func TestSentences(t *testing.T) {
	result := readText(t,
		"The hemoglobin today is 8.2 g/dL (12.0-16.0), previously 9.1 g/dL (12.0-16.0). Transfuse",
		"if Hb < 7 g/dL. Potassium is critical at 7.1 mmol/L (3.5-5.1). The goal for LDL Cholesterol is",
		"100 mg/dL. The normal range for sodium is 135 mmol/L to 145 mmol/L. Sodium was 139 mmol/L.",
		"This is the measured value. INR 2.3 (0.8-1.2). Creatinine 1.1 mg/dL was seen in March.",
		"Start vitamin D 1000 IU daily. Platelets fell to 20 10^9/L (150-400), which is a critical value.",
		"Glucose 5.4 mmol/L (3.9-5.5) (previously 6.1 mmol/L). Keep potassium above 4.0 mmol/L.",
		"Ferritin of less than 30 ng/mL suggests iron deficiency. Calcium 9.4 mg/dL (8.6-10.3).",
		"A TSH > 10 mIU/L requires treatment. Magnesium 2.0 mg/dL two weeks ago.",
		"Urea of 30 mmol/L or more is an emergency. Albumin 20 g/L is a critical value.",
		"Her mother's urate is 7.1 mg/dL. Iron less than 10 ug/dL (50-170).",
	)
	want := []string{
		"hemoglobin 8.2 abnormal", "Potassium 7.1 critical", "Sodium 139 unknown", "INR 2.3 abnormal", "Creatinine 1.1 unknown sentence_unclear",
		"Platelets 20 critical", "Glucose 5.4 normal", "Calcium 9.4 normal", "Albumin 20 critical sentence_unclear", "urate 7.1 unknown sentence_unclear",
		"Iron less than 10 unknown value_unreadable sentence_unclear",
	}
	var got []string
	for _, row := range result.Rows {
		text := row.Name + " " + row.Value + " " + row.Interpretation
		for _, reason := range []Reason{ValueUnreadable, SentenceUnclear} {
			if slices.Contains(row.Reasons, reason) {
				text += " " + string(reason)
			}
		}
		got = append(got, text)
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Lines of a list are sentences of their own. A label is valid for the sentences behind it.
func TestListsAndLabels(t *testing.T) {
	result := readText(t,
		"Goal INR 2.5 (2.0-3.0), INR today 1.8 (0.8-1.2). Sodium 139 mmol/L (135-145).",
		"Hb 8.2 g/dL",
		"Transfuse if Hb < 7 g/dL",
		"Prior glucose 9.1 mmol/L (3.9-5.5)",
		"",
		"",
		"Previous results: chloride 99 mmol/L (98-107), urea 7.1 mmol/L (2.5-7.8). Calcium 2.31 mmol/L (2.15-2.55).",
	)
	got := map[string]string{}
	for _, row := range result.Rows {
		got[row.Name] += row.Value
	}
	for name, want := range map[string]string{"INR": "1.8", "Sodium": "139", "Hb": "8.2", "glucose": "", "chloride": "", "urea": "", "Calcium": ""} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	if row := find(t, result, "INR"); !slices.Contains(row.Reasons, SentenceUnclear) {
		t.Errorf("a value beside its goal: %v", row.Reasons)
	}
}

// A sentence that repeats a row of a table is no second result; one that contradicts it
// needs review.
func TestSentencesBesideTables(t *testing.T) {
	result := read(t, FromText,
		"Potassium                  7.1         HH     3.5-5.1             mmol/L    ",
		"Sodium                     139                135-145             mmol/L    ",
		"",
		"The potassium of 7.1 mmol/L was called to the ward. The sodium is 129 mmol/L.",
	)
	if len(result.Rows) != 3 || !slices.Contains(result.Rows[2].Reasons, SentenceUnclear) {
		t.Errorf("rows are %+v", result.Rows)
	}
}

// A line of comment in a table is no row.
func TestCommentsInTables(t *testing.T) {
	result := read(t, FromText,
		"Ferritin                   12          L      15-150              ng/mL     ",
		"Ferritin below 30 ng/mL indicates iron deficiency. Transfuse if hemoglobin < 7 g/dL.",
		"Hemoglobin                 8.2         L      12.0-16.0           g/dL      ",
	)
	if len(result.Rows) != 2 {
		t.Errorf("rows are %+v", result.Rows)
	}
}

// Words in parentheses behind a value, and headings of the history, say that a value is no
// current one.
func TestEarlierValuesBelowATable(t *testing.T) {
	for _, c := range []struct {
		heading, line, name, note string
		older, unclear            bool
	}{
		{"", "Potassium 6.9 mmol/L (old)", "Potassium", "old", true, true},
		{"", "HbA1c 9.8 % (2019)", "HbA1c", "2019", true, true},
		{"", "HbA1c 9.8 % (2024)", "HbA1c", "2024", false, true}, // the year of the report
		{"", "Potassium 2.9 mmol/L (03/2023)", "Potassium", "03/2023", true, true},
		{"", "Potassium 2.9 mmol/L [Jan 2023]", "Potassium", "Jan 2023", true, true},
		{"", "Hemoglobin 7.1 g/dL (pre-op)", "Hemoglobin", "pre-op", true, true},
		{"", "TSH 12 mIU/L (before treatment)", "TSH", "before treatment", true, true},
		{"", "Ferritin 6 ng/mL (external lab)", "Ferritin", "external lab", false, true},
		{"", "Potassium 6.9 mmol/L (before dialysis)", "Potassium", "before dialysis", false, true},
		{"", "Glucose 251 mg/dL (fasting)", "Glucose", "fasting", false, false},
		{"", "Potassium 6.9 mmol/L H (3.5-5.1)", "Potassium", "", false, false},
		{"Problem list", "Type 2 diabetes, HbA1c 9.8 % (2019)", "HbA1c", "2019", true, true},
		{"", "Potassium                  6.9 (old)          3.5-5.1             mmol/L    ", "Potassium", "old", true, false},
		{"History", "Potassium 2.9 mmol/L.", "Potassium", "", false, true},
		{"Medical history", "Severe anemia with hemoglobin 7.1 g/dL.", "hemoglobin", "", false, true},
	} {
		result := read(t, FromText, "Sodium                     139                135-145             mmol/L    ",
			"Chloride                   101                98-107              mmol/L    ", c.heading, c.line)
		row := find(t, result, c.name)
		if row.Note != c.note || slices.Contains(row.Reasons, OlderResult) != c.older || (row.Number == nil) != c.older || slices.Contains(row.Reasons, SentenceUnclear) != c.unclear {
			t.Errorf("%+v: %+v", c, row)
		}
		if row := find(t, result, "Chloride"); row.NeedsReview || row.Note != "" {
			t.Errorf("%+v: %+v", c, row)
		}
	}
}
