package results

import (
	"fmt"
	"slices"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
)

// What labs write, and what is to be inferred from it.
func TestInfer(t *testing.T) {
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
		if got := infer(note); got != want {
			t.Errorf("%q is %s, want %s", note, got, want)
		}
	}
	for _, r := range rules {
		if !slices.Contains(Failures, r.failure) {
			t.Errorf("%s is no failure", r.failure)
		}
	}
}

// What is not there at the end is missing; before that, what the lab says is.
func TestMissing(t *testing.T) {
	for _, c := range []struct {
		name string
		set  networks.ResultSet
		want string
	}{
		{"nothing is missing", networks.ResultSet{Results: []networks.Result{{ProviderID: "HGB", Value: "12"}}}, "[]"},
		{"more is to come", networks.ResultSet{Partial: true, Results: []networks.Result{{ProviderID: "ZZ", Value: "12"}}}, "[]"},
		{"nobody says why", networks.ResultSet{Results: []networks.Result{{ProviderID: "ZZ", Value: "12"}}}, "[hemoglobin unknown_failure 2]"},
		{
			"the comment says why",
			networks.ResultSet{Results: []networks.Result{{ProviderID: "ZZ", Value: "12"}}, Comments: []string{"Specimen clotted"}},
			"[hemoglobin collection_process_failure 2]",
		},
		{"the lab says it early", networks.ResultSet{Partial: true, Missing: []networks.Missing{{ProviderID: "HGB", Note: "QNS"}}}, "[hemoglobin quantity_not_sufficient_failure 2]"},
		{"its reason counts", networks.ResultSet{Missing: []networks.Missing{{ProviderID: "HGB", Note: "QNS", Reason: "internal_lab_failure"}}}, "[hemoglobin internal_lab_failure 2]"},
		{"a word that is no reason", networks.ResultSet{Missing: []networks.Missing{{ProviderID: "HGB", Reason: "tired"}}}, "[hemoglobin unknown_failure 2]"},
		{"a whole test", networks.ResultSet{Missing: []networks.Missing{{ProviderID: "T1", Note: "Specimen lost in lab"}}}, "[hemoglobin internal_lab_failure 2]"},
		{"one that it would not do", networks.ResultSet{Missing: []networks.Missing{{ProviderID: "HGB", Refused: true}}, Comments: []string{"Specimen clotted"}}, "[hemoglobin order_entry_failure 2]"},
		{"one that it would not do, in its words", networks.ResultSet{Missing: []networks.Missing{{ProviderID: "HGB", Refused: true, Note: "Account on hold"}}}, "[hemoglobin order_entry_failure 2]"},
		{"one that it refused for its sample", networks.ResultSet{Missing: []networks.Missing{{ProviderID: "HGB", Refused: true, Note: "QNS"}}}, "[hemoglobin quantity_not_sufficient_failure 2]"},
		{"the rest of a test that is there", networks.ResultSet{Results: []networks.Result{{ProviderID: "HGB", Value: "12"}}, Missing: []networks.Missing{{ProviderID: "T1", Rest: true}}}, "[]"},
		{"one that is not required", networks.ResultSet{Partial: true, Missing: []networks.Missing{{ProviderID: "NIT", Name: "Nitrite"}}}, "[nitrite unknown_failure 1]"},
		{"one that nobody ordered", networks.ResultSet{Partial: true, Missing: []networks.Missing{{ProviderID: "Q9", Name: "Ninth"}}}, "[ninth unknown_failure 0]"},
	} {
		v := version(panel("female"), merge([]Report{stored(t, Report{At: day, Set: c.set})}, "S"))
		var got []string
		for _, m := range v.Missing {
			got = append(got, fmt.Sprintf("%s %s %d", m.Slug, m.Failure, len(m.Markers)))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %s", c.name, got, c.want)
		}
	}
}

// Only what the lab says it could not measure is drawn again.
func TestAgain(t *testing.T) {
	v := Version{Missing: []Missing{
		{Failure: CollectionProcess, Said: true, Markers: []Marker{{ID: 1}, {ID: 2}}},
		{Failure: InternalLab, Said: true, Markers: []Marker{{ID: 2}}},
		{Failure: UnknownFailure, Said: true, Markers: []Marker{{ID: 3}}},
		{Failure: UnknownFailure, Markers: []Marker{{ID: 4}}},
		{Failure: PatientCondition, Said: true, Markers: []Marker{{ID: 5}}},
		{Failure: NonFailure, Said: true, Markers: []Marker{{ID: 6}}},
	}}
	if got := v.again(); !slices.Equal(got, []catalogue.MarkerID{1, 2, 3}) {
		t.Errorf("%v", got)
	}
}
