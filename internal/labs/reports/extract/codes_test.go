package extract

import (
	"slices"
	"testing"
)

// A printed LOINC code is no value. One that is not of the name asks for a review.
func TestPrintedCodes(t *testing.T) {
	result := readText(t,
		"Glucose                2345-7     95     mg/dL       70-99",
		"Sodium (2823-3)        139        mmol/L             135-145",
		"Potassium 2823-3       4.1        mmol/L             3.5-5.1",
		"",
		"Test            LOINC      Result    Units     Range",
		"Chloride        2075-0     101       mmol/L    98-107",
		"Calcium         2951-2     9.4       mg/dL     8.6-10.3",
	)
	for _, want := range []struct {
		name, value, code string
		differs           bool
	}{{"Glucose", "95", "2345-7", false}, {"Sodium", "139", "2951-2", true}, {"Potassium", "4.1", "2823-3", false}, {"Chloride", "101", "2075-0", false}, {"Calcium", "9.4", "17861-6", true}} {
		row := find(t, result, want.name)
		if row.Value != want.value || row.Matches[0].Code != want.code || slices.Contains(row.Reasons, CodeDiffers) != want.differs {
			t.Errorf("%+v: %+v", want, row)
		}
	}
}
