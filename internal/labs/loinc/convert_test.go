package loinc

import (
	"math"
	"testing"
)

func TestFactor(t *testing.T) {
	const glucose, potassium, calcium, hemoglobin = "2345-7", "2823-3", "17861-6", "718-7"
	for _, c := range []struct {
		code, from, to string
		want           float64 // 0 when it is not known
	}{
		{hemoglobin, "g/L", "g/dL", 0.1},
		{hemoglobin, "g/dL", "mmol/L", 0},
		{glucose, "mg/dL", "mmol/L", 0.0555},
		{glucose, "mmol/L", "mg/dL", 18.0156},
		{glucose, "g/l", "mg/dL", 100},
		{glucose, "mmol/L", "furlongs", 0},
		{"", "mmol/L", "mg/dL", 0},
		{"", "mmol/L", "µmol/L", 1000},
		{potassium, "mEq/L", "mmol/L", 1},
		{calcium, "mEq/L", "mg/dL", 2.0039},
		{calcium, "mEq/L", "mmol/L", 0.5},
		{calcium, "mg/dL", "meq/L", 0.49903},
		{"1995-0", "mmol/L", "mEq/L", 2},
		{"10466-1", "mEq/L", "mmol/L", 1},
		{glucose, "mEq/L", "mg/dL", 0},
		{"6690-2", "K/uL", "cells/uL", 1000},
		{"6690-2", "x10E9/L", "x10E3/uL", 1},
		{"3016-3", "mIU/L", "uIU/mL", 1},
		{"5671-3", "mcg/dL", "umol/L", 0.04826},
		{"4544-3", "%", "L/L", 0},
	} {
		got, ok := Factor(c.code, c.from, c.to)
		if ok != (c.want != 0) || math.Abs(got-c.want) > c.want*0.001 {
			t.Errorf("%s: %s to %s is %v %v, want %v", c.code, c.from, c.to, got, ok, c.want)
		}
	}
}

// mEq/L is mmol/L for ions with one charge only.
func TestSameUnit(t *testing.T) {
	for _, c := range []struct {
		code, a, b string
		want       bool
	}{
		{"2951-2", "mEq/L", "mmol/L", true},
		{"1963-8", "mmol/L", "meq/l", true},
		{"33037-3", "mEq/L", "mmol/L", true},
		{"2000-8", "mEq/L", "mmol/L", false},
		{"2601-3", "mmol/L", "mEq/L", false},
		{"14749-6", "mEq/L", "mmol/L", false},
		{"", "mEq/L", "mmol/L", false},
		{"", "mEq/L", "meq/L", true},
		{"3016-3", "mIU/L", "uIU/mL", true},
		{"2345-7", "mg/dL", "mmol/L", false},
		{"2345-7", "furlongs", "miles", false},
	} {
		if SameUnit(c.code, c.a, c.b) != c.want {
			t.Errorf("%+v", c)
		}
	}
	if unit, _ := UCUM("mEq/L"); unit != "meq/L" {
		t.Errorf("mEq/L is %q", unit)
	}
}
