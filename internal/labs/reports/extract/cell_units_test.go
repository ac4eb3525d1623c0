package extract

import "testing"

// "G/l" is giga per litre for counts of cells, and grams per litre for other analytes.
func TestUnitsOfCells(t *testing.T) {
	for _, c := range []struct{ name, unit, ucum string }{
		{"Thrombozyten", "G/l", "10*3/uL"},
		{"Plaquettes", "G/L", "10*3/uL"},
		{"Lymphozyten", "G/l", "10*3/uL"},
		{"Platelets", "G/L", "10*3/uL"},
		{"WBC", "Gpt/L", "10*3/uL"},
		{"Erythrozyten", "T/l", "10*6/uL"},
		{"RBC", "Tpt/L", "10*6/uL"},
		{"Erythrozyten", "Mio/µl", "10*6/uL"},
		{"Platelets", "10^9/L", "10*3/uL"},
		{"Albumin", "G/l", "g/L"},
		{"Hemoglobin", "G/L", "g/L"},
		{"Zonulin", "G/l", "g/L"},
		{"Thrombozyten", "g/l", "g/L"},
	} {
		result := read(t, FromText, "Sodium                     139                135-145             mmol/L    ", pad(c.name, 27)+"33                 15-50               "+c.unit)
		if row := find(t, result, c.name); row.UCUM != c.ucum || row.Unit != c.unit {
			t.Errorf("%s: %s is %s, want %s", c.name, row.Unit, row.UCUM, c.ucum)
		}
	}
	if row := find(t, read(t, FromText, "Sodium                     139                135-145             mmol/L    ", "Platelets                  33                 150-370             G/l"), "Platelets"); row.Status != AutoMatch || row.NeedsReview || row.Interpretation != "abnormal" {
		t.Errorf("%+v", row)
	}
}
