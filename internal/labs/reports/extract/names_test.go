package extract

import (
	"slices"
	"testing"
)

func TestMatch(t *testing.T) {
	d := theDictionary()
	for _, c := range []struct {
		name    string
		context context
		want    string
		status  MatchStatus
	}{
		{"Glucose, Serum", context{unit: "mg/dL", ucum: "mg/dL", numeric: true, specimen: "serum_plasma_blood"}, "2345-7", AutoMatch},
		{"eGFR", context{unit: "mL/min/1.73m2", ucum: "mL/min/{1.73_m2}", numeric: true}, "98979-8", AutoMatch},
		{"Hepatitis B Surface Antigen", context{}, "5195-3", AutoMatch},
		{"Glucose", context{specimen: "urine"}, "25428-4", AutoMatch},
		{"Creatinine", context{unit: "µmol/L", ucum: "umol/L", numeric: true}, "14682-9", AutoMatch},
		{"Neutrophils", context{unit: "10^9/L", ucum: "10*3/uL", numeric: true}, "751-8", AutoMatch},
		{"Haemoglobin", context{unit: "g/L", ucum: "g/L", numeric: true}, "718-7", AutoMatch},
		{"Adropin Index", context{unit: "ng/mL", ucum: "ng/mL", numeric: true}, "", NoMatch},
	} {
		matches, status := d.match(c.name, c.context)
		got := ""
		if len(matches) > 0 && status != NoMatch {
			got = matches[0].Code
		}
		if got != c.want || status != c.status {
			t.Errorf("%s in %+v is %s %s, want %s %s: %+v", c.name, c.context, got, status, c.want, c.status, matches)
		}
	}
}

// A printed LOINC code is no value. One that is not of the name asks for a review.
func TestPrintedCodes(t *testing.T) {
	result := readText(t,
		"Glucose                2345-7     95     mg/dL       70-99",
		"Sodium (2823-3)        139        mmol/L             135-145",
		"Potassium 2823-3       4.1        mmol/L             3.5-5.1",
		"",
		"Test            LOINC      Result    Units     Range",
		"Chloride        2075-0     101       mmol/L    98-107",
		"Calcium         2951-2     9.4       mg/dL     8.6-10.3",
	)
	for _, want := range []struct {
		name, value, code string
		differs           bool
	}{{"Glucose", "95", "2345-7", false}, {"Sodium", "139", "2951-2", true}, {"Potassium", "4.1", "2823-3", false}, {"Chloride", "101", "2075-0", false}, {"Calcium", "9.4", "17861-6", true}} {
		row := find(t, result, want.name)
		if row.Value != want.value || row.Matches[0].Code != want.code || slices.Contains(row.Reasons, CodeDiffers) != want.differs {
			t.Errorf("%+v: %+v", want, row)
		}
	}
}

// Names of a letter, a hyphen and a number are read in lists without a header.
func TestHyphenatedVitamins(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(slices.Clone(head[:4]),
		"Sodium 139 mmol/L 136-145",
		"B-12 105 pg/mL 200-900",
		"D-dimer 1250 ng/mL <500",
		"K-1 12 ng/mL <5",
		"IL-6 210 pg/mL <7",
		"Chloride 101 mmol/L 98-107",
		"A-1 12 rooms",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ name, value, rng, code string }{
		{"B-12", "105", "200-900", "2132-9"},
		{"D-dimer", "1250", "<500", "48065-7"},
		{"K-1", "12", "<5", ""},
		{"IL-6", "210", "<7", ""},
	} {
		row := find(t, result, want.name)
		code := ""
		if len(row.Matches) > 0 {
			code = row.Matches[0].Code
		}
		if row.Value != want.value || row.Range.Text != want.rng || code != want.code {
			t.Errorf("%+v", row)
		}
	}
	if len(result.Rows) != 6 {
		t.Errorf("%d rows", len(result.Rows))
	}
}
