package resources_test

import (
	"slices"
	"testing"

	"hale/internal/wearables/resources"
)

// TestFactsOfOneResourceAgree checks the facts of each row against each other.
func TestFactsOfOneResourceAgree(t *testing.T) {
	codes := map[string]string{}
	for _, r := range resources.List() {
		if r.AllDay && !r.Additive {
			t.Errorf("%s: devices count it all day, but its values do not add up", r.Name)
		}
		if r.VitalSign && r.LOINC[""] == "" {
			t.Errorf("%s: a vital sign has a LOINC code for samples without a type", r.Name)
		}
		if r.Additive && !r.CanMerge() {
			t.Errorf("%s: its values add up, but its sources cannot be merged", r.Name)
		}
		for kind, code := range r.LOINC {
			if kind != "" && !slices.Contains(r.Types, kind) {
				t.Errorf("%s: LOINC has a code for the type %s, which no sample has", r.Name, kind)
			}
			if other := codes[code]; other != "" {
				t.Errorf("%s and %s have the LOINC code %s", other, r.Name, code)
			}
			codes[code] = r.Name
		}
	}
	for name, can := range map[string]bool{"steps": true, "glucose": true, "note": false, resources.Hypnogram: false} {
		if r, ok := resources.Find(name); !ok || r.CanMerge() != can {
			t.Errorf("%s: can merge is %v", name, !can)
		}
	}
}
