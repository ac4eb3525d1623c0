package catalogue

import (
	"cmp"
	"testing"
)

// A reported value names the result with its code. If the code is unknown, it
// names the result with its LOINC code or its name. In doubt it names no
// result.
func TestNaming(t *testing.T) {
	blood := &Marker{ID: 1, Lab: 7, Active: true, ProviderID: "T1", Results: []Result{
		{Name: "Glucose", ProviderID: "GLU", LOINC: "2345-7", Required: true},
		{Name: "Potassium", ProviderID: "K", LOINC: "2823-3", Required: true},
	}}
	urine := &Marker{ID: 2, Lab: 7, Active: true, ProviderID: "T2", Results: []Result{
		{Name: "Glucose", ProviderID: "UGLU", LOINC: "25428-4", Required: true},
		{Name: "Potassium", ProviderID: "K-2", LOINC: "2823-3"},
	}}
	other := &Marker{ID: 3, Lab: 7, Active: true, ProviderID: "T3", Results: []Result{{Name: "TSH", ProviderID: "TSH", LOINC: "3016-3", Required: true}}}
	uncoded := &Marker{ID: 4, Lab: 7, Active: true, ProviderID: "NA", LOINC: "77139-4", Results: []Result{{Name: "Sodium", LOINC: "2951-2", Required: true}}}
	c := newCatalogue(nil, []*Marker{blood, urine, other, uncoded}, nil, nil)
	ordered := []*Marker{blood, urine, uncoded}
	for _, f := range []struct {
		name string
		n    Naming
		want string
		why  CodeProblem
	}{
		{"code and LOINC", NewNaming("T1", "GLU", "2345-7", "x"), "GLU", ""},
		{"the code alone", NewNaming("", "GLU", "", ""), "GLU", ""},
		{"a LOINC code that the lab does not have", NewNaming("T1", "K", "6298-4", ""), "K", ""},
		{"a LOINC code with a typing error", NewNaming("T1", "K", "2345-8", ""), "K", ""},
		{"another code", NewNaming("T1", "GLU2", "2345-7", ""), "GLU", ""},
		{"two results with the LOINC code", NewNaming("", "KX", "2823-3", ""), "", ""},
		{"one of them in the test", NewNaming("T2", "KX", "2823-3", ""), "K-2", ""},
		{"another code, by name in the test", NewNaming("T2", "GLUX", "", "glucose"), "UGLU", ""},
		{"a name of two results", NewNaming("T9", "GLUX", "", "Glucose"), "", ""},
		{"a name with another LOINC code", NewNaming("T1", "GLUX", "1558-6", "Glucose"), "", UnknownCode},
		{"unknown codes", NewNaming("T1", "ZZ", "", "Something"), "", UnknownCode},
		{"the codes of two ordered results", NewNaming("T1", "K", "2345-7", ""), "K", CodeConflict},
		{"the LOINC code of another test", NewNaming("T1", "K", "3016-3", ""), "K", CodeConflict},
		{"the code of another test", NewNaming("T1", "TSH", "2345-7", ""), "GLU", CodeConflict},
		{"the code of the test", NewNaming("NA", "NA", "", "x"), "2951-2", ""},
		{"the codes of the test", NewNaming("NA", "NA", "77139-4", "x"), "2951-2", ""},
		{"the code of the test, the LOINC code of another", NewNaming("NA", "NA", "3016-3", "x"), "2951-2", CodeConflict},
		{"the code of a test with several results, the LOINC code of another", NewNaming("T1", "T1", "3016-3", "x"), "", CodeConflict},
		{"an unknown code of a test without codes", NewNaming("NA", "NA-7", "2951-2", "x"), "2951-2", ""},
		{"an unknown code of a test without codes, the LOINC code of another", NewNaming("NA", "NA-7", "2345-7", "x"), "GLU", CodeConflict},
		{"a result that was not ordered", NewNaming("T3", "TSH", "3016-3", "TSH"), "", ""},
	} {
		r, _ := f.n.FindResult(ordered)
		if why := c.CheckCodes(7, ordered, []Naming{f.n}); cmp.Or(r.ProviderID, r.LOINC) != f.want || why != f.why {
			t.Errorf("%s: %q %q, want %q %q", f.name, r.ProviderID, why, f.want, f.why)
		}
	}
}
