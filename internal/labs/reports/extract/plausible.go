package extract

import "hale/internal/labs/loinc"

// limits are values that a living person can have, generously, in the code's
// unit. They catch lost decimal points and wrong rows; they are no reference
// ranges.
var limits = map[string][2]float64{
	"2345-7": {10, 1500}, "1558-6": {10, 1500}, "14749-6": {0.5, 85}, "3094-0": {1, 250}, "22664-7": {0.3, 90}, "2160-0": {0.1, 40}, "14682-9": {8, 3500},
	"98979-8": {1, 200}, "33914-3": {1, 200}, "3097-3": {1, 150}, "2951-2": {95, 200}, "2823-3": {1, 12}, "2075-0": {50, 160}, "2028-9": {3, 65}, "1963-8": {3, 65},
	"17861-6": {3, 25}, "2000-8": {0.7, 6.5}, "33037-3": {-15, 60}, "2885-2": {1.5, 16}, "1751-7": {0.5, 8}, "10834-0": {0.2, 12}, "1759-0": {0.1, 6}, "1975-2": {0, 60}, "14631-6": {0, 1000},
	"1968-7": {0, 40}, "6768-6": {3, 5000}, "1920-8": {1, 30000}, "1742-6": {1, 30000}, "2324-2": {1, 10000}, "2777-1": {0.3, 20}, "19123-9": {0.3, 12}, "3084-1": {0.3, 30}, "14933-6": {15, 1800},
	"2093-3": {20, 1200}, "14647-2": {0.5, 31}, "2571-8": {8, 12000}, "14927-8": {0.1, 135}, "2085-9": {2, 200}, "14646-4": {0.05, 5.2}, "13457-7": {-20, 900}, "43396-1": {5, 1200}, "9830-1": {0.8, 60},
	"4548-4": {2.5, 22}, "6690-2": {0, 700}, "789-8": {0.5, 10}, "718-7": {1.5, 27}, "4544-3": {4, 80}, "787-2": {35, 160}, "785-6": {8, 60}, "786-4": {15, 50}, "788-0": {5, 45}, "777-3": {0, 4000},
	"32623-1": {3, 25}, "770-8": {0, 100}, "736-9": {0, 100}, "5905-5": {0, 100}, "713-8": {0, 100}, "706-2": {0, 100}, "751-8": {0, 400}, "731-0": {0, 600}, "742-7": {0, 150}, "711-2": {0, 150}, "704-7": {0, 60},
	"4537-7": {0, 200}, "3016-3": {0, 500}, "3024-7": {0, 15}, "14920-3": {0, 190}, "3051-0": {0, 50}, "62292-8": {1, 400}, "2132-9": {20, 20000}, "14685-2": {15, 15000}, "2276-4": {0.5, 100000},
	"2498-4": {2, 2000}, "14798-3": {0.4, 360}, "2500-7": {30, 1000}, "2502-3": {0, 110}, "2857-1": {0, 20000}, "1988-5": {0, 1000}, "5811-5": {1, 1.08}, "5803-2": {3.5, 10}, "6301-6": {0.5, 30}, "5902-2": {5, 250},
	"2731-8": {0.5, 5000}, "2986-8": {0, 5000}, "2143-6": {0, 400}, "13967-5": {0.5, 500}, "2284-8": {0.2, 200}, "20448-7": {0, 2000}, "30934-4": {0, 50000}, "1884-6": {5, 500}, "43583-4": {0, 1200},
}

// scales are the factors of units to the base of their class.
var scales = map[string]float64{
	"g/L": 1, "g/dL": 10, "mg/dL": 0.01, "mg/L": 1e-3, "ug/dL": 1e-5, "ug/mL": 1e-3, "ug/L": 1e-6, "ng/mL": 1e-6, "ng/dL": 1e-8, "ng/L": 1e-9, "pg/mL": 1e-9,
	"mmol/L": 1, "umol/L": 1e-3, "nmol/L": 1e-6, "pmol/L": 1e-9, "10*3/uL": 1e3, "10*6/uL": 1e6, "10*5/uL": 1e5, "/uL": 1, "%": 0.01, "L/L": 1,
	"m[IU]/L": 1, "u[IU]/mL": 1, "m[IU]/mL": 1e3, "[IU]/L": 1e3, "[IU]/mL": 1e6,
}

// usualUppers are upper bounds of reference ranges of analytes that are printed with
// decimals, in the code's unit. A scan can lose the point of a value and of its range
// alike: 4.2 in 3.9-5.5 becomes 42 in 39-55.
var usualUppers = map[string]float64{
	"2823-3": 5.3, "1751-7": 5.5, "2885-2": 8.5, "10834-0": 4, "1759-0": 2.5, "17861-6": 10.6, "2000-8": 2.65, "2160-0": 1.4, "14749-6": 7.8, "22664-7": 8.5, "1975-2": 1.3, "14631-6": 24, "1968-7": 0.5,
	"2777-1": 4.7, "19123-9": 2.6, "3084-1": 8.5, "4548-4": 6.5, "6690-2": 11.5, "789-8": 6.2, "718-7": 18, "4544-3": 54, "787-2": 101, "785-6": 35, "786-4": 37, "788-0": 16.5, "32623-1": 13,
	"751-8": 8, "731-0": 5, "742-7": 1.3, "711-2": 0.8, "704-7": 0.3, "770-8": 80, "736-9": 50, "5905-5": 13, "713-8": 8, "706-2": 2, "3016-3": 5.5, "3024-7": 2, "14920-3": 25, "3051-0": 4.8,
	"1988-5": 10, "6301-6": 3.5, "5902-2": 15.5, "14647-2": 6.2, "14927-8": 2.3, "14646-4": 3, "2143-6": 25, "2857-1": 6.5, "5811-5": 1.04, "5803-2": 8.5, "33037-3": 20,
}

// hasLostPoints reports whether value and range are several times as large as usual
// for the analyte, without decimals.
func (r *Row) hasLostPoints(code *loinc.Code, value Value) bool {
	usual, known := usualUppers[code.Code]
	factor, converts := unitFactor(code, r.UCUM)
	if !known || !converts || value.Decimals > 0 || rangeDecimals(r.Range.Text) > 0 {
		return false
	}
	upper := 4 * usual * factor
	if r.Range.Max == nil {
		return *r.Number > upper
	}
	return *r.Range.Max > upper
}

// plausibleRange returns the limits of a code in the unit of the report. Only the
// limits are converted, never the value.
func plausibleRange(code *loinc.Code, ucum string) (low, high float64, known bool) {
	l, known := limits[code.Code]
	factor, converts := unitFactor(code, ucum)
	return l[0] * factor, l[1] * factor, known && converts
}

// unitFactor returns the factor from the code's unit to the unit of the report.
func unitFactor(code *loinc.Code, ucum string) (factor float64, ok bool) {
	switch {
	case ucum == code.Unit || ucum == "" && unitClass(code.Unit) == "":
		return 1, true
	case ucum == "meq/L":
		return loinc.Factor(code.Code, code.Unit, ucum)
	case unitClass(ucum) == unitClass(code.Unit) && scales[ucum] != 0 && scales[code.Unit] != 0:
		return scales[code.Unit] / scales[ucum], true
	}
	return 0, false
}

// isIon reports whether the charge of an analyte is known. Then mEq/L can be its unit.
func isIon(code *loinc.Code) bool {
	_, known := loinc.Factor(code.Code, "meq/L", "mmol/L")
	return known
}
