package extract

import "testing"

// The second line of a name belongs to it, also if unit or value are wrapped as well.
func TestWrappedRows(t *testing.T) {
	result := read(t, FromText,
		"Estimated                  48                 >60                 mL/min/   ",
		"GFR                                                               1.73 m²   ",
		"",
		"Sodium                     141                135-145             mmol/L    ",
		"",
		"HIV 1/2                    Non-               Non-                          ",
		"antibody                   reactive           reactive                      ",
		"",
		"Hepatitis C                Non-               Non-                          ",
		"antibody                   reactive           reactive                      ",
		"",
		"Albumin/                   >                  <30                 mg/g      ",
		"creatinine ratio           300                                              ",
		"",
		"Syphilis                   Reactive           Non-                          ",
		"antibody                   (weak)             reactive                      ",
	)
	if row := find(t, result, "Estimated GFR"); *row.Number != 48 || row.UCUM != "mL/min/{1.73_m2}" || *row.Range.Min != 60 || row.NeedsReview {
		t.Errorf("%+v", row)
	}
	for _, name := range []string{"HIV 1/2 antibody", "Hepatitis C antibody"} {
		if row := find(t, result, name); row.Value != "Non-reactive" || row.Interpretation != "normal" {
			t.Errorf("%+v", row)
		}
	}
	if row := find(t, result, "Albumin/creatinine ratio"); row.Comparator != ">" || *row.Number != 300 || row.Interpretation != "abnormal" {
		t.Errorf("%+v", row)
	}
	if row := find(t, result, "Syphilis antibody"); row.Value != "Reactive" || row.Note != "weak" || row.Interpretation != "abnormal" {
		t.Errorf("%+v", row)
	}
	if len(result.Rows) != 6 {
		t.Errorf("%d rows", len(result.Rows))
	}
}
