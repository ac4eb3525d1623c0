package extract

import (
	"slices"
	"testing"
)

// A name that several analytes share gets its code from value, unit and range.
func TestCodesOfSharedNames(t *testing.T) {
	for _, c := range []struct {
		line, name, code string
		reason           Reason
	}{
		{"Bilirubin                  14                 3-21                umol/L    ", "Bilirubin", "14631-6", ""},
		{"Bilirubin                  0.8                0.2-1.2             mg/dL     ", "Bilirubin", "1975-2", ""},
		{"Bilirubin                  1.1                0.2-1.2             mg%       ", "Bilirubin", "1975-2", ""},
		{"Bilirubin                  Negative           Negative                      ", "Bilirubin", "5770-3", ""},
		{"Neutrophils                1.3         L      2.0-7.5                       ", "Neutrophils", "751-8", UnitMissing},
		{"Neutrophils                1300        L      2000-7500                     ", "Neutrophils", "751-8", UnitMissing},
		{"Neutrophils                62                                               ", "Neutrophils", "751-8", UnitMissing},
		{"Neutrophils                62                 40-75                         ", "Neutrophils", "770-8", ""},
		{"Neutrophils %              62                                               ", "Neutrophils %", "770-8", ""},
		{"Neutrophils                62                 40-75               %         ", "Neutrophils", "770-8", ""},
		{"Neutrophils                4.3                2.0-7.5             10^9/L    ", "Neutrophils", "751-8", ""},
		{"Neutrophils                4.3                2.0-7.5             quux/L    ", "Neutrophils", "751-8", UnitUnknown},
		{"Lymphocytes                3.3                1.5-4.0                       ", "Lymphocytes", "731-0", UnitMissing},
		{"Monocytes                  0.4                0.2-0.8                       ", "Monocytes", "742-7", UnitMissing},
		{"Monocytes                  6                  2-10                          ", "Monocytes", "5905-5", ""},
		{"Eosinophils                0.61        H      0.02-0.50                     ", "Eosinophils", "711-2", UnitMissing},
		{"Eosinophils                4                  1-6                           ", "Eosinophils", "713-8", ""},
		{"Basophils                  0.05               0.0-0.2                       ", "Basophils", "704-7", UnitMissing},
		{"Basophils                  1                  0-2                           ", "Basophils", "706-2", ""},
		{"pH                         7.38               7.35-7.45                     ", "pH", "11558-4", ""},
		{"pH                         6.0                5.0-8.0                       ", "pH", "5803-2", ""},
		{"pH                         7.41                                             ", "pH", "5803-2", NameUncertain},
	} {
		result := read(t, FromText,
			"Sodium                     139                135-145             mmol/L    ", c.line,
			"Potassium                  4.1                3.5-5.1             mmol/L    ")
		row := find(t, result, c.name)
		if len(row.Matches) == 0 || row.Matches[0].Code != c.code || row.Status != AutoMatch || row.NeedsReview != (c.reason != "") || c.reason != "" && !slices.Contains(row.Reasons, c.reason) {
			t.Errorf("%s: %s, %v, %+v", c.line, row.Status, row.Reasons, row.Matches)
		}
	}
}
