package person_test

import (
	"testing"

	"hale/internal/people/users/person"
)

// TestEveryCategoryHasOneRow checks that no word and no code is in two rows.
func TestEveryCategoryHasOneRow(t *testing.T) {
	for name, table := range map[string][]person.Category{"races": person.Races, "ethnicities": person.Ethnicities} {
		seen := map[string]bool{}
		for _, c := range table {
			found, ok := person.FindCategory(table, c.Word)
			if !ok || found != c || c.Text == "" || (c.HL7.ID == "") != (c.HL7.Text == "") {
				t.Errorf("%s: the row of %q is %+v", name, c.Word, found)
			}
			for _, code := range []string{"word " + c.Word, "OMB " + c.OMB, "HL7 " + c.HL7.ID} {
				if seen[code] && code != "OMB " && code != "HL7 " {
					t.Errorf("%s: two rows have the %s", name, code)
				}
				seen[code] = true
			}
		}
	}
	if c, ok := person.FindCategory(person.Races, ""); ok {
		t.Errorf("the empty word has the row %+v", c)
	}
}
