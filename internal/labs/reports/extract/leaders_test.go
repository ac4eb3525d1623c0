package extract

import (
	"slices"
	"testing"
)

// Dotted leaders without blanks are between names and values.
func TestDottedLeaders(t *testing.T) {
	check := func(result Result) {
		t.Helper()
		for _, want := range []struct{ name, value, unit, rng string }{
			{"Sodium", "139", "mmol/L", "136-145"},
			{"Glucose", "7.9", "mmol/L", "3.9-5.6"},
			{"Calcium", "3.4", "mmol/L", "2.15-2.55"},
			{"Zonulin", "61", "ng/mL", "<45"},
		} {
			row := find(t, result, want.name)
			if row.Value != want.value || row.Unit != want.unit || row.Range.Text != want.rng || row.Status == AutoMatch && row.NeedsReview || row.Box.Width <= 0 {
				t.Errorf("%+v", row)
			}
		}
		if len(result.Rows) != 4 {
			t.Errorf("%d rows", len(result.Rows))
		}
	}
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
		"Test            Result               Reference       ",
		"Sodium          139 mmol/L           136-145         ",
		"Glucose.........7.9 mmol/L           3.9-5.6         ",
		"Calcium.........3.4mmol/L            2.15-2.55       ",
		"Zonulin........ 61 ng/mL             <45             ",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	check(result)
	result, err = Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
		"Sodium.............139 mmol/L 136-145",
		"Glucose............7.9 mmol/L 3.9-5.6",
		"Calcium...3.4 mmol/L 2.15-2.55",
		"Zonulin ....61 ng/mL <45",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	check(result)
}

func TestSplitLeaders(t *testing.T) {
	for text, want := range map[string][]string{
		"Glucose....7.9": {"Glucose", "7.9"}, "....7.9": {"7.9"}, "Glucose....": {"Glucose"}, "......": {"......"}, "Glucose...7.9": {"Glucose", "7.9"}, "see...below": {"see...below"}, "7.9": {"7.9"}, "...": {"..."},
	} {
		var got []string
		for _, w := range splitLeaders([]Word{{Text: text, Box: Box{Width: 100, Height: 10}}}) {
			got = append(got, w.Text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", text, got)
		}
	}
}
