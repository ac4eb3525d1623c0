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

// International units of hormones are no units of activity.
func TestInternationalUnits(t *testing.T) {
	result := read(t, FromText,
		"FSH                        6.3                3.5-12.5            IU/L      ",
		"LH                         4.4                2.4-12.6            IU/L      ",
		"Beta-hCG                   <1                 <5                  IU/L      ",
		"Total bHCG                 <2                 <5                  IU/L      ",
		"Prolactin                  312                102-496             mIU/L     ",
		"PTH                        8.1         H      1.6-6.9             pmol/L    ",
		"ALT                        31                 0-34                IU/L      ",
		"Gamma GT                   31                 0-40                IU/L      ",
	)
	for name, want := range map[string]struct{ ucum, code string }{
		"FSH": {"[IU]/L", "15067-2"}, "LH": {"[IU]/L", "10501-5"}, "Beta-hCG": {"[IU]/L", "21198-7"}, "Total bHCG": {"[IU]/L", "21198-7"}, "Prolactin": {"u[IU]/mL", "15081-3"}, "PTH": {"pmol/L", "14866-8"},
		"ALT": {"U/L", "1742-6"}, "Gamma GT": {"U/L", "2324-2"},
	} {
		if row := find(t, result, name); row.UCUM != want.ucum || row.NeedsReview || row.Matches[0].Code != want.code {
			t.Errorf("%s: %s, %v, %+v", name, row.UCUM, row.Reasons, row.Matches)
		}
	}
}

// A unit can be in the name of a row or in the header of the values.
func TestUnitsBesideTheColumn(t *testing.T) {
	result, err := Read(Document{Pages: []Page{printedPage(FromText, append(head[:4:4],
		"Test                           Result, mmol/L   Reference range",
		"Total cholesterol              6.1              <5.2",
		"HDL cholesterol                1.05             >1.2",
		"Total/HDL ratio                5.8              <4.5",
		"Haemoglobin (g/L)              118              120-160",
		"WBC (x10⁹/L)                   12.1             4.0-11.0",
		"Neutrophils (x10⁹/L)           9.3              2.0-7.5",
		"Neutrophils (%)                77               40-75",
		"Prothrombin time (INR)         1.1              0.9-1.2",
		"ALT                            31               0-34",
	)...)}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct{ unit, code string }{
		"Total cholesterol": {"mmol/L", "14647-2"}, "HDL cholesterol": {"mmol/L", "14646-4"}, "Total/HDL ratio": {"", ""}, "Haemoglobin (g/L)": {"g/L", "718-7"}, "WBC (x10⁹/L)": {"x10⁹/L", "6690-2"},
		"Neutrophils (x10⁹/L)": {"x10⁹/L", "751-8"}, "Neutrophils (%)": {"%", "770-8"}, "Prothrombin time (INR)": {"", ""}, "ALT": {"", "1742-6"},
	} {
		row := find(t, result, name)
		if row.Unit != want.unit || want.unit != "" && (row.UCUM == "" || row.NeedsReview) || want.code != "" && row.Matches[0].Code != want.code {
			t.Errorf("%s: %q, %v, %+v", name, row.Unit, row.Reasons, row.Matches)
		}
	}
}
