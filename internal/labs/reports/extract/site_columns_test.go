package extract

import (
	"slices"
	"testing"
)

// Letters in a column of laboratories are no flags.
func TestColumnOfLaboratories(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
		"Test                Result      Flag    Units       Reference range     Lab     ",
		"Sodium              139                 mmol/L      135-145             A       ",
		"Potassium           4.4                 mmol/L      3.5-5.1             H       ",
		"CRP                 2                   mg/L        <5                  L       ",
		"Urea                9.1         H       mmol/L      2.5-7.8             A       ",
		"ALT                 21                  U/L         0-34                C       ",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range result.Rows {
		if isUrea := row.Name == "Urea"; (row.Flag == "H") != isUrea || !isUrea && row.Flag != "" || row.NeedsReview {
			t.Errorf("%+v", row)
		}
	}
}

// A list of limits and a rule for two units are no results.
func TestLimitsAreNoResults(t *testing.T) {
	result := read(t, FromText,
		"Sodium                     141                135-145             mmol/L    ",
		"Potassium                  4.9                3.5-5.1             mmol/L    ",
		"", "",
		"Critical limits for this laboratory: Sodium <120 or >160 mmol/L, Potassium <2.5 or >6.5 mmol/L.",
		"", "",
		"1 mmol/L glucose = 18 mg/dL",
		"", "",
		"Calcium of 3.9 mmol/L is above the critical limit.")
	var names []string
	for _, row := range result.Rows {
		names = append(names, row.Name)
	}
	if !slices.Equal(names, []string{"Sodium", "Potassium", "Calcium"}) {
		t.Errorf("%v", names)
	}
}
