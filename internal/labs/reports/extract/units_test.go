package extract

import (
	"slices"
	"testing"
)

// mEq/L counts charges: it is mmol/L of sodium, and half of it of calcium.
func TestEquivalents(t *testing.T) {
	result := read(t, FromText,
		"Sodium                     139                135-145             mEq/L     ",
		"Potassium                  4.4                3.5-5.1             mEq/L     ",
		"Chloride                   101                98-107              mEq/L     ",
		"Bicarbonate                24                 22-29               mEq/L     ",
		"Anion Gap                  11                 8-16                mEq/L     ",
		"Calcium                    4.6                4.3-5.2             mEq/L     ",
		"Ionized calcium            2.4                2.2-2.6             mEq/L     ",
		"Magnesium                  1.8                1.4-2.1             mEq/L     ",
		"Lithium                    0.8                0.6-1.2             mEq/L     ",
	)
	for name, code := range map[string]string{
		"Sodium": "2951-2", "Potassium": "2823-3", "Chloride": "2075-0", "Bicarbonate": "1963-8", "Anion Gap": "33037-3", "Calcium": "2000-8", "Ionized calcium": "1995-0", "Magnesium": "2601-3",
		"Lithium": "14334-7",
	} {
		row := find(t, result, name)
		if row.UCUM != "meq/L" || row.NeedsReview || row.Interpretation != "normal" || row.Status != AutoMatch || row.Matches[0].Code != code {
			t.Errorf("%s: %s %v %s %+v", name, row.UCUM, row.Reasons, row.Interpretation, row.Matches)
		}
	}
	result = read(t, FromText,
		"Calcium                    13.5               8.6-10.3            mEq/L     ",
		"Potassium                  44                 35-51               mEq/L     ",
		"Glucose                    5.1                3.9-5.5             mEq/L     ",
	)
	for name, reason := range map[string]Reason{"Calcium": Implausible, "Potassium": Implausible, "Glucose": UnitConflict} {
		if row := find(t, result, name); !slices.Contains(row.Reasons, reason) {
			t.Errorf("%s: %v", name, row.Reasons)
		}
	}
}

func TestUnitsOfCounts(t *testing.T) {
	for printed, want := range map[string]string{
		"10³/mm³": "10*3/uL", "10^3/mm3": "10*3/uL", "thou/mm3": "10*3/uL", "cells/cu.mm": "/uL", "Cells/cu.mm": "/uL", "10⁶/mm³": "10*6/uL",
	} {
		if got, _ := knownUnit(printed); got != want {
			t.Errorf("%s is %q, want %q", printed, got, want)
		}
	}
}
