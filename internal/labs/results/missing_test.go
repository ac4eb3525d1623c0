package results

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
)

// Notes that labs write, and the failure that each means.
func TestInferFailure(t *testing.T) {
	for note, want := range map[string]Failure{
		"QNS": QuantityNotSufficient,
		"Test not performed. Quantity not sufficient.":            QuantityNotSufficient,
		"The specimen was too small":                              QuantityNotSufficient,
		"Insufficient specimen volume received":                   InsufficientVolume,
		"Tube underfilled":                                        InsufficientVolume,
		"Specimen HEMOLYZED":                                      CollectionProcess,
		"gross haemolysis":                                        CollectionProcess,
		"Serum was not spun within two hours":                     CollectionProcess,
		"Wrong tube type received":                                CollectionProcess,
		"Unlabeled specimen":                                      CollectionProcess,
		"Specimen clotted":                                        CollectionProcess,
		"Specimen leaked in transit":                              DropOff,
		"Received at wrong temperature":                           DropOff,
		"Sample stability exceeded":                               DropOff,
		"Laboratory accident":                                     InternalLab,
		"Instrument failure; please recollect":                    InternalLab,
		"Test not ordered on requisition":                         OrderEntry,
		"Duplicate request, see other report":                     NonFailure,
		"Sample grossly lipemic, result cannot be reported":       PatientCondition,
		"Unable to calculate, one of its inputs is not available": MissingResultCalc,
		"eGFR cannot be calculated: age not provided":             MissingDemoCalc,
		"Gestational age not provided, risk not calculated":       MissingDemoCalc,
		"the laboratory withdrew this result":                     UnknownFailure,
		"":                                                        UnknownFailure,
	} {
		if got := inferFailure(note); got != want {
			t.Errorf("%q is %s, want %s", note, got, want)
		}
	}
	for _, r := range failureRules {
		if !slices.Contains(Failures, r.failure) {
			t.Errorf("%s is no failure", r.failure)
		}
	}
}

// At the end, absent results are missing; before that, only the ones that the
// lab reports.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		name string
		set  networks.ResultSet
		want string
	}{
		{"nothing is missing", networks.ResultSet{Results: []networks.Result{{ProviderID: "HGB", Value: "12"}}}, "[]"},
		{"more is to come", networks.ResultSet{Partial: true, Results: []networks.Result{{ProviderID: "ZZ", Value: "12"}}}, "[]"},
		{"no reason", networks.ResultSet{Results: []networks.Result{{ProviderID: "ZZ", Value: "12"}}}, "[hemoglobin unknown_failure 2]"},
		{
			"the comment says why",
			networks.ResultSet{Results: []networks.Result{{ProviderID: "ZZ", Value: "12"}}, Comments: []string{"Specimen clotted"}},
			"[hemoglobin collection_process_failure 2]",
		},
		{"the lab says it early", networks.ResultSet{Partial: true, Missing: []networks.MissingResult{{ProviderID: "HGB", Note: "QNS"}}}, "[hemoglobin quantity_not_sufficient_failure 2]"},
		{"its reason counts", networks.ResultSet{Missing: []networks.MissingResult{{ProviderID: "HGB", Note: "QNS", Reason: "internal_lab_failure"}}}, "[hemoglobin internal_lab_failure 2]"},
		{"a word that is no reason", networks.ResultSet{Missing: []networks.MissingResult{{ProviderID: "HGB", Reason: "tired"}}}, "[hemoglobin unknown_failure 2]"},
		{"a whole test", networks.ResultSet{Missing: []networks.MissingResult{{ProviderID: "T1", Note: "Specimen lost in lab"}}}, "[hemoglobin internal_lab_failure 2]"},
		{"one that it would not do", networks.ResultSet{Missing: []networks.MissingResult{{ProviderID: "HGB", Refused: true}}, Comments: []string{"Specimen clotted"}}, "[hemoglobin order_entry_failure 2]"},
		{"one that it would not do, in its words", networks.ResultSet{Missing: []networks.MissingResult{{ProviderID: "HGB", Refused: true, Note: "Account on hold"}}}, "[hemoglobin order_entry_failure 2]"},
		{"one that it refused for its sample", networks.ResultSet{Missing: []networks.MissingResult{{ProviderID: "HGB", Refused: true, Note: "QNS"}}}, "[hemoglobin quantity_not_sufficient_failure 2]"},
		{"the rest of a test that is there", networks.ResultSet{Results: []networks.Result{{ProviderID: "HGB", Value: "12"}}, Missing: []networks.MissingResult{{ProviderID: "T1", Rest: true}}}, "[]"},
		{"one that is not required", networks.ResultSet{Partial: true, Missing: []networks.MissingResult{{ProviderID: "NIT", Name: "Nitrite"}}}, "[nitrite unknown_failure 1]"},
		{"one that is not ordered", networks.ResultSet{Partial: true, Missing: []networks.MissingResult{{ProviderID: "Q9", Name: "Ninth"}}}, "[ninth unknown_failure 0]"},
	} {
		v := buildVersion(panel("female"), merge([]Report{storedReport(t, Report{At: day, Set: c.set})}, "S"))
		var got []string
		for _, m := range v.Missing {
			got = append(got, fmt.Sprintf("%s %s %d", m.Slug, m.Failure, len(m.Markers)))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

// Only results that the lab could not measure are redrawn.
func TestRedrawMarkers(t *testing.T) {
	v := Version{Missing: []MissingResult{
		{Failure: CollectionProcess, Reported: true, Markers: []Marker{{ID: 1}, {ID: 2}}},
		{Failure: InternalLab, Reported: true, Markers: []Marker{{ID: 2}}},
		{Failure: UnknownFailure, Reported: true, Markers: []Marker{{ID: 3}}},
		{Failure: UnknownFailure, Markers: []Marker{{ID: 4}}},
		{Failure: PatientCondition, Reported: true, Markers: []Marker{{ID: 5}}},
		{Failure: NonFailure, Reported: true, Markers: []Marker{{ID: 6}}},
	}}
	if got := v.redrawMarkers(); !slices.Equal(got, []catalogue.MarkerID{1, 2, 3}) {
		t.Errorf("%v", got)
	}
}

// The index finds a result exactly when a comparison with each entry does.
func TestNameIndex(t *testing.T) {
	same := func(a, b resultNames) bool {
		switch {
		case a.code != "" && b.code != "":
			return a.code == b.code
		case a.loinc != "" && b.loinc != "":
			return a.loinc == b.loinc
		}
		return a.slug == b.slug
	}
	some := rapid.Custom(func(t *rapid.T) resultNames {
		pick := func(part string, of ...string) string { return rapid.SampledFrom(of).Draw(t, part) }
		return resultNames{pick("code", "", "A", "B"), pick("loinc", "", "1-8", "2-6"), pick("slug", "", "x", "y", "A")}
	})
	rapid.Check(t, func(t *rapid.T) {
		all, r := rapid.SliceOf(some).Draw(t, "all"), nameIndex{}
		for _, n := range all {
			r.add(n)
		}
		one := some.Draw(t, "one")
		if got, want := r.contains(one), slices.ContainsFunc(all, func(n resultNames) bool { return same(one, n) }); got != want {
			t.Fatalf("%+v among %+v: %v", one, all, got)
		}
	})
}

// Very many missing results are listed, each once. Comparing each with each
// would take minutes.
func TestManyMissing(t *testing.T) {
	const many = 100_000
	var list missingList
	for range 2 {
		for i := range many {
			list.add(MissingResult{Slug: strconv.Itoa(i)}, UnknownFailure)
		}
	}
	if n := len(list.all); n != many {
		t.Errorf("%d are listed", n)
	}
}

// A final report of some tests is final for the order if the laboratory has mentioned all
// tests. A result that two tests have in common is of the test in the report.
func TestFinalForSomeTests(t *testing.T) {
	glucose := catalogue.Result{Name: "Glucose", ProviderID: "GLU", Required: true}
	order := func() *expectations {
		both := &catalogue.Marker{ID: 1, ProviderID: "P1", Results: []catalogue.Result{glucose, {Name: "Sodium", ProviderID: "NA", Required: true}}}
		single := &catalogue.Marker{ID: 2, ProviderID: "P2", Results: []catalogue.Result{glucose}}
		other := &catalogue.Marker{ID: 3, ProviderID: "P3", Results: []catalogue.Result{{Name: "TSH", ProviderID: "TSH", Required: true}}}
		e := panel("female")
		e.ordered = []*catalogue.Marker{both, single, other}
		e.all = e.ordered
		return e
	}
	result := func(test, code string) networks.Result {
		return networks.Result{TestProviderID: test, ProviderID: code, Value: "5", Status: "F"}
	}
	tsh, sodium := result("P3", "TSH"), result("P1", "NA")
	for _, c := range []struct {
		name string
		set  networks.ResultSet
		want Status
	}{
		{"one of three", networks.ResultSet{TestsOnly: true, Results: []networks.Result{tsh}}, Partial},
		{"the result of a test that another has too", networks.ResultSet{TestsOnly: true, Results: []networks.Result{tsh, result("P2", "GLU")}}, Partial},
		{"all", networks.ResultSet{TestsOnly: true, Results: []networks.Result{tsh, sodium, result("P2", "GLU")}}, Final},
		{"one is cancelled", networks.ResultSet{TestsOnly: true, Results: []networks.Result{tsh, sodium}, Missing: []networks.MissingResult{{ProviderID: "P2", Note: "cancelled"}}}, Final},
		{"codes that the order does not have", networks.ResultSet{TestsOnly: true, Results: []networks.Result{result("X", "X1")}}, Final},
		{"a report of the whole order", networks.ResultSet{Results: []networks.Result{tsh}}, Final},
	} {
		if v := buildVersion(order(), merge([]Report{storedReport(t, Report{At: day, Set: c.set})}, "S")); v.Status != c.want {
			t.Errorf("%s: %s, want %s", c.name, v.Status, c.want)
		}
	}
}
