package extract

import "testing"

// A portal prints the range below the name, and the value below the range or beside the
// name.
func TestRangeBelowName(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText,
		head[0], head[1], head[2], "",
		"Ferritin",
		"Normal range: 15 - 150 ng/mL",
		"Value 8",
		"",
		"eGFR",
		"Normal range: above >59 mL/min/1.73m2",
		"Value 48",
		"",
		"Sodium     131 mmol/L",
		"Normal value: 135 - 145 mmol/L",
		"",
		"Potassium     5.6 mmol/L",
		"Reference range: 3.5 - 5.1 mmol/L",
		"",
		"Chloride     101 mmol/L     98-107",
		"Reference: see the handbook")}})
	if err != nil {
		t.Fatal(err)
	}
	for name, low := range map[string]float64{"Ferritin": 15, "eGFR": 59, "Sodium": 135, "Potassium": 3.5, "Chloride": 98} {
		row := find(t, result, name)
		if row.Range.Min == nil || *row.Range.Min != low || row.UCUM == "" || row.NeedsReview || (row.Interpretation == "abnormal") == (name == "Chloride") {
			t.Errorf("%+v", row)
		}
	}
}

// Words behind a range say that the value is outside of it.
func TestFlagBehindRange(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText,
		head[0], head[1], head[2], "",
		"Serum potassium level          5.6 mmol/L [3.5 - 5.3]; Above high reference limit",
		"Serum sodium level             139 mmol/L [133.0 - 146.0]",
		"Serum free T4 level: 9.1 pmol/L [12.0 - 22.0]; Below low reference limit",
		"GFR calculated abbreviated MDRD          46 mL/min/1.73m*2")}})
	if err != nil {
		t.Fatal(err)
	}
	if row := find(t, result, "Serum potassium level"); row.Flag != "Above high reference limit" || *row.Range.Max != 5.3 || !row.AboveMax || row.NeedsReview {
		t.Errorf("%+v", row)
	}
	if row := find(t, result, "Serum free T4 level"); *row.Range.Min != 12 || !row.BelowMin || row.NeedsReview {
		t.Errorf("%+v", row)
	}
	if row := find(t, result, "GFR calculated abbreviated MDRD"); *row.Number != 46 || row.UCUM != "mL/min/{1.73_m2}" {
		t.Errorf("%+v", row)
	}
}
