package documents

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hale/internal/labs/orders"
	"hale/internal/labs/reports/extract"
	"hale/internal/labs/reports/pages"
	"hale/internal/labs/results"
)

// The reader of uploaded reports reads the report that Hale renders. Its comment about a
// hemolyzed sample casts doubt on the values.
func TestReportIsReadBack(t *testing.T) {
	cache, err := os.UserCacheDir() // compiling the reader takes seconds
	if err != nil {
		cache = t.TempDir()
	}
	reader := pages.NewReader(pages.Config{CacheDir: filepath.Join(cache, "hale-test-wazero")})
	t.Cleanup(func() {
		if err := reader.Close(); err != nil {
			t.Error(err)
		}
	})
	want := revision(0)
	for _, one := range []results.Result{
		{Name: "Glucose", Text: "104", Unit: "mg/dL", Range: results.Reference{Text: "70-99"}, Flag: "H", Interpretation: orders.Abnormal},
		{Name: "Potassium", Text: "6.9", Unit: "mmol/L", Range: results.Reference{Text: "3.5-5.2"}, Flag: "HH", Interpretation: orders.Critical, Notes: []string{"Called to the clinic and read back."}},
		{Name: "eGFR (CKD-EPI 2021)", Text: ">60", Unit: "mL/min/{1.73_m2}", Range: results.Reference{Text: ">=60"}, Interpretation: orders.Normal},
		{Name: "TSH", Text: "3.24", Unit: "u[IU]/mL", Range: results.Reference{Text: "0.450-4.500"}, Interpretation: orders.Normal},
		{Name: "RBC", Text: "4.90", Unit: "10*6/uL", Range: results.Reference{Text: "3.77-5.28"}, Interpretation: orders.Normal},
		{Name: "Platelets", Text: "218", Unit: "10*3/uL", Range: results.Reference{Text: "150-450"}, Interpretation: orders.Normal},
		{Name: "HIV 1/2 Ag/Ab", Text: "Non-reactive", Range: results.Reference{Text: "Non-reactive"}, Interpretation: orders.Normal},
	} {
		one.Status, one.Laboratory, one.Markers = "F", "PH", []results.Marker{{ID: 1, Name: "Check-up"}}
		want.Results = append(want.Results, one)
	}
	pdf := mustRender(t, func() ([]byte, error) { return subject(2).Report(want) })
	got, err := reader.Read(t.Context(), []pages.File{{Type: "application/pdf", Data: pdf}})
	if err != nil {
		t.Fatal(err)
	}
	m := got.Metadata
	if m.FirstName != "Ada" || m.LastName != "Byron" || m.BirthDate != "1984-12-10" || m.Gender != "female" || m.Lab != "Example Laboratories" || m.CollectedDate != "2026-03-06" || m.Specimen != "S0012345678" {
		t.Errorf("the report is of %+v", m)
	}
	if len(got.Rows) != len(want.Results)+1 {
		t.Fatalf("%d rows of %d: %+v", len(got.Rows), len(want.Results)+1, got.Rows)
	}
	if missing := got.Rows[len(want.Results)]; missing.Name != "Insulin" || missing.Number != nil {
		t.Errorf("the missing result is read as %+v", missing)
	}
	for i, one := range want.Results {
		r := got.Rows[i]
		if r.Name != one.Name || r.Value != one.Text || r.Range.Text != one.Range.Text || r.Flag != one.Flag || one.Unit != "" && r.UCUM != one.Unit || r.NeedsReview && !slices.Equal(r.Reasons, []extract.Reason{extract.ValueDoubted}) || r.Panel == "LABORATORY REPORT" {
			t.Errorf("%s %s %s %s %s is read as %+v", one.Name, one.Text, one.Unit, one.Range.Text, one.Flag, r)
		}
	}
}
