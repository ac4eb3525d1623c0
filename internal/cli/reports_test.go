package cli

import (
	"testing"
)

// Several fields of one row are one correction: the service refuses two of one row.
func TestCorrectionsOfOneRow(t *testing.T) {
	all, err := readCorrections("", []string{"3.value=5.9", "4.value=1", "3.units=mmol/L", "3.min_reference_range=3.5"}, []string{"7"})
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v: %v", all, err)
	}
	if c := all[0]; *c.Row != 3 || *c.Value != "5.9" || *c.Units != "mmol/L" || *c.Min != 3.5 || c.Remove {
		t.Errorf("row 3: %+v", c)
	}
	if _, err := readCorrections("", []string{"3.page=5"}, nil); err == nil {
		t.Error("an unknown field is accepted")
	}
}
