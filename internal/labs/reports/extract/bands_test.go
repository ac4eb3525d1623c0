package extract

import (
	"slices"
	"testing"
)

var bandHead = append(slices.Clone(head[:4]), "Test                       Result      Units     Reference range",
	"HbA1c                      7.4         %         4.0-5.6",
	"Vitamin D, 25-OH           18          ng/mL     30-100",
	"eGFR                       48          mL/min/1.73m2     >60",
)

// Tables that explain the bands of a range are no results.
func TestTablesOfBands(t *testing.T) {
	for _, lines := range [][]string{
		{"Group                                HbA1c in %", "Non diabetic adults >=18 years       <5.7", "At risk (Prediabetes)                5.7 - 6.4", "Diagnosing Diabetes                  >= 6.5"},
		{"Vitamin D status           Level (ng/mL)", "Deficient                  < 20", "Insufficient               20 - 30", "Potential intoxication     > 100"},
		{"Stage of CKD               eGFR", "G1                         >90", "G2                         60-89", "G3a                        45-59", "G5                         <15"},
		{"Recommendation             Total       LDL", "Optimal                    <200        <100", "Above optimal              -           100-129", "High                       >=240       160-189"},
	} {
		result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(bandHead), lines...)...)}})
		if err != nil {
			t.Fatal(err)
		}
		if len(result.Rows) != 3 {
			t.Errorf("%q: %+v", lines, result.Rows)
		}
	}
}

// Lines with bounds and the names of analytes stay results. An unknown name without unit
// and range needs review.
func TestRowsThatAreNoBands(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(bandHead),
		"Troponin I                 <0.01       ng/mL     <0.04",
		"Ferritin                   >2000       ng/mL     15-150",
		"Peanut                     <0.10       kU/L      <0.35",
		"Cow's milk                 <0.10       kU/L      <0.35",
		"Group 1 mix                <0.35",
		"Group 2 mix                <0.35",
		"Quxin                      <0.10",
		"Zorbin                     >8",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	for name, needsReview := range map[string]bool{"Troponin I": false, "Ferritin": false, "Peanut": false, "Cow's milk": false, "Group 1 mix": true, "Group 2 mix": true, "Quxin": true, "Zorbin": true} {
		if row := find(t, result, name); slices.Contains(row.Reasons, NameUncertain) != needsReview {
			t.Errorf("%s: %v", name, row.Reasons)
		}
	}
}
