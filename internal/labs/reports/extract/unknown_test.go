package extract

import (
	"slices"
	"strings"
	"testing"
)

var plainHead = []string{
	"NORTHWIND LABORATORY",
	"12 Main Street, Suite 200, Springfield, IL 62704",
	"Patient: Mara Quillfeather",
	"DOB: 1980-03-04",
	"Collected: 2024-05-06",
	"",
}

// A line of an unknown analyte is a result, without a code. A line that shows less than
// value, unit and range needs review.
func TestUnknownAnalytesWithoutHeader(t *testing.T) {
	for _, c := range []struct {
		line, name, value, unit, rng string
		review                       bool
	}{
		{"Zonulin 48 ng/mL <45", "Zonulin", "48", "ng/mL", "<45", false},
		{"Zonulin: 48 ng/mL (<45)", "Zonulin", "48", "ng/mL", "(<45)", false},
		{"Zonulin 48 H ng/mL <45", "Zonulin", "48", "ng/mL", "<45", false},
		{"Zonulin 48 ng/mL HH <45", "Zonulin", "48", "ng/mL", "<45", false},
		{"Zonulin 48 ng/mL 30-45 H", "Zonulin", "48", "ng/mL", "30-45", false},
		{"Zonulin <5 ng/mL <45", "Zonulin", "<5", "ng/mL", "<45", false},
		{"Interleukin 23 3.1 pg/mL <7.0", "Interleukin 23", "3.1", "pg/mL", "<7.0", true}, // or 23 and an earlier value
		{"17-OH Quxinone 4.1 ng/mL 3.5-5.1", "17-OH Quxinone", "4.1", "ng/mL", "3.5-5.1", false},
		{"Fasting Zonulin 38 ng/mL <45", "Fasting Zonulin", "38", "ng/mL", "<45", false},
		{"Date palm IgE 0.40 kU/L <0.35", "Date palm IgE", "0.40", "kU/L", "<0.35", false},
		{"Zonulin 48 ng/mL <45 serum", "Zonulin", "48", "ng/mL", "<45", true},
		{"Zonulin 48 ng/mL", "Zonulin", "48", "ng/mL", "", true},
		{"Zonulin 48 <45", "Zonulin", "48", "", "<45", true},
		{"Zonulin 12.5 HDU/mL >10", "Zonulin", "12.5", "HDU/mL", ">10", true},
		{"Quxin Antigen Negative Negative", "Quxin Antigen", "Negative", "", "Negative", true},
		{"Zonulin <10 ng/mL", "Zonulin", "<10", "ng/mL", "", true},     // beside rows
		{"Zonulin 12.5 HDU/mL", "Zonulin", "12.5", "HDU/mL", "", true}, // beside rows
		{"Quxin Antigen Positive", "Quxin Antigen", "Positive", "", "", true},
		{"Quxin index 3.1", "Quxin index", "3.1", "", "", true},
		{"Zonulin          48       ng/mL", "Zonulin", "48", "ng/mL", "", true},
		{"Zonulin          Positive      Negative", "Zonulin", "Positive", "", "Negative", true},
	} {
		lines := append(slices.Clone(plainHead), "Sodium 141 mmol/L 135-145", c.line, "Potassium 4.1 mmol/L 3.5-5.1")
		result, err := Read(Document{Pages: []Page{printedPage(FromText, lines...)}})
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		at := slices.IndexFunc(result.Rows, func(row Row) bool { return row.Name == c.name })
		if len(result.Rows) != 3 || at < 0 {
			t.Errorf("%s: the rows are %+v", c.line, result.Rows)
			continue
		}
		row := result.Rows[at]
		isUncertain := slices.Contains(row.Reasons, NameUncertain) || slices.Contains(row.Reasons, ColumnUncertain)
		if row.Value != c.value || row.Unit != c.unit || row.Range.Text != c.rng || row.Status != NoMatch || isUncertain != c.review {
			t.Errorf("%s is %+v", c.line, row)
		}
		if want := strings.Contains(c.line, "HH"); row.HasCriticalFlag() != want {
			t.Errorf("%s has the flag %q", c.line, row.Flag)
		}
	}
}

// Lines about the person, the place, the paper and the ranges are no results, also between
// two rows.
func TestLinesThatAreNoResults(t *testing.T) {
	for _, line := range []string{
		"12 Main Street, Suite 200, Springfield, IL 62704",
		"Oak Road 12 A, 8001 Zurich",
		"Phone 555 0134 Fax 555 0135",
		"CLIA 12D3456789 CAP 7654321",
		"Age 44 years",
		"Height 170 cm",
		"Weight 70 kg",
		"BMI 24.2 kg/m2",
		"Blood pressure 120/80 mmHg",
		"Room 12",
		"Fasting 12 hours",
		"Urine volume 1500 mL/24h",
		"Result phoned to ward 3.",
		"Normal 70-99 mg/dL",
		"Prediabetes 100-125 mg/dL",
		"Diabetes >125 mg/dL",
		"Deficient <20 ng/mL",
		"Grey zone 20-29 ng/mL",
		"Class 1 0.35-0.70 kU/L",
		"Stage 3a 45-59 mL/min",
		"Female 12.0-15.5 g/dL",
		"Detection limit 5 ng/mL",
		"Target value 60 ng/mL",
		"Cutoff 0.35 kU/L",
		"Measuring range 5-1000 ng/mL",
		"Page 3 1-20",
		"Version 4.2",
		"Reviewed by Dr. A. Smith, License 12345",
		"Results apply to the sample received on day 2",
		"Method: ECLIA 2",
		"Invoice 12345",
		"Printed 2024-05-07 12:10",
		"Metformin dose 500 mg/day",
		"* Values above 48 ng/mL indicate disease",
		"1 mg/dL equals 10 mg/L",
		"Reference 30-60 ng/mL",
		"Accredited to ISO 15189",
		"Sample stored 7 days",
		"Monday 9-17",
	} {
		for _, lines := range [][]string{
			{"Sodium 141 mmol/L 135-145", "Potassium 4.1 mmol/L 3.5-5.1", line},
			{"Sodium 141 mmol/L 135-145", line, "Potassium 4.1 mmol/L 3.5-5.1"},
			{line, "Sodium 141 mmol/L 135-145", "Potassium 4.1 mmol/L 3.5-5.1"},
		} {
			result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(plainHead), lines...)...)}})
			if err != nil || len(result.Rows) != 2 {
				t.Errorf("%s: %v, the rows are %+v", line, err, result.Rows)
			}
		}
	}
}

// Below the header of a table, a name that begins like a label and a value in free text are
// kept. The words below the table are not.
func TestUnknownAnalytesBelowHeader(t *testing.T) {
	result := read(t, FromText,
		"Sodium                     141                135-145             mmol/L    ",
		"Quxin pattern              see graph                                        ",
		"Date palm IgE              0.40        H      <0.35               kU/L      ",
		"Interpretation             normal                                           ",
		"Potassium                  4.1                3.5-5.1             mmol/L    ",
		"Zonulin pattern            see graph                                        ",
		"Reviewed by                Dr. Smith                                        ",
		"Laboratory director        Anna Smith, MD                                   ",
		"Phone                      555-0134                                         ",
		"PERFORMING SITE: AMD CEDAR 14225              DRIVE                         ",
		"CEDAR VALLEY LABORATORY,   14225              NEWBROOK                      ",
	)
	if len(result.Rows) != 5 {
		t.Errorf("%d rows: %+v", len(result.Rows), result.Rows)
	}
	for _, name := range []string{"Quxin pattern", "Zonulin pattern"} {
		if row := find(t, result, name); row.Value != "see graph" || row.Status != NoMatch || !slices.Contains(row.Reasons, ValueUnreadable) {
			t.Errorf("%+v", row)
		}
	}
	if row := find(t, result, "Date palm IgE"); row.Value != "0.40" || row.Flag != "H" || row.Status != NoMatch {
		t.Errorf("%+v", row)
	}
}

// A report may have unknown analytes only.
func TestReportOfUnknownAnalytes(t *testing.T) {
	result := read(t, FromText, "Zonulin                    48          H      <45                 ng/mL     ")
	if len(result.Rows) != 1 || result.Rows[0].Name != "Zonulin" || result.Rows[0].Status != NoMatch {
		t.Errorf("%+v", result.Rows)
	}
}

// An unknown name on two lines stays whole.
func TestUnknownNameOnTwoLines(t *testing.T) {
	result := read(t, FromText,
		"Sodium                     141                135-145             mmol/L    ",
		"Zonulin in feces,                                                           ",
		"extracted twice            48                 <45                 ng/mL     ",
	)
	if row := find(t, result, "Zonulin in feces, extracted twice"); row.Value != "48" {
		t.Errorf("%+v", row)
	}
}
