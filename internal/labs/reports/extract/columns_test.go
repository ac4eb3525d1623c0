package extract

import (
	"slices"
	"testing"
)

// A row with a value only under the earlier date is kept for a person, without a number,
// and keeps its range.
func TestRowWithOnlyAnOlderValue(t *testing.T) {
	lines := append(slices.Clone(head[:4]),
		"Test                  11/20/2024     03/02/2024     Units        Reference Range",
		"Glucose               92             131            mg/dL        70-99          ",
		"Ferritin                             8              ng/mL        15-150         ",
		"Potassium             4.2            7.1            mmol/L       3.5-5.1        ",
	)
	result, err := Read(Document{Pages: []Page{printed(FromText, lines...)}})
	if err != nil {
		t.Fatal(err)
	}
	if row := find(t, result, "Ferritin"); row.Value != "8" || row.Number != nil || row.Interpretation != "unknown" || row.Range.Text != "15-150" || !slices.Contains(row.Reasons, OlderResult) {
		t.Errorf("the older value: %+v", row)
	}
	if row := find(t, result, "Potassium"); row.Value != "4.2" || row.Range.Text != "3.5-5.1" || row.NeedsReview {
		t.Errorf("the next row: %+v", row)
	}
}

// In a report with decimal commas, 1,250 may be a thousand or one: its number is not
// certain, unless the range has three decimals too.
func TestCommaThatMayGroup(t *testing.T) {
	result := read(t, FromText,
		"Glucose                    5,2                3,9-5,5             mmol/L    ",
		"Potassium                  4,2                3,5-5,1             mmol/L    ",
		"Hemoglobin                 9,8         L      11,1-15,9           g/dL      ",
		"Platelets                  1,250       H      150-400             10^3/uL   ",
		"Specific Gravity           1,015              1,005-1,030                   ",
	)
	if row := find(t, result, "Platelets"); row.Number != nil || row.Value != "1,250" || row.Interpretation != "abnormal" || !slices.Contains(row.Reasons, NumberUncertain) {
		t.Errorf("1,250: %+v", row)
	}
	if row := find(t, result, "Specific Gravity"); row.Number == nil || *row.Number != 1.015 {
		t.Errorf("1,015: %+v", row)
	}
}
