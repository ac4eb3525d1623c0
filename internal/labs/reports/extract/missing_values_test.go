package extract

import (
	"slices"
	"testing"
)

// Words in place of a value are no result.
func TestWordsInPlaceOfAValue(t *testing.T) {
	result := read(t, FromText,
		"Sodium                     138                135-145             mmol/L    ",
		"Cortisol                   To follow          6.2-19.4            ug/dL     ",
		"Renin                      In progress        0.2-1.6             ng/mL/h   ",
		"Zinc                       Awaiting           700-1200            ug/L      ",
		"Selenium                   Not received       60-120              ug/L      ",
		"Copper                     Referred           800-1550            ug/L      ",
		"Iron                       TNP                27-159              ug/dL     ",
		"Ferritin                   ---                15-150              ng/mL     ",
		"Potassium                  See comment        3.5-5.1             mmol/L    ",
		"Ammonia                    Insufficient sample  11-51             umol/L    ",
		"HIV Ag/Ab, 4th Gen         Pending            Non-Reactive                  ",
		"Hepatitis C Antibody       Non-Reactive       Non-Reactive                  ",
		"Color                      Yellow             Yellow                        ",
	)
	for name, isMissing := range map[string]bool{
		"Sodium": false, "Cortisol": true, "Renin": true, "Zinc": true, "Selenium": true, "Copper": true, "Iron": true, "Ferritin": true, "Potassium": true, "Ammonia": true,
		"HIV Ag/Ab, 4th Gen": true, "Hepatitis C Antibody": false, "Color": false,
	} {
		row := find(t, result, name)
		if slices.Contains(row.Reasons, ValueMissing) != isMissing || row.HasValue() == isMissing || isMissing && (!row.NeedsReview || row.Interpretation != "unknown") {
			t.Errorf("%s %q: %v", name, row.Value, row.Reasons)
		}
	}
}

// A long reason in the column of values belongs to its own row.
func TestReasonInPlaceOfAValue(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
		"Test           Result                                                          Units     Range",
		"Chloride       101                                                             mmol/L    98-107",
		"Lactate        Test not performed: received > 4 hours after the collection     mmol/L    0.5-2.2",
		"Sodium         138                                                             mmol/L    135-145",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	if row := find(t, result, "Lactate"); row.HasValue() || !row.NeedsReview {
		t.Errorf("%+v", row)
	}
	if row := find(t, result, "Chloride"); row.Note != "" || row.NeedsReview {
		t.Errorf("%+v", row)
	}
}
