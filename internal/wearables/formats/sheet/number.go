package sheet

import (
	"math"
	"strconv"
	"strings"
)

// MilligramsPerMillimole turns glucose in mg/dL into mmol/L.
const MilligramsPerMillimole = 18.0182

// Number reads a decimal number, with a point, or with a comma as some
// languages write it. It refuses NaN, infinities and hexadecimal numbers.
func Number(s string) (float64, bool) {
	if s == "" || len(s) > 40 || strings.Trim(s, "0123456789+-.,eE") != "" {
		return 0, false
	}
	if strings.Count(s, ",") == 1 && !strings.Contains(s, ".") {
		s = strings.Replace(s, ",", ".", 1)
	}
	v, err := strconv.ParseFloat(s, 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// Glucose reads a concentration and turns it into mmol/L. The unit is how the
// file calls it.
func Glucose(s, unit string) (float64, bool) {
	v, ok := Number(s)
	if ok && !Millimolar(unit) {
		v /= MilligramsPerMillimole
	}
	return v, ok
}

// Millimolar reports whether a unit, or the name of a column with one, is mmol/L.
func Millimolar(unit string) bool { return strings.Contains(strings.ToLower(unit), "mmol") }

// Glucosic reports whether a text names one of the two units of glucose.
func Glucosic(unit string) bool {
	return Millimolar(unit) || strings.Contains(strings.ToLower(unit), "mg/dl")
}
