package extract

import (
	"slices"
	"testing"
)

func TestCoarseNumbers(t *testing.T) {
	for _, c := range []struct{ text, name, want string }{
		{"-0.56", "Creatinine", "0.56"},
		{"- 3", "Squamous Epithelial Cells", "3"},
		{"-3.1", "Base Excess", "-3.1"},
		{"-2.5", "T-score", "-2.5"},
		{"HM 24", "Erythrocyte Sedimentation Rate", "24"},
		{"ee ~~ 43", "Creatinine", "43"},
		{"H 24", "Sodium", "H 24"}, // a flag
		{"< 24", "Sodium", "< 24"},
		{"1 24", "Sodium", "1 24"}, // two numbers
		{"Non-Reactive", "HIV", "Non-Reactive"},
		{"1:40", "ANA", "1:40"},
	} {
		if got := coarseNumber(c.text, c.name); got != c.want {
			t.Errorf("%q of %s is %q, want %q", c.text, c.name, got, c.want)
		}
	}
}

func TestAMissingDecimalPoint(t *testing.T) {
	for _, c := range []struct {
		value, rng, want string
		commas           bool
	}{
		{"28", "1.9-3.7", "2.8", false},
		{"48", "3,5-5,1", "4,8", true},
		{"1004", "1.001-1.035", "1.004", false},
		{"28", "19-37", "28", false},
		{"9", "0.6-1.2", "9", false},    // too short for the point
		{"28", "1.9-37.0", "28", false}, // fits as it is
		{"280", "1.9-3.7", "280", false},
		{"2.8", "1.90-3.70", "2.8", false},
		{"<28", "1.9-3.7", "<28", false},
		{"28", "<=3.7", "28", false}, // one bound says little
	} {
		value, _ := ParseValue(c.value, c.commas)
		row := Row{Value: value.Text, Type: value.Type, Number: value.Number, Comparator: value.Comparator, Range: ParseRange(c.rng, c.commas, Patient{Age: -1})}
		if hasLostPoint(&row, value) {
			putPoint(&row, c.commas)
		}
		if row.Value != c.want {
			t.Errorf("%s in %s is %s, want %s", c.value, c.rng, row.Value, c.want)
		}
		if number, _, ok := parseNumber(row.Value, c.commas); ok && row.Number != nil && *row.Number != number {
			t.Errorf("%s has the number %v", row.Value, *row.Number)
		}
	}
}

func TestSimilarLetters(t *testing.T) {
	d := theDictionary()
	for _, c := range []struct{ name, unit, code string }{
		{"ROW", "%", "788-0"},
		{"MPY", "fL", "32623-1"},
		{"mMPv™", "fL", "32623-1"},
		{"XYZ", "fL", ""},
	} {
		matches, status := d.match(c.name, context{unit: c.unit, ucum: c.unit, numeric: true, coarse: true})
		code := ""
		if len(matches) > 0 && status != NoMatch {
			code = matches[0].Code
		}
		if code != c.code || status == AutoMatch {
			t.Errorf("%s is %q (%s), want %q for review", c.name, code, status, c.code)
		}
		if found, _ := d.match(c.name, context{unit: c.unit, ucum: c.unit, numeric: true}); len(found) > 0 && c.code != "" {
			t.Errorf("%s in a clear document is %s", c.name, found[0].Code)
		}
	}
}

func TestAThirdReadingThatFits(t *testing.T) {
	for _, c := range []struct{ value, rng, third, want string }{
		{"255", "1.9-3.7", "2.5", "2.5"},
		{"329", "<5.7", "3.9", "3.9"},
		{"255", "1.9-3.7", "25.5", "255"}, // as implausible
		{"255", "1.9-3.7", "2", "255"},    // without the decimals of the range
		{"3.5", "1.9-3.7", "2.5", "3.5"},  // the value is plausible
		{"255", "19-37", "25", "255"},
	} {
		value, _ := ParseValue(c.value, false)
		row := Row{Value: value.Text, OtherValue: value.Text, Type: value.Type, Number: value.Number, Range: ParseRange(c.rng, false, Patient{Age: -1})}
		if *row.Number > 4**row.Range.Max {
			row.Reasons = append(row.Reasons, Implausible)
		}
		if value.Decimals < rangeDecimals(row.Range.Text) {
			row.Reasons = append(row.Reasons, PrecisionDiffers)
		}
		if row.Reconsider(c.third); row.Value != c.want {
			t.Errorf("%s in %s, then %s, is %s, want %s", c.value, c.rng, c.third, row.Value, c.want)
		}
		if row.Value != c.value && !row.NeedsReview {
			t.Errorf("%s needs no review", row.Value)
		}
	}
}

// A scan can lose the point of a value and of its range alike. Both are then far from what
// is usual for the analyte. Other units are no such case.
func TestValueAndRangeWithoutPoints(t *testing.T) {
	lines := []string{
		"Glucose                    42                 39-55               mmol/L    ",
		"TSH                        21                 04-40               mIU/L     ",
		"Hemoglobin                 131                120-160             g/L       ",
		"Leukocytes                 6100               4000-11000          /uL       ",
		"Creatinine                 80                 59-104              umol/L    ",
		"Sodium                     139                135-145             mmol/L    ",
	}
	want := map[string]bool{"Glucose": true, "TSH": true}
	for _, source := range []Source{FromOCR, FromText} {
		result := read(t, source, lines...)
		for _, name := range []string{"Glucose", "TSH", "Hemoglobin", "Leukocytes", "Creatinine", "Sodium"} {
			row := find(t, result, name)
			if got := slices.Contains(row.Reasons, Implausible); got != (want[name] && source == FromOCR) {
				t.Errorf("%s of %s: %v", name, source, row.Reasons)
			}
		}
	}
}
