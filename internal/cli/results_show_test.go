package cli

import (
	"bytes"
	"strings"
	"testing"
)

// The table of results shows what is missing, withdrawn, corrected or doubtful.
func TestShowResultPrintsWarnings(t *testing.T) {
	var out bytes.Buffer
	s := &shell{out: &out}
	err := s.showResult("ORDER", []byte(`{"metadata":{"status":"final","interpretation":"abnormal"},"results":[
		{"name":"Glucose","result":"98","unit":"mg/dL","reference_range":"70-99","interpretation":"normal","status":"final","previous":null},
		{"name":"Sodium","result":"150","interpretation":"abnormal","is_above_max_range":true,"status":"corrected","previous":{"result":"140"}},
		{"name":"Potassium","result":"9","interpretation":"normal","status":"preliminary","flag_conflict":"normal_outside_range"}],
		"missing_results":[{"name":"Calcium","inferred_failure_type":"quantity_not_sufficient_failure","previous":null},
		{"name":"Chloride","inferred_failure_type":"unknown","previous":{"result":"101"}}],
		"warnings":[{"code":"document_refused","message":"A document was left out"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(out.String()), " ")
	for _, want := range []string{
		"Glucose 98 mg/dL 70-99 - ", "Sodium 150 - - abnormal high, corrected, before 140", "Potassium 9 - - preliminary, the laboratory's flag contradicts the value",
		"Calcium - - - missing, quantity_not_sufficient_failure", "Chloride - - - withdrawn, before 101", "warning: A document was left out",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
