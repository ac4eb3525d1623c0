package extract

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A negation is part of the answer: it never stays behind in the name.
func TestNegationsStayWithTheAnswer(t *testing.T) {
	for _, c := range []struct{ name, value string }{
		{"Influenza A RNA:", "Not detected"},
		{"Influenza A RNA", "Not Detected"},
		{"RSV RNA", "NOT DETECTED"},
		{"Hepatitis B surface Ag:", "Not reactive"},
		{"Hepatitis B surface Ag", "Non reactive"},
		{"Chlamydia:", "none detected"},
		{"Chlamydia", "None found"},
		{"HIV 1/2 Ab:", "Non-reactive"},
		{"Syphilis Ab", "not present"},
		{"Quxin RNA:", "not detected"},
		{"Dengue IgM:", "No antibodies detected"},
		{"Quxin RNA", "undetectable"},
	} {
		bare := strings.TrimRight(c.name, ":")
		for _, layout := range []string{c.name + " " + c.value, fmt.Sprintf("%-27s%s", c.name, c.value), fmt.Sprintf("%-27s%-25s%s", c.name, c.value, "Negative")} {
			result := read(t, FromText, "Sodium                     139                135-145             mmol/L    ", layout,
				"Potassium                  4.1                3.5-5.1             mmol/L    ")
			at := slices.IndexFunc(result.Rows, func(row Row) bool { return strings.TrimRight(row.Name, ":") == bare })
			if at < 0 || !sameText(result.Rows[at].Value, c.value) || result.Rows[at].Interpretation == "abnormal" {
				t.Errorf("%q: %+v", layout, result.Rows)
			}
		}
	}
}

// An answer whose negation is in the column of names keeps it.
func TestNegationInTheColumnOfNames(t *testing.T) {
	r := &reader{dict: theDictionary(), known: map[string]float64{}}
	for _, c := range []struct{ name, value, wantName, wantValue string }{
		{"Influenza A RNA: Not", "detected", "Influenza A RNA", "Not detected"},
		{"Hepatitis B surface Ag Non-", "Reactive", "Hepatitis B surface Ag", "Non-Reactive"},
		{"Dengue IgM: No virus specific antibodies", "detected", "Dengue IgM", "No virus specific antibodies detected"},
		{"Chlamydia: not yet", "detected", "Chlamydia", "not yet detected"},
		{"Sample no", "4.1", "Sample no", "4.1"},
		{"Lactate", "detected", "Lactate", "detected"},
	} {
		d := draft{name: c.name, value: c.value}
		if r.keepNegation(&d); d.name != c.wantName || d.value != c.wantValue {
			t.Errorf("%+v: %q %q", c, d.name, d.value)
		}
	}
}

// The text behind an answer is kept as its note. If it may be another column's, the row
// needs review.
func TestTextBehindAnswers(t *testing.T) {
	for _, c := range []struct{ printed, value, note, interpretation string }{
		{"Detected, 34 %", "Detected", "34 %", "abnormal"},
		{"DETECTED Ct 24.3", "DETECTED", "Ct 24.3", "abnormal"},
		{"POSITIVE 1:512", "POSITIVE", "1:512", "abnormal"},
		{"POSITIVE S/CO 14.2", "POSITIVE", "S/CO 14.2", "abnormal"},
		{"Reactive (index 8.9)", "Reactive", "index 8.9", "abnormal"},
		{"Negative (0.12)", "Negative", "0.12", "normal"},
		{"Negative (<20 copies/mL)", "Negative", "<20 copies/mL", "normal"},
		{"Positive, confirmed", "Positive", "confirmed", "abnormal"},
		{"No antibodies detected", "No antibodies detected", "", "unknown"},
		{"2+ 40 mg/dL", "2+", "40 mg/dL", "abnormal"},
	} {
		result := read(t, FromText, fmt.Sprintf("%-27s%-26s%s", "Syphilis Ab", c.printed, "Negative"), "Sodium                     139                135-145             mmol/L    ")
		row := find(t, result, "Syphilis Ab")
		if row.Value != c.value || row.Note != c.note || row.Interpretation != c.interpretation || row.Unit != "" || row.Range.Text != "Negative" {
			t.Errorf("%q: %+v", c.printed, row)
		}
		result = read(t, FromText, "Sodium                     139                135-145             mmol/L    ", "Syphilis Ab: "+c.printed, "Potassium                  4.1                3.5-5.1             mmol/L    ")
		at := slices.IndexFunc(result.Rows, func(row Row) bool { return strings.HasPrefix(row.Name, "Syphilis Ab") })
		if c.note != "40 mg/dL" && (at < 0 || result.Rows[at].Value != c.value || result.Rows[at].Note != c.note && !result.Rows[at].NeedsReview) {
			t.Errorf("%q in one cell: %+v", c.printed, result.Rows)
		}
	}
}

// Plus signs in front of a number are its flag.
func TestFlagBeforeANumber(t *testing.T) {
	for _, c := range []struct {
		printed, value, flag, interpretation string
		number                               float64
	}{
		{"+ 6.4", "6.4", "+", "abnormal", 6.4},
		{"++ 6.4", "6.4", "++", "abnormal", 6.4},
		{"6.4 H", "6.4", "H", "abnormal", 6.4},
		{"+ 4.1", "4.1", "+", "abnormal", 4.1}, // flag and range contradict each other
	} {
		result := read(t, FromText, fmt.Sprintf("Potassium                  %-19s3.5-5.1             mmol/L    ", c.printed))
		row := find(t, result, "Potassium")
		if row.Value != c.value || row.Flag != c.flag || row.Number == nil || *row.Number != c.number || row.Interpretation != c.interpretation || row.NeedsReview != (c.number == 4.1) {
			t.Errorf("%q: %+v", c.printed, row)
		}
	}
}

// A second value in the column of units is no unit. The row needs review, and its range may
// be that of the second value.
func TestTwoValuesInARow(t *testing.T) {
	for _, c := range []struct {
		name, value, second, unit string
		two                       bool
	}{
		{"Neutrophils", "12 %", "0.4 10^9/L", "%", true},
		{"Lymphocytes", "61 %", "2.4 10^9/L", "%", true},
		{"Zonulin", "48 ng/mL", "61 %", "ng/mL", true},
		{"Monocytes", "4 %", "0.2", "%", true},
		{"Neutrophils", "0.4", "10^9/L", "10^9/L", false},
		{"Neutrophils", "0.4", "x 10^9/L", "x 10^9/L", false},
		{"Sodium", "139", "mmol/L", "mmol/L", false},
	} {
		result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
			"Test                       Result           Unit            Reference     ",
			fmt.Sprintf("%-27s%-17s%-16s%s", c.name, c.value, c.second, "1.8-7.5"),
			"Potassium                  4.1              mmol/L          3.5-5.1       ")...)}})
		if err != nil {
			t.Fatal(err)
		}
		row := find(t, result, c.name)
		if row.Unit != c.unit || row.Number == nil || slices.Contains(row.Reasons, ColumnUncertain) != c.two {
			t.Errorf("%+v: %+v", c, row)
		}
		if c.two && (row.Note != c.second || row.Interpretation != "unknown" || row.Range.Text != "1.8-7.5" || row.Range.Min != nil) {
			t.Errorf("%+v: %+v", c, row)
		}
	}
}

// The comma of a specific gravity is a decimal comma, whatever the other numbers have.
func TestSpecificGravityWithAComma(t *testing.T) {
	for _, c := range []struct {
		name, value, rng string
		number           float64
		interpretation   string
	}{
		{"Specific gravity", "1,015", "1,005-1,030", 1.015, "normal"},
		{"Specific gravity", "1,042 H", "1,005 - 1,030", 1.042, "abnormal"},
		{"Specific gravity", "1.015", "1.005-1.030", 1.015, "normal"},
		{"Cortisol", "1,015", "1,005-1,030", 0, "unknown"},
	} {
		result := read(t, FromText, fmt.Sprintf("%-27s%-19s%-20s", c.name, c.value, c.rng), "Sodium                     139                136-145             mmol/L    ")
		row := find(t, result, c.name)
		if row.Interpretation != c.interpretation || (row.Number == nil) != (c.number == 0) || row.Number != nil && *row.Number != c.number || row.NeedsReview != (c.number == 0) {
			t.Errorf("%+v: %+v", c, row)
		}
	}
}
