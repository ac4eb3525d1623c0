package results

import (
	"fmt"
	"slices"
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
		{"two sub-ids", [][]networks.Result{{first}, {value("HGB", "718-7", "1", "12", "C"), value("HGB", "718-7", "2", "13", "C")}}, "6, 12, 13"},
		{"both codes in one report", [][]networks.Result{{first, value("HGB2", "718-7", "", "7", "F")}, {value("HGB2", "718-7", "", "12", "C")}}, "6, 12 before 7"},
		{"unknown codes", [][]networks.Result{{first}, {value("HGB2", "", "", "12", "C")}}, "6, 12; missing: none"},
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
	r.Set.Missing = []networks.MissingResult{{ProviderID: "HGB2", LOINC: "718-7", Rest: true}}
	if v := buildVersion(panel("female"), merge([]Report{storedReport(t, r)}, "S")); len(v.Results) != 1 || len(v.Results[0].Markers) != 2 || len(v.Missing) != 0 {
		t.Errorf("%+v, missing %+v", v.Results, v.Missing)
	}
}

// The warnings name a correction without an earlier result, and a value that may be of
// several specimens.
func TestWarningsOfValues(t *testing.T) {
	hgb := func(text, status string) networks.Result {
		return networks.Result{ProviderID: "HGB", LOINC: "718-7", Value: text, Status: status}
	}
	for _, c := range []struct {
		name string
		sets []networks.ResultSet
		want []WarningCode
	}{
		{"final", []networks.ResultSet{{Results: []networks.Result{hgb("12", "F")}}}, nil},
		{"a correction alone", []networks.ResultSet{{Results: []networks.Result{hgb("12", "C")}}}, []WarningCode{CorrectionWithoutResult}},
		{"a correction", []networks.ResultSet{
			{Results: []networks.Result{hgb("12", "F")}}, {Results: []networks.Result{hgb("12", "C")}},
		}, nil},
		{"an unknown specimen", []networks.ResultSet{
			{Specimen: networks.Specimen{Number: "A"}, Results: []networks.Result{hgb("12", "F")}},
			{Specimen: networks.Specimen{Number: "A"}, Specimens: []networks.Specimen{{Number: "B"}}, Results: []networks.Result{{ProviderID: "HGB", LOINC: "718-7", Value: "13", Status: "F", Specimen: "B"}}},
			{Results: []networks.Result{hgb("14", "F")}},
		}, []WarningCode{SpecimenUnknown}},
	} {
		var all []Report
		for i, set := range c.sets {
			all = append(all, storedReport(t, Report{At: day.Add(time.Duration(i) * time.Hour), id: uuid.New(), Set: set}))
		}
		e := panel("female")
		e.setKeys(all)
		var got []WarningCode
		for _, w := range buildVersion(e, merge(all, "S")).Warnings {
			if got = append(got, w.Code); w.Detail == "" || w.Message() == string(w.Code) {
				t.Errorf("%s: %+v", c.name, w)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Values of two specimens are two results, also in separate reports. A specimen that
// gets another number stays the same one.
func TestSpecimensStayApart(t *testing.T) {
	specimen := func(number, kind string, hour int) networks.Specimen {
		s := networks.Specimen{Number: number, Type: kind}
		if hour > 0 {
			s.Collected = networks.Moment{Time: day.Add(time.Duration(hour) * time.Hour)}
		}
		return s
	}
	culture := func(status, value, further string) networks.Result {
		return networks.Result{ProviderID: "HGB", TestProviderID: "T1", Name: "Hgb", Value: value, Status: status, Specimen: further}
	}
	report := func(first networks.Specimen, further []networks.Specimen, values ...networks.Result) networks.ResultSet {
		return networks.ResultSet{Specimen: first, Specimens: further, Results: values}
	}
	at := func(hour int, r networks.Result) networks.Result {
		r.At.Time = day.Add(time.Duration(hour) * time.Hour)
		return r
	}
	a, b := specimen("A", "Blood", 1), specimen("B", "Blood", 2)
	two := report(a, []networks.Specimen{b}, culture("F", "7.3", ""), culture("F", "4.1", "B"))
	for _, c := range []struct {
		name string
		sets []networks.ResultSet
		want string
	}{
		{"two in one report", []networks.ResultSet{report(a, []networks.Specimen{b}, culture("F", "growth", ""), culture("F", "none", "B"))}, "A growth, B none"},
		{"equal values", []networks.ResultSet{report(a, []networks.Specimen{b}, culture("F", "none", ""), culture("F", "none", "B"))}, "A none, B none"},
		{"a later report of one", []networks.ResultSet{
			report(a, []networks.Specimen{b}, culture("P", "none", ""), culture("P", "none", "B")), report(b, nil, culture("F", "growth", "")),
		}, "A none, B growth before none"},
		{"two reports, other times", []networks.ResultSet{report(a, nil, culture("F", "growth", "")), report(b, nil, culture("F", "none", ""))}, "A growth, B none"},
		{"two reports, other materials", []networks.ResultSet{
			report(specimen("A", "Serum", 0), nil, culture("F", "5", "")), report(specimen("B", "Urine", 0), nil, culture("F", "6", "")),
		}, "A 5, B 6"},
		{"another number of one specimen", []networks.ResultSet{
			report(specimen("A", "Blood", 1), nil, culture("P", "none", "")), report(specimen("B", "Blood", 1), nil, culture("F", "growth", "")),
		}, "B growth before none"},
		{"a number that comes later", []networks.ResultSet{report(specimen("", "", 1), nil, culture("P", "none", "")), report(a, nil, culture("F", "growth", ""))}, "A growth before none"},
		{"a report without its specimen", []networks.ResultSet{
			report(a, []networks.Specimen{b}, culture("P", "none", ""), culture("P", "none", "B")), report(networks.Specimen{}, nil, culture("F", "growth", "")),
		}, "A none, B none, S growth ?"},
		{"a report without its specimen, of one that has the test", []networks.ResultSet{
			report(a, []networks.Specimen{b}, networks.Result{ProviderID: "X", Name: "X", Value: "1", Status: "F"}, culture("P", "none", "B")),
			report(networks.Specimen{}, nil, culture("F", "growth", "")),
		}, "A 1, S growth before none"},
		{"the time of the second one", []networks.ResultSet{two, report(specimen("", "", 2), nil, culture("F", "4.4", ""))}, "A 7.3, B 4.4 before 4.1"},
		{"its material and time", []networks.ResultSet{two, report(specimen("", "Blood", 2), nil, culture("F", "4.4", ""))}, "A 7.3, B 4.4 before 4.1"},
		{"the time of the first one", []networks.ResultSet{two, report(specimen("", "", 1), nil, culture("F", "4.4", ""))}, "A 4.4 before 7.3, B 4.1"},
		{"a correction with the time of the second one", []networks.ResultSet{two, report(specimen("", "", 2), nil, culture("C", "4.4", ""))}, "A 7.3, B 4.4 before 4.1"},
		{"the time of neither", []networks.ResultSet{two, report(specimen("", "", 3), nil, culture("C", "4.4", ""))}, "A 7.3, B 4.1, S 4.4 ?"},
		{"the material of both, the time of neither", []networks.ResultSet{two, report(specimen("", "Blood", 3), nil, culture("C", "4.4", ""))}, "A 7.3, B 4.1, S 4.4 ?"},
		{"the material of both", []networks.ResultSet{two, report(specimen("", "Blood", 0), nil, culture("C", "4.4", ""))}, "A 7.3, B 4.1, S 4.4 ?"},
		{"one time of both", []networks.ResultSet{
			report(specimen("A", "Serum", 1), []networks.Specimen{specimen("B", "Urine", 1)}, culture("F", "7.3", ""), culture("F", "4.1", "B")),
			report(specimen("", "", 1), nil, culture("F", "4.4", "")),
		}, "A 7.3, B 4.1, S 4.4 ?"},
		{"the time of the observation", []networks.ResultSet{two, report(networks.Specimen{}, nil, at(2, culture("C", "4.4", "")))}, "A 7.3, B 4.4 before 4.1"},
		{"a time that only the observation has", []networks.ResultSet{two, report(specimen("", "", 3), nil, at(2, culture("C", "4.4", "")))}, "A 7.3, B 4.4 before 4.1"},
	} {
		for _, backwards := range []bool{false, true} {
			var all []Report
			for i, set := range c.sets {
				r := Report{At: day.Add(time.Duration(i) * time.Hour), id: uuid.New(), Set: set}
				all = append(all, storedReport(t, r))
			}
			if backwards {
				slices.Reverse(all)
			}
			e := panel("female")
			e.setKeys(all)
			var got []string
			for _, r := range buildVersion(e, merge(all, "S")).Results {
				text := r.Sample + " " + r.Text
				if r.group == unknownSpecimen {
					text += " ?"
				}
				if r.Previous != nil {
					text += " before " + r.Previous.Text
				}
				got = append(got, text)
			}
			slices.Sort(got)
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("%s: %s, want %s", c.name, text, c.want)
			}
		}
	}
	// A culture that is cancelled leaves the other one.
	set := report(a, []networks.Specimen{b}, culture("F", "growth", ""))
	set.Missing = []networks.MissingResult{{ProviderID: "HGB", TestProviderID: "T1", Name: "Hgb", Note: "QNS", Specimen: "B"}}
	all := []Report{storedReport(t, Report{At: day, id: uuid.New(), Set: set})}
	later := report(b, nil)
	later.Missing = []networks.MissingResult{{ProviderID: "HGB", TestProviderID: "T1", Name: "Hgb", Note: "QNS"}}
	all = append(all, storedReport(t, Report{At: day.Add(time.Hour), id: uuid.New(), Set: later}))
	e := panel("female")
	e.setKeys(all)
	if v := buildVersion(e, merge(all, "S")); len(v.Results) != 1 || v.Results[0].Text != "growth" {
		t.Errorf("a cancelled culture: %+v", v.Results)
	}
}
