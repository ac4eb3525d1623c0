package loinc

import "strings"

// Factor returns the number by which a value in one printed unit is multiplied
// to get the other unit: 0.1 from g/L to g/dL. Between mass and substance, such
// as mg/dL and mmol/L, it needs the molar mass of the component of a code. It
// reports false when it does not know the factor.
func Factor(code, from, to string) (float64, bool) {
	a, okA := readUnit(code, from)
	b, okB := readUnit(code, to)
	if !okA || !okB {
		return 0, false
	}
	factor := a.scale / b.scale
	if a.what == b.what {
		return factor, true
	}
	mass, known := molarMasses[component(code)]
	switch {
	case !known:
	case a.what == "mol" && b.what == "g":
		return factor * mass, true
	case a.what == "g" && b.what == "mol":
		return factor / mass, true
	}
	return 0, false
}

// concentration is a unit as a multiple of g/L, mol/L, U/L, osm/L or 1/L.
type concentration struct {
	what  string
	scale float64
}

// readUnit reads a printed unit such as µg/dL, or mEq/L of an ion.
func readUnit(code, printed string) (concentration, bool) {
	unit := normalise(printed)
	valence, isIon := 1.0, true
	if inEquivalents(printed) {
		valence, isIon = valences[component(code)]
	}
	if known, ok := UCUM(printed); ok {
		unit = normalise(known)
	}
	above, below, _ := strings.Cut(unit, "/")
	volume, ok := metric(below, "l")
	if !ok || !isIon {
		return concentration{}, false
	}
	if power, isCount := counts[above]; isCount {
		return concentration{"count", power / volume}, true
	}
	for _, base := range bases {
		if amount, ok := metric(above, base.unit); ok {
			return concentration{base.what, amount / valence / volume}, true
		}
	}
	return concentration{}, false
}

// metric reads a unit with a metric prefix and returns the multiple of its base.
func metric(unit, base string) (float64, bool) {
	prefix, ok := strings.CutSuffix(unit, base)
	multiple, known := prefixes[prefix]
	return multiple, ok && known
}

// SameUnit reports whether a number means the same in two printed units. Sodium has
// the same number in mEq/L and mmol/L. Calcium does not, because its ion has two charges.
func SameUnit(code, a, b string) bool {
	one, known := UCUM(a)
	if other, _ := UCUM(b); known && one == other {
		return true
	}
	if !inEquivalents(a) && !inEquivalents(b) {
		return false
	}
	factor, ok := Factor(code, a, b)
	return ok && factor == 1
}

// inEquivalents reports whether a unit counts charges, such as mEq/L.
func inEquivalents(unit string) bool { return strings.Contains(normalise(unit), "eq/") }

// bases are the units without prefix, and their kinds. An equivalent is a mole of
// charges.
var bases = []struct{ unit, what string }{
	{"mol", "mol"}, {"eq", "mol"}, {"g", "g"}, {"u", "u"}, {"iu", "u"}, {"[iu]", "u"}, {"osm", "osm"},
}

var (
	prefixes = map[string]float64{"": 1, "k": 1e3, "d": 1e-1, "c": 1e-2, "m": 1e-3, "u": 1e-6, "mc": 1e-6, "n": 1e-9, "p": 1e-12, "f": 1e-15}
	counts   = map[string]float64{"": 1, "10*3": 1e3, "10*6": 1e6, "10*9": 1e9, "10*12": 1e12}
	// valences are the charges of ions that labs report in mEq/L.
	valences = map[string]float64{
		"Sodium": 1, "Potassium": 1, "Chloride": 1, "Carbon dioxide, total": 1, "Bicarbonate": 1, "Anion gap": 1, "Anion gap 3": 1, "Lithium": 1, "Lactate": 1, "Calcium": 2, "Calcium.ionized": 2, "Magnesium": 2,
	}
	// molarMasses are in g/mol. Urea nitrogen is the nitrogen of one urea, and
	// phosphate is measured as phosphorus. Hemoglobin is absent: a mole may be of
	// the tetramer or of one chain.
	molarMasses = map[string]float64{
		"Glucose": 180.156, "Fasting glucose": 180.156, "Urea nitrogen": 28.013, "Creatinine": 113.12, "Calcium": 40.078, "Calcium.ionized": 40.078,
		"Bilirubin.total": 584.66, "Phosphate": 30.974, "Magnesium": 24.305, "Triglyceride": 885.4, "Cholesterol": 386.65, "Thyroxine (T4) free": 776.87,
		"25-Hydroxyvitamin D2+25-Hydroxyvitamin D3": 400.64, "Lead": 207.2, "Ethanol": 46.069, "Lithium": 6.94, "Valproate": 144.21, "Digoxin": 780.94,
		"Sodium": 22.99, "Potassium": 39.098, "Chloride": 35.45,
	}
)

// component returns the component of a code, such as Glucose.
func component(code string) string {
	if c, ok := Find(code); ok {
		return c.Component
	}
	return ""
}
