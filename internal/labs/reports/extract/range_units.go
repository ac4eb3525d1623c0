package extract

import (
	"math"
	"strings"

	"hale/internal/labs/loinc"
)

// hasSameScale reports whether a number is the same in a printed unit and in a UCUM unit of
// an analyte.
func hasSameScale(code, printed, ucum string) bool {
	unit, _ := knownUnit(printed)
	factor, ok := loinc.Factor(code, unit, ucum)
	return unit == ucum || ok && math.Abs(factor-1) < 1e-9
}

// otherUnitIn returns the unit in a range if its numbers are not those of the unit of the
// value.
func otherUnitIn(rng, code, ucum string) string {
	if ucum == "" {
		return ""
	}
	fields := strings.Fields(plainSpaces(rng))
	for i := 1; i < len(fields); i++ {
		unit, _ := takeUnit(strings.Join(fields[i:], " "))
		isLast := strings.Join(fields[i:], " ") == unit
		if unit == "" || !isLast && !strings.Contains(unit, "/") || !strings.ContainsAny(fields[i-1], "0123456789") {
			continue
		}
		if !hasSameScale(code, unit, ucum) {
			return unit
		}
	}
	return ""
}

// rangeBehind returns the text behind a value and its unit.
func rangeBehind(rest string) string {
	_, after := takeUnit(rest)
	text, _ := cutFlag(after)
	return text
}
