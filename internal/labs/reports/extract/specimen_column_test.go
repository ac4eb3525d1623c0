package extract

import (
	"slices"
	"testing"
)

// The column of specimens decides the code of a row. A specimen that is not known asks for
// a review.
func TestColumnOfSpecimens(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
		"Test                Specimen        Result      Units       Reference range     ",
		"Glucose             CSF             1.1         mmol/L      2.2-4.4             ",
		"Sodium              Urine           20          mmol/L      20-110              ",
		"Potassium           Serum           4.1         mmol/L      3.5-5.1             ",
		"Creatinine          U               45          mg/dL       20-275              ",
		"Chloride            S               101         mmol/L      98-107              ",
		"Magnesium           Mucus           0.9         mmol/L      0.7-1.0             ",
		"Calcium             A-48213         2.3         mmol/L      2.15-2.55           ",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		name, code, specimen string // of a match that is sure
	}{
		{"Glucose", "", "other"},
		{"Sodium", "2955-3", "urine"},
		{"Potassium", "2823-3", "serum_plasma_blood"},
		{"Creatinine", "2161-8", "urine"},
		{"Chloride", "2075-0", "serum_plasma_blood"},
		{"Magnesium", "2601-3", "serum_plasma_blood"},
		{"Calcium", "2000-8", "serum_plasma_blood"},
	} {
		row := find(t, result, want.name)
		code := ""
		if row.Status == AutoMatch {
			code = row.Matches[0].Code
		}
		if needsReview := want.name == "Glucose" || want.name == "Magnesium"; code != want.code || row.SampleType != want.specimen || row.NeedsReview != needsReview {
			t.Errorf("%s is %s of %s, %v", want.name, code, row.SampleType, row.Reasons)
		}
	}
}

// A name that states another specimen does not take that of the heading.
func TestSpecimenOfName(t *testing.T) {
	result := read(t, FromText,
		"BLOOD CULTURE",
		"Clostridioides difficile toxin PCR: Not detected",
		"MRSA screen (nose): NEGATIVE",
		"Chlamydia trachomatis PCR, urine: DETECTED",
		"Streptococcus PCR, throat: Not detected",
		"HSV PCR, CSF: Not detected",
		"HIV antibody: Negative",
		"Genital herpes IgG: Negative",
		"FIT                        14                 <10                 ug/g      ",
		"Tissue Transglutaminase IgA   3               <4                  U/mL      ",
		"Potassium                  4.1                3.5-5.1             mmol/L    ",
	)
	for name, want := range map[string]string{
		"Clostridioides difficile toxin PCR": "stool", "MRSA screen (nose)": "other", "Chlamydia trachomatis PCR, urine": "urine", "Streptococcus PCR, throat": "other",
		"HSV PCR, CSF": "other", "HIV antibody": "serum_plasma_blood", "Genital herpes IgG": "serum_plasma_blood", "FIT": "stool", "Tissue Transglutaminase IgA": "serum_plasma_blood", "Potassium": "serum_plasma_blood",
	} {
		if row := find(t, result, name); row.SampleType != want {
			t.Errorf("%s is of %s, want %s", name, row.SampleType, want)
		}
	}
}
