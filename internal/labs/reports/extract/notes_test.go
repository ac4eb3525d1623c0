package extract

import (
	"slices"
	"testing"
)

// Words beside a value are kept. Words that cast doubt on it, and words that are not
// known, ask for a review.
func TestWordsBesideValues(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
		"Test                       Result            Flag   Reference range     Units     Comments",
		"Potassium                  7.2 hemolyzed     HH     3.5-5.1             mmol/L",
		"Glucose                    5.1 (repeat)             3.9-5.5             mmol/L",
		"Troponin I                 <0.01 see note           <0.04               ng/mL",
		"Sodium                     139                      135-145             mmol/L    Sample contaminated",
		"Chloride                   101                      98-107              mmol/L    checked twice",
		"Calcium                    9.4 mg/dL                8.6-10.3",
		"Magnesium                  2.0                      1.5-2.5             mg/dL",
		"  Specimen grossly hemolyzed, interpret with caution",
		"Phosphorus                 3.3                      2.5-4.5             mg/dL",
		"Urea Nitrogen              12 widgets               7-20                mg/dL",
		"Creatinine                 1.1 not hemolyzed        0.6-1.3             mg/dL",
		"Platelets                  250                      150-400             10^9/L estimate only",
		"AST                        QNS                      5-40                U/L",
		"Chlamydia DNA              Not detected in urine    Not detected",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		name, value, note string
		doubted           bool
	}{
		{"Potassium", "7.2", "hemolyzed", true},
		{"Glucose", "5.1", "repeat", false},
		{"Troponin I", "<0.01", "see note", true},
		{"Sodium", "139", "Sample contaminated", true},
		{"Chloride", "101", "checked twice", false},
		{"Calcium", "9.4", "", false},
		{"Magnesium", "2.0", "Specimen grossly hemolyzed, interpret with caution", true},
		{"Phosphorus", "3.3", "", false},
		{"Urea Nitrogen", "12", "widgets", true},
		{"Creatinine", "1.1", "not hemolyzed", true},
		{"Platelets", "250", "estimate only", true},
		{"AST", "QNS", "", true},
		{"Chlamydia DNA", "Not detected", "in urine", false},
	} {
		row := find(t, result, want.name)
		if row.Value != want.value || row.Note != want.note || slices.Contains(row.Reasons, ValueDoubted) != want.doubted {
			t.Errorf("%+v: %q, note %q, %v", want, row.Value, row.Note, row.Reasons)
		}
	}
}

// A doubt about the specimen is one about all rows.
func TestDoubtAboutTheSpecimen(t *testing.T) {
	for line, want := range map[string]bool{
		"Sample condition: moderately hemolysed": true, "Specimen: Clotted": true,
		"Sample not hemolyzed": false, "Hemolysis: none": false, "Hemolyzed samples are rejected": false,
	} {
		result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:3]), line, "", head[4],
			"Potassium                  7.2         HH     3.5-5.1             mmol/L",
			"Glucose                    5.1                3.9-5.5             mmol/L",
		)...)}})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Potassium", "Glucose"} {
			if row := find(t, result, name); slices.Contains(row.Reasons, ValueDoubted) != want {
				t.Errorf("%s: %s: %v", line, name, row.Reasons)
			}
		}
	}
}

// Words in the line directly below a row are about the row. They can call it critical or
// cast doubt on it; other words that are not known ask for a review. Headings, methods,
// explanations of ranges and feet are none of them.
func TestWordsBelowARow(t *testing.T) {
	for _, c := range []struct {
		line                         string
		isNote, isReview, isCritical bool
	}{
		{line: "CRITICAL VALUE called to Dr. Lee 10/18/2026 09:30", isNote: true, isReview: true, isCritical: true},
		{line: "   Critical value called to Dr. Lee, read back.", isNote: true, isReview: true, isCritical: true},
		{line: "Panic value, phoned to ward 3.", isNote: true, isReview: true, isCritical: true},
		{line: "                           Critical value called to Dr. Lee", isNote: true, isReview: true, isCritical: true},
		{line: "Result phoned to ward 3.", isNote: true, isReview: true},
		{line: "Not a critical value, no call made.", isNote: true, isReview: true},
		{line: "Sample received 9 hours after collection on cells.", isNote: true, isReview: true},
		{line: "Tube underfilled.", isNote: true, isReview: true},
		{line: "                           Tube underfilled, interpret with caution", isNote: true, isReview: true},
		{line: "Tourniquet time unknown; interpret with caution.", isNote: true, isReview: true},
		{line: "                           Estimated from smear, clumping", isNote: true, isReview: true},
		{line: "Platelet clumps present; count is an estimate.", isNote: true, isReview: true},
		{line: "   Widget slightly bent", isNote: true, isReview: true},
		{line: "Comment: widget bent", isNote: true, isReview: true},
		{line: "   Non-fasting sample", isNote: true},
		{line: "Critical: <2.5 or >6.5 mmol/L"},
		{line: "Desirable <100; borderline 130-159; high 160-189 mg/dL."},
		{line: "Method: ion selective electrode"},
		{line: "BONE MARKERS"},
		{line: "Lipid Panel"},
		{line: "Page 1 of 2"},
		{line: "Performed at: Northwind, 1 Main Street"},
	} {
		result := read(t, FromText,
			"Glucose                    91                 70-99               mg/dL     ",
			"Platelets                  92          L      150-400             10^3/uL   ",
			c.line,
			"Sodium                     139                135-145             mmol/L    ",
		)
		row, next := find(t, result, "Platelets"), find(t, result, "Sodium")
		if len(result.Rows) != 3 || (row.Note != "") != c.isNote || row.NeedsReview != c.isReview || (row.Interpretation == "critical") != c.isCritical || row.HasCriticalFlag() != c.isCritical || next.NeedsReview || next.Note != "" {
			t.Errorf("%+v: %d rows, %q, %q, %v, %s; %+v", c, len(result.Rows), row.Note, row.Flag, row.Reasons, row.Interpretation, next)
		}
	}
}

// A flag may be between unit and range.
func TestFlagBehindUnit(t *testing.T) {
	result := read(t, FromText, "Sodium 165 mmol/L HH 135-145", "Potassium 4.1 mmol/L 3.5-5.1", "Glucose 120 mg/dL (H) 70-99")
	for name, want := range map[string]string{"Sodium": "critical", "Potassium": "normal", "Glucose": "abnormal"} {
		if row := find(t, result, name); row.Interpretation != want || row.NeedsReview {
			t.Errorf("%s is %s with the flag %q: %v", name, row.Interpretation, row.Flag, row.Reasons)
		}
	}
}
