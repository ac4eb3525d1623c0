package labs

import (
	"strings"
	"testing"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/reports/extract"
	"hale/internal/labs/results"
)

// A report with several specimens keeps each, and the results say which is theirs.
func TestSpecimensOfAReport(t *testing.T) {
	at := func(hour int) networks.Moment {
		return networks.Moment{Time: time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC)}
	}
	r := &results.Revision{CreatedAt: at(20).Time, Version: results.Version{
		Samples: []results.Sample{
			{Key: "S1", Specimen: networks.Specimen{Number: "S1", Collected: at(8), Reported: at(12)}},
			{Key: "Urine", Specimen: networks.Specimen{Type: "Urine", Collected: at(9), Reported: at(11)}},
		},
		Results: []results.Result{{Name: "Glucose", Sample: "S1"}, {Name: "Protein", Sample: "Urine"}},
	}}
	got := fhirReport(r, nil)
	if got.Specimen.Number != "S1" || got.Specimen.Collected.Time != at(8).Time || !got.Issued.Equal(at(12).Time) {
		t.Errorf("%+v, issued %v", got.Specimen, got.Issued)
	}
	if len(got.Specimens) != 1 || got.Specimens[0].Key != "Urine" || got.Specimens[0].Type != "Urine" || got.Specimens[0].Collected.Time != at(9).Time {
		t.Errorf("%+v", got.Specimens)
	}
	if got.Results[0].Specimen != "S1" || got.Results[1].Specimen != "Urine" {
		t.Errorf("%+v", got.Results)
	}
}

// The first specimen has the material that the lab reports. It is the one with values.
// A withdrawn value is exported with the time of the withdrawal.
func TestFirstSpecimenOfAReport(t *testing.T) {
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	got := fhirReport(&results.Revision{Version: results.Version{
		Samples: []results.Sample{{Key: "S1", Specimen: networks.Specimen{Type: "Serum"}}, {Key: "S2", Specimen: networks.Specimen{Type: "Plasma"}}},
		Results: []results.Result{{Name: "Glucose", Sample: "S2"}},
		Missing: []results.MissingResult{{Name: "Potassium", Sample: "S1", WithdrawnAt: at, Previous: &results.Previous{Text: "7.9", Unit: "mmol/L", Flag: "HH"}}},
	}}, nil)
	if got.Specimen.Number != "S2" || got.Specimen.Type != "Plasma" || got.Specimens[0].Type != "Serum" {
		t.Errorf("%+v %+v", got.Specimen, got.Specimens)
	}
	if w := got.Missing[0].Withdrawn; w == nil || w.Value != "7.9" || w.UCUM != "mmol/L" || !strings.Contains(w.Notes[0], "2026-03-01T08:00") {
		t.Errorf("%+v", got.Missing[0])
	}
}

// The FHIR name of a drug has its organism. Other panels are no part of names.
func TestParsedDrugsNameTheirOrganisms(t *testing.T) {
	for _, c := range []struct{ name, panel, flag, want string }{
		{"Ceftriaxone", "Escherichia coli", "S", "Ceftriaxone (Escherichia coli)"},
		{"Ceftriaxone", "Klebsiella pneumoniae", "R", "Ceftriaxone (Klebsiella pneumoniae)"},
		{"Ceftriaxone", "", "R", "Ceftriaxone"},
		{"Sodium", "Electrolytes", "H", "Sodium"},
	} {
		if got := fhirParsedRow(&extract.Row{Name: c.name, Panel: c.panel, Flag: c.flag, Value: "1"}, 0).Name; got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
