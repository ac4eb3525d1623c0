package extract

import "testing"

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
