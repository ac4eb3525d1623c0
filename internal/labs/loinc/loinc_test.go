package loinc

import (
	"strings"
	"testing"
)

func TestTable(t *testing.T) {
	ids := map[int64]bool{}
	for _, c := range codeTable() {
		if !IsCode(c.Code) || c.Name == "" || c.Display == "" || c.Slug() == "" || c.ID != ID(c.Code) || ids[c.ID] {
			t.Errorf("%+v", c)
		}
		ids[c.ID] = true
	}
	if len(codeTable()) < 400 {
		t.Errorf("%d codes", len(codeTable()))
	}
	c, ok := Find("2345-7")
	if !ok || c.ID != 23457 || c.Name != "Glucose [Mass/volume] in Serum or Plasma" || c.Slug() != "glucose" || c.Unit != "mg/dL" || c.Rank != 4 {
		t.Errorf("glucose is %+v", c)
	}
	if !strings.Contains(Notice, "LOINC® is a registered United States trademark of Regenstrief Institute, Inc.") {
		t.Error("the notice is not whole")
	}
}

func TestCheckDigit(t *testing.T) {
	for code, want := range map[string]bool{
		"38476-8": true, "38476-0": false, "2345-7": true, "2354-7": false, "98979-8": true, "": false, "-": false, "2345": false,
		"2345-77": false, "23a5-7": false, "12345678-0": false,
	} {
		if IsCode(code) != want {
			t.Errorf("%q", code)
		}
	}
}

func TestUnits(t *testing.T) {
	for printed, want := range map[string]string{
		"mg/dL": "mg/dL", "K/uL": "10*3/uL", "x10^3/µL": "10*3/uL", "Thousand/uL": "10*3/uL", " percent ": "%",
	} {
		if got, ok := UCUM(printed); !ok || got != want {
			t.Errorf("%q is %q", printed, got)
		}
	}
	if got, ok := UCUM("furlongs"); ok {
		t.Errorf("furlongs are %q", got)
	}
}

// People write units without the marks of UCUM.
func TestPrintedUnit(t *testing.T) {
	for unit, want := range map[string]string{
		"m[IU]/L": "mIU/L", "u[IU]/mL": "uIU/mL", "k[IU]/L": "kIU/L", "mg/dL": "mg/dL", "10*3/uL": "x10E3/uL", "mg/g{creat}": "mg/g creat",
		"mL/min/{1.73_m2}": "mL/min/1.73m2", "/[HPF]": "/hpf", "mm/h": "mm/hr", "{index_val}": "index val", "x10E3/uL": "x10E3/uL", "": "", "%": "%",
	} {
		if got := PrintedUnit(unit); got != want {
			t.Errorf("%q is %q, want %q", unit, got, want)
		}
	}
	for _, c := range codeTable() {
		if printed := PrintedUnit(c.Unit); strings.ContainsAny(printed, "[]{}*_") {
			t.Errorf("%s has the unit %q", c.Code, printed)
		}
	}
	for printed, unit := range printedUnits() {
		if again, ok := UCUM(PrintedUnit(unit)); !ok || again != unit {
			t.Errorf("%s (%s) is written %s, which reads as %q", unit, printed, PrintedUnit(unit), again)
		}
	}
}

func TestSlug(t *testing.T) {
	for name, want := range map[string]string{"T4, Free": "t4-free", " É 25-Hydroxy (D2+D3) ": "25-hydroxy-d2-d3", "—": ""} {
		if got := Slug(name); got != want {
			t.Errorf("%q is %q", name, got)
		}
	}
}
