package extract

import (
	"regexp"
	"slices"
	"strings"

	"hale/internal/labs/loinc"
)

// moreUnits are printed units beside the table of package loinc, in lower case
// without blanks.
var moreUnits = map[string]string{
	"l/l": "L/L", "g/g": "g/g", "mg/24h": "mg/(24.h)", "mg/24hr": "mg/(24.h)", "g/24h": "g/(24.h)", "copies/ml": "{copies}/mL", "iu/dl": "[IU]/dL",
	"titer": "{titer}", "titre": "{titer}", "index": "{index}", "s/co": "{s_co_ratio}", "ug/mlfeu": "ug/mL{FEU}", "mg/lfeu": "ug/mL{FEU}", "ngfeu/ml": "ng/mL{FEU}",
	"pg/ml": "pg/mL", "ng/mlfeu": "ng/mL{FEU}", "u": "U", "umol/day": "umol/(24.h)", "10^3/mm3": "10*3/uL", "10^6/mm3": "10*6/uL", "/mm3": "/uL", "cells/mm3": "/uL", "fl/cell": "fL",
	"103/mm3": "10*3/uL", "106/mm3": "10*6/uL", "x103/mm3": "10*3/uL", "x106/mm3": "10*6/uL", "thou/mm3": "10*3/uL", "thou/cumm": "10*3/uL", "mill/mm3": "10*6/uL", "cells/cu.mm": "/uL", "/cu.mm": "/uL", "lakhs/cu.mm": "10*5/uL", "mill/cu.mm": "10*6/uL",
	"x10(9)/l": "10*3/uL", "x10(12)/l": "10*6/uL", "10(9)/l": "10*3/uL", "10(12)/l": "10*6/uL", "x10(3)/ul": "10*3/uL", "x10(6)/ul": "10*6/uL", "10e9/l": "10*3/uL", "10e12/l": "10*6/uL", "x10e12/l": "10*6/uL",
	"x109/l": "10*3/uL", "x1012/l": "10*6/uL", "109/l": "10*3/uL", "1012/l": "10*6/uL", "g/100ml": "g/dL", "mg/100ml": "mg/dL",
	"x10*9/l": "10*3/uL", "x10*12/l": "10*6/uL", "x10*3/ul": "10*3/uL", "x10*6/ul": "10*6/uL", "k/cumm": "10*3/uL", "lakhs/cumm": "10*5/uL", "lakh/cumm": "10*5/uL", "u/g": "U/g", "mmol/24h": "mmol/(24.h)", "%ofhemoglobin": "%", "%oftotalhgb": "%", "%hb": "%", "mg/mg": "mg/mg{creat}", "mg/mmol": "mg/mmol{creat}", "µkat/l": "ukat/L", "ukat/l": "ukat/L",
	"gpt/l": "10*3/uL", "tpt/l": "10*6/uL", "t/l": "10*6/uL", "mio/ul": "10*6/uL", "mio./ul": "10*6/uL", "tsd/ul": "10*3/uL", "tsd./ul": "10*3/uL",
	"thousand/mcl": "10*3/uL", "million/mcl": "10*6/uL", "thou/mcl": "10*3/uL", "mill/mcl": "10*6/uL", "k/mcl": "10*3/uL", "m/mcl": "10*6/uL", "x10e3/mcl": "10*3/uL", "10e3/mcl": "10*3/uL", "cells/μl": "/uL", "units/ml": "U/mL", "mg/gcreat.": "mg/g{creat}", "kua/l": "k[IU]/L", "inr": "{INR}", "ph": "[pH]", "mmol/kg": "mmol/kg", "g/l": "g/L", "mosm/l": "mosm/L", "nmol/ml": "umol/L", "pmol/ml": "nmol/L", "umol/l": "umol/L", "mu/ml": "m[IU]/mL", "uu/l": "u[IU]/L", "iu/ml": "[IU]/mL", "au/ml": "[arb'U]/mL", "eliau/ml": "U/mL", "gplu/ml": "[GPL'U]/mL", "mm/hour": "mm/h", "mm/1h": "mm/h", "mm": "mm", "mmol/l": "mmol/L", "mmol/molhb": "mmol/mol",
	"ml/min/1.73m*2": "mL/min/{1.73_m2}",
}

// knownUnit returns the UCUM form of a printed unit.
func knownUnit(printed string) (string, bool) {
	printed = strings.Trim(strings.TrimSpace(printed), "()[],;")
	if printed == "" || len(printed) > 24 {
		return "", false
	}
	if ucum, ok := loinc.UCUM(printed); ok {
		return ucum, true
	}
	key := strings.NewReplacer(" ", "", "µ", "u", "μ", "u", "×", "x", "¹", "1", "²", "2", "³", "3", "⁶", "6", "⁹", "9").Replace(strings.ToLower(printed))
	if ucum, ok := moreUnits[key]; ok {
		return ucum, true
	}
	if ucum, ok := loinc.UCUM(key); ok {
		return ucum, true
	}
	if m := powerOfTen.FindStringSubmatch(key); m != nil {
		if m[1] == "6" || m[3] == "12" {
			return "10*6/uL", true
		}
		return "10*3/uL", true
	}
	return "", false
}

// cellName is the name of cells that are counted, in English, French or German.
var cellName = regexp.MustCompile(`(?i)\b(?:wbcs?|rbcs?|plts?|platelets?|cells?)\b|thromboc?[yz]|plaquett|leu[ck]o[cz]yt|lym(?:ph|f)o[cz]yt|mono[cz]yt|granulo[cz]yt|erythro[cz]yt|r[ée]ti[ck]ulo[cz]yt|neutro|eosino|basophil|h[ée]maties|globules|blast`)

// cellUnit returns the UCUM form of a unit of a row. "G/l" is giga per litre for counts
// of cells. For other analytes it is grams per litre. "IU/L" is a unit of activity for
// enzymes, and an international unit for hormones.
func (d *dictionary) cellUnit(name, printed string) (string, bool) {
	unit := strings.ReplaceAll(strings.Trim(printed, "()[],;"), " ", "")
	if unit == "G/l" || unit == "G/L" {
		isCount := cellName.MatchString(name)
		for _, n := range d.find(name) {
			isCount = isCount || unitClass(n.code.Unit) == "count"
		}
		if isCount {
			return "10*3/uL", true
		}
	}
	if strings.EqualFold(unit, "IU/L") && d.hasArbitraryUnit(name) {
		return "[IU]/L", true
	}
	return knownUnit(printed)
}

// hasArbitraryUnit reports whether all codes of a name have international units.
func (d *dictionary) hasArbitraryUnit(name string) bool {
	found := d.find(name)
	return len(found) > 0 && !slices.ContainsFunc(found, func(n namedCode) bool { return n.code.Scale == "Qn" && unitClass(n.code.Unit) != "arbitrary" })
}

// unitAtEnd finds a unit in brackets or behind a comma at the end of a name or a header.
var unitAtEnd = regexp.MustCompile(`(?:[(\[]([^()\[\]]+)[)\]]|,\s*(\S+))\s*$`)

// unitInText returns the unit at the end of a name or a header: "Sodium (mmol/L)", "Result,
// mmol/L". Short forms that can be other words, such as INR, are none.
func unitInText(text string) string {
	m := unitAtEnd.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	unit := strings.TrimSpace(m[1] + m[2])
	isPlain := strings.ContainsAny(unit, "/%") || unit == "fL" || unit == "pg"
	if !isPlain || !isUnit(unit) {
		return ""
	}
	return unit
}

// powerOfTen reads powers whose mark recognition spoils: 10%9/L, 1043/uL.
var powerOfTen = regexp.MustCompile(`^x?10(?:[%°*'"^#~4]|\^)?(3|6)/(ul|mcl)$|^x?10(?:[%°*'"^#~4]|\^)?(9|12)/(l)$`)

// unitShape accepts texts that look like a unit outside of the tables.
var unitShape = regexp.MustCompile(`(?i)^(?:x?\s?10\s?[\^*e]?\s?\d{1,2}\s?/\s?[a-zµμ]{1,5}|[a-zµμ%]{1,8}/[a-z0-9.µμ²/ ]{1,14}|%|[a-zµμ]{1,3}g|fl|pg|sec(?:onds)?|ratio|index|titer)$`)

func looksLikeUnit(text string) bool {
	text = strings.TrimSpace(text)
	if text == "" {
		return false
	}
	if _, ok := knownUnit(text); ok {
		return true
	}
	return unitShape.MatchString(strings.Trim(text, "()[]"))
}

// unitClass groups units that can be converted without knowing the substance.
func unitClass(ucum string) string {
	switch ucum {
	case "", "{ratio}", "{index}", "{INR}", "[pH]", "{SG}", "{s_co_ratio}", "{titer}", "1":
		return ""
	case "%", "L/L":
		return "fraction"
	case "g/L", "g/dL", "mg/dL", "mg/L", "ug/dL", "ug/mL", "ug/L", "ng/mL", "ng/dL", "ng/L", "pg/mL", "ug/mL{FEU}", "ng/mL{FEU}":
		return "mass"
	case "mmol/L", "umol/L", "nmol/L", "pmol/L", "meq/L":
		return "moles"
	case "10*3/uL", "10*6/uL", "10*5/uL", "/uL":
		return "count"
	case "[IU]/mL", "[IU]/L", "m[IU]/L", "m[IU]/mL", "u[IU]/mL", "k[IU]/L", "U/mL", "[IU]/dL", "[arb'U]/mL", "u[IU]/L":
		return "arbitrary"
	case "U/L", "ukat/L":
		return "activity"
	case "mg/g{creat}", "ug/mg{creat}", "mg/mg{creat}", "mg/mmol{creat}":
		return "per creatinine"
	case "/[HPF]", "/[LPF]":
		return "field"
	case "mL/min/{1.73_m2}", "mL/min":
		return "clearance"
	}
	return ucum
}

// unitFits reports whether a value in a printed unit can be the code's.
func unitFits(ucum, codeUnit string) bool {
	a, b := unitClass(ucum), unitClass(codeUnit)
	return a == b || a == "" && b == ""
}

// commonUnits are printed forms of units, for what recognition makes of them.
var commonUnits = []string{
	"mg/dL", "g/dL", "mmol/L", "mEq/L", "umol/L", "U/L", "IU/L", "ng/mL", "ng/dL", "pg/mL", "mcg/dL", "ug/dL", "mIU/L", "uIU/mL", "IU/mL", "mg/L", "g/L", "fL", "pg", "%",
	"mm/h", "mm/hr", "cells/uL", "x10E3/uL", "x10E6/uL", "10^3/uL", "10^6/uL", "Thousand/uL", "Million/uL", "K/uL", "10^9/L", "x10^9/L", "10^12/L", "x10^12/L", "nmol/L", "pmol/L", "mL/min/1.73m2", "mL/min/1.73", "/HPF", "/LPF",
}

// nearestUnit returns the common unit of an analyte that a misread unit resembles.
func nearestUnit(printed, codeUnit string) (unit, ucum string) {
	key := strings.ToLower(strings.Trim(strings.ReplaceAll(printed, " ", ""), ".,;|'"))
	best := 1 + max(1, len(key)/3)
	for _, candidate := range commonUnits {
		form, _ := knownUnit(candidate)
		if !unitFits(form, codeUnit) {
			continue
		}
		if d := editDistance(key, strings.ToLower(candidate), best); d < best {
			best, unit, ucum = d, candidate, form
		}
	}
	return unit, ucum
}
