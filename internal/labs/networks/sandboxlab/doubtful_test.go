package sandboxlab

import (
	"slices"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
)

// A simulation may ask for each interpretation. One result is then what was
// asked for, of whichever type it is, and the others are ordinary; of unknown
// the lab says that it cannot tell.
//
// Reference 1.15, SimulationFlags.
func TestOneResultIsAsAsked(t *testing.T) {
	low, high, danger := 1.0, 5.0, 9.0
	assay := catalogue.Assay{Scale: catalogue.Quantity, Decimals: 1, Ranges: []catalogue.Range{{Low: &low, High: &high}}, CriticalHigh: &danger}
	for as, flags := range map[orders.Interpretation][]string{
		"": {""}, orders.Normal: {""}, orders.Unknown: {"IND"}, orders.Abnormal: {"A", "H", "L"}, orders.Critical: {"AA", "HH", "LL"},
	} {
		for _, kind := range []string{"numeric", "range", "comment"} {
			all := []row{{assay: assay}, {assay: assay}}
			odd := pick(all, as, orders.ID{})
			for i := range all {
				all[i].fill(scene{}, i, Outcome{Interpretation: as, Types: []string{kind}}, i == odd)
			}
			found := 0
			for i := range all {
				if i == odd && slices.Contains(flags, all[i].flag) {
					found++
				} else if all[i].flag != "" {
					t.Errorf("%q, %s: a result is flagged %q", as, kind, all[i].flag)
				}
			}
			if plain := flags[0] == ""; plain != (odd < 0) || plain == (found == 1) {
				t.Errorf("%q, %s: %d results are as asked", as, kind, found)
			}
		}
	}
}
