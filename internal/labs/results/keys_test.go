package results

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
)

// A laboratory that changes its code of a test, or numbers a single value,
// reports the same result. Codes beside each other are two values.
func TestChangedCodes(t *testing.T) {
	value := func(code, loinc, sub, value, status string) networks.Result {
		return networks.Result{ProviderID: code, LOINC: loinc, SubID: sub, TestProviderID: "T1", Name: "Hgb", Value: value, Unit: "g/dL", Status: status}
	}
	first := value("HGB", "718-7", "", "6", "F")
	for _, c := range []struct {
		name    string
		reports [][]networks.Result
		want    string
	}{
		{"another code", [][]networks.Result{{first}, {value("HGB2", "718-7", "", "12", "C")}}, "12 before 6"},
		{"another code, without LOINC before", [][]networks.Result{{value("HGB", "", "", "6", "F")}, {value("HGB2", "718-7", "", "12", "C")}}, "12 before 6"},
		{"the code alone", [][]networks.Result{{value("HGB2", "718-7", "", "6", "F")}, {value("HGB", "", "", "12", "C")}}, "12 before 6"},
		{"another sub-id", [][]networks.Result{{first}, {value("HGB", "718-7", "1", "12", "C")}}, "12 before 6"},
		{"two sub-ids", [][]networks.Result{{first}, {value("HGB", "718-7", "1", "12", "C"), value("HGB", "718-7", "2", "13", "C")}}, "12, 13, 6"},
		{"both codes in one report", [][]networks.Result{{first, value("HGB2", "718-7", "", "7", "F")}, {value("HGB2", "718-7", "", "12", "C")}}, "12 before 7, 6"},
		{"unknown codes", [][]networks.Result{{first}, {value("HGB2", "", "", "12", "C")}}, "12, 6; missing: none"},
	} {
		for range 2 {
			var all []Report
			for i, set := range c.reports {
				r := Report{At: day.Add(time.Duration(i) * time.Hour), id: uuid.New()}
				r.Set.Results = set
				all = append(all, storedReport(t, r))
			}
			e := panel("female")
			e.setKeys(all)
			v := buildVersion(e, merge(all, "S"))
			var got []string
			for _, r := range v.Results {
				text := r.Text
				if r.Previous != nil {
					text += " before " + r.Previous.Text
				}
				got = append(got, text)
			}
			if text := strings.Join(got, ", "); text != strings.TrimSuffix(c.want, "; missing: none") || len(v.Missing) != 0 {
				t.Errorf("%s: %s, missing %s; want %s", c.name, text, fmt.Sprint(v.Missing), c.want)
			}
		}
	}
	// A result under another code is not missing.
	r := Report{At: day, id: uuid.New()}
	r.Set.Results = []networks.Result{value("HGB2", "718-7", "", "12", "F")}
	r.Set.Missing = []networks.Missing{{ProviderID: "HGB2", LOINC: "718-7", Rest: true}}
	if v := buildVersion(panel("female"), merge([]Report{storedReport(t, r)}, "S")); len(v.Results) != 1 || len(v.Results[0].Markers) != 2 || len(v.Missing) != 0 {
		t.Errorf("%+v, missing %+v", v.Results, v.Missing)
	}
}
