package documents

import (
	"regexp"
	"strings"

	"hale/internal/labs/loinc"
)

// Units are printed as people write them: mIU/L, not m[IU]/L, and 10³/µL, not
// 10*3/uL.

var (
	powerOfTen = regexp.MustCompile(`(?i)^(?:x ?)?10(?:E|\*|\^)(\d+)`)
	micro      = regexp.MustCompile(`(^|[/ ])[uμ](g|L|l|mol|IU|U|m|Eq|kat)\b`)
	raised     = strings.NewReplacer("0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
	exponents  = strings.NewReplacer("m2", "m²", "mm3", "mm³", "cm3", "cm³")
)

// printedUnit returns a unit as people write it.
func printedUnit(unit string) string {
	unit = loinc.PrintedUnit(strings.TrimSpace(unit))
	unit = powerOfTen.ReplaceAllStringFunc(unit, func(power string) string {
		return "10" + raised.Replace(powerOfTen.FindStringSubmatch(power)[1])
	})
	unit = micro.ReplaceAllString(unit, "${1}µ${2}")
	return strings.Replace(exponents.Replace(unit), "1.73m²", "1.73 m²", 1)
}
