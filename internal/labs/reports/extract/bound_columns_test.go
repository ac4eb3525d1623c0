package extract

import (
	"slices"
	"testing"
)

// The bounds of a range can have columns of their own.
func TestColumnsOfBounds(t *testing.T) {
	for _, headers := range [][2]string{{"Low", "High"}, {"Min", "Max"}, {"LL", "UL"}, {"Ref Low", "Ref High"}, {"Lower limit", "Upper limit"}, {"Ref. range from", "to"}} {
		p := printedPage(FromText, append(slices.Clone(head[:4]),
			"Test                Result                                                      Unit        ",
			"Sodium              131         135                     145                     mmol/L      ",
			"Potassium           4.4         3.5                     5.1                     mmol/L      ",
			"CRP                 41                                  5                       mg/L        ",
			"HDL cholesterol     0.9         1.2                                             mmol/L      ",
			"Calcium             2.3         -                       -                       mmol/L      ",
			"Chloride            104         98                      see note 1              mmol/L      ")...)
		for i, text := range headers {
			p.Words = append(p.Words, Word{Text: text, Confidence: 1, Box: Box{X: 20 + float64(32+24*i)*5, Y: 20 + 4*12, Width: float64(len(text)) * 5, Height: 10}})
		}
		result, err := Read(Document{Pages: []Page{p}})
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []struct {
			name, interpretation string
			min, max             float64 // 0: none
		}{
			{"Sodium", "abnormal", 135, 145}, {"Potassium", "normal", 3.5, 5.1}, {"CRP", "abnormal", 0, 5}, {"HDL cholesterol", "abnormal", 1.2, 0}, {"Calcium", "unknown", 0, 0},
		} {
			row := find(t, result, want.name)
			low, high := row.Range.Min, row.Range.Max
			if (low == nil) != (want.min == 0) || (high == nil) != (want.max == 0) || low != nil && *low != want.min || high != nil && *high != want.max || row.Interpretation != want.interpretation || row.NeedsReview {
				t.Errorf("%v: %+v", headers, row)
			}
		}
		if row := find(t, result, "Chloride"); !slices.Contains(row.Reasons, RangeUnreadable) {
			t.Errorf("%v: %+v", headers, row)
		}
	}
}

// The value can be between its bounds.
func TestValueBetweenBounds(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
		"Test                Min         Result      Max         Unit        ",
		"Urea                2.5         9.1         7.8         mmol/L      ",
		"Calcium             2.20        2.31        2.60        mmol/L      ")...)}})
	if err != nil {
		t.Fatal(err)
	}
	if row := find(t, result, "Urea"); *row.Number != 9.1 || *row.Range.Max != 7.8 || !row.AboveMax {
		t.Errorf("%+v", row)
	}
}
