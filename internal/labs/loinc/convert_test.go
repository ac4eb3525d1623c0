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
