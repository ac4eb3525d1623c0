package extract

import (
	"slices"
	"testing"
)

// A range in another unit than the value says nothing about the value.
func TestRangeInAnotherUnit(t *testing.T) {
	result := read(t, FromText,
		"Glucose                    5.6 mmol/L         70-99 mg/dL                   ",
		"Calcium                    2.31 mmol/L        (8.6-10.2 mg/dL)              ",
		"Hemoglobin                 13.1               M: 130-170 g/L F: 120-155 g/L   g/dL      ",
		"Hemoglobin A1c             48 mmol/mol        4.0-5.6 %                     ",
	)
	for name, text := range map[string]string{
		"Glucose": "70-99 mg/dL", "Calcium": "(8.6-10.2 mg/dL)", "Hemoglobin": "M: 130-170 g/L F: 120-155 g/L", "Hemoglobin A1c": "4.0-5.6 %",
	} {
		row := find(t, result, name)
		hasBounds := row.Range.Min != nil || row.Range.Max != nil
		if hasBounds || row.Range.Text != text || !slices.Contains(row.Reasons, UnitConflict) || row.Interpretation != "unknown" && row.Flag == "" {
			t.Errorf("%+v", row)
		}
	}
}

// Other words for the unit of the value are no other unit.
func TestRangeInTheSameUnit(t *testing.T) {
	result := read(t, FromText,
		"Potassium                  4.1 mmol/L         3.5-5.1 mmol/L                ",
		"Sodium                     141 mmol/L         135-145 mEq/L                 ",
		"TSH                        2.31 mIU/L         0.4-4.5 uIU/mL                ",
		"Ferritin                   31 ug/L            15-150 ng/mL                  ",
		"eGFR                       48 mL/min/1.73m2   >60 mL/min/1.73m2             ",
		"Albumin/Creatinine Ratio   12 mg/g            <30 mg/g creat                ",
		"ALT                        21 U/L             0-34 IU/L                     ",
		"Platelets                  245 10^9/L         150-400 x10E3/uL              ",
		"Hemoglobin A1c             5.1 %              <5.7 % of total Hgb           ",
	)
	for _, row := range result.Rows {
		if row.NeedsReview || !row.Range.hasBounds() {
			t.Errorf("%+v", row)
		}
	}
	if len(result.Rows) != 9 {
		t.Errorf("%+v", result.Rows)
	}
}
