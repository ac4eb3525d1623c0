package sandboxlab

import (
	"fmt"
	"math"
	"slices"

	"hale/internal/labs/catalogue"
)

// The LOINC codes of results that follow from other results, and of those other
// results.
const (
	glucose, fastingGlucose              = "2345-7", "1558-6"
	urea, creatinine, ureaRatio, egfr    = "3094-0", "2160-0", "3097-3", "98979-8"
	sodium, chloride, bicarbonate        = "2951-2", "2075-0", "2028-9"
	anionGap, osmolality                 = "33037-3", "2692-2"
	protein, albumin, globulin, albRatio = "2885-2", "1751-7", "10834-0", "1759-0"

	bilirubin, directBilirubin, indirectBilirubin = "1975-2", "1968-7", "1971-1"

	cholesterol, triglycerides, hdl     = "2093-3", "2571-8", "2085-9"
	ldl, directLDL, vldl                = "13457-7", "18262-6", "13458-5"
	nonHDL, cholesterolRatio            = "43396-1", "9830-1"
	apoB, apoA1                         = "1884-6", "1869-7"
	hemoglobinA1c, averageGlucose       = "4548-4", "27353-2"
	redCells, hemoglobin, hematocrit    = "789-8", "718-7", "4544-3"
	cellVolume, cellHgb, cellHgbDensity = "787-2", "785-6", "786-4"
	whiteCells                          = "6690-2"

	neutrophils, lymphocytes, monocytes  = "770-8", "736-9", "5905-5"
	eosinophils, basophils, immatureCell = "713-8", "706-2", "71695-1"

	totalT4, t3Uptake, thyroxineIndex                      = "3026-2", "3050-2", "32215-6"
	iron, ironBinding, unsaturated, saturation             = "2498-4", "2500-7", "2501-5", "2502-3"
	transferrin                                            = "3034-6"
	testosterone, freeT, freeTPercent, bioavailableT       = "2986-8", "2991-8", "15432-8", "2990-0"
	psa, freePSA, freePSAPercent                           = "2857-1", "10886-0", "12841-3"
	prothrombin, inr                                       = "5902-2", "6301-6"
	urineAlbumin, urineCreatinine, urineRatio              = "14957-5", "2161-8", "14959-1"
	cortisol, morningCortisol, sensitiveCRP, reactiveProt  = "2143-6", "9813-7", "30522-7", "1988-5"
	surfaceAntibody, surfaceAntibodyLevel, hcg, hcgPresent = "22322-2", "16935-9", "21198-7", "2118-8"
)

// subject has the facts about a person that values depend on.
type subject struct {
	sex string
	age int // in years at collection
}

// quantities are values by LOINC code, rounded as printed.
type quantities map[string]float64

// relation calculates a result from others of the same report. The inputs are
// rounded as printed, so a reader of the report can repeat the calculation.
type relation struct {
	code string
	// from are the inputs. Without all of them the result is not calculated.
	from []string
	// optional are inputs that count when the report has them.
	optional  []string
	calculate func(v quantities, p subject) float64
	// excuse explains why the value cannot be calculated; empty if it can.
	excuse func(v quantities, p subject) string
	// least is the smallest value of a healthy person, where the reference
	// range has no lower limit.
	least float64
}

// maxFriedewald is the level of triglycerides from which the formula of
// Friedewald is not valid, in mg/dL.
const maxFriedewald = 400

// relations lists the relations. Inputs that are calculated come first.
var relations = []relation{
	{code: fastingGlucose, from: []string{glucose}, calculate: copyOf(glucose)},
	{code: egfr, from: []string{creatinine}, calculate: filtration, excuse: noFiltration},
	{code: ureaRatio, from: []string{urea, creatinine}, calculate: quotient(urea, creatinine, 1)},
	{code: anionGap, from: []string{sodium, chloride, bicarbonate}, calculate: difference(sodium, chloride, bicarbonate)},
	{code: osmolality, from: []string{sodium, glucose, urea}, calculate: func(v quantities, _ subject) float64 {
		return 2*v[sodium] + v[glucose]/18 + v[urea]/2.8
	}},
	{code: globulin, from: []string{protein, albumin}, calculate: difference(protein, albumin), least: 1.9},
	{code: albRatio, from: []string{protein, albumin}, calculate: func(v quantities, _ subject) float64 {
		return v[albumin] / (v[protein] - v[albumin])
	}},
	{code: indirectBilirubin, from: []string{bilirubin, directBilirubin}, calculate: difference(bilirubin, directBilirubin)},

	{code: vldl, from: []string{triglycerides}, calculate: quotient(triglycerides, "", 0.2), excuse: tooFat},
	{code: nonHDL, from: []string{cholesterol, hdl}, calculate: difference(cholesterol, hdl), least: 60},
	{code: cholesterolRatio, from: []string{cholesterol, hdl}, calculate: quotient(cholesterol, hdl, 1)},
	{code: ldl, from: []string{cholesterol, hdl, triglycerides}, calculate: friedewald, excuse: tooFat, least: 40},
	{code: directLDL, from: []string{cholesterol, hdl, triglycerides}, calculate: friedewald, least: 40},
	{code: apoB, from: []string{cholesterol, hdl}, calculate: func(v quantities, _ subject) float64 { return 0.68 * (v[cholesterol] - v[hdl]) }},
	{code: apoA1, from: []string{hdl}, calculate: func(v quantities, _ subject) float64 { return 72 + 1.2*v[hdl] }},

	{code: averageGlucose, from: []string{hemoglobinA1c}, calculate: func(v quantities, _ subject) float64 { return 28.7*v[hemoglobinA1c] - 46.7 }}, // ADAG

	{code: cellVolume, from: []string{hematocrit, redCells}, calculate: quotient(hematocrit, redCells, 10)},
	{code: cellHgb, from: []string{hemoglobin, redCells}, calculate: quotient(hemoglobin, redCells, 10)},
	{code: cellHgbDensity, from: []string{hemoglobin, hematocrit}, calculate: quotient(hemoglobin, hematocrit, 100)},
	{
		code: neutrophils, from: []string{lymphocytes, monocytes, eosinophils, basophils}, optional: []string{immatureCell},
		calculate: func(v quantities, _ subject) float64 {
			return 100 - v[lymphocytes] - v[monocytes] - v[eosinophils] - v[basophils] - v[immatureCell]
		},
	},
	{code: "751-8", from: []string{whiteCells, neutrophils}, calculate: percentOf(whiteCells, neutrophils)},
	{code: "731-0", from: []string{whiteCells, lymphocytes}, calculate: percentOf(whiteCells, lymphocytes)},
	{code: "742-7", from: []string{whiteCells, monocytes}, calculate: percentOf(whiteCells, monocytes)},
	{code: "711-2", from: []string{whiteCells, eosinophils}, calculate: percentOf(whiteCells, eosinophils)},
	{code: "704-7", from: []string{whiteCells, basophils}, calculate: percentOf(whiteCells, basophils)},
	{code: "53115-2", from: []string{whiteCells, immatureCell}, calculate: percentOf(whiteCells, immatureCell)},

	{code: thyroxineIndex, from: []string{totalT4, t3Uptake}, calculate: percentOf(totalT4, t3Uptake)},
	{code: unsaturated, from: []string{ironBinding, iron}, calculate: difference(ironBinding, iron)},
	{code: saturation, from: []string{iron, ironBinding}, calculate: quotient(iron, ironBinding, 100)},
	{code: transferrin, from: []string{ironBinding}, calculate: quotient(ironBinding, "", 0.8)},
	// Free testosterone is in pg/mL, total and bioavailable testosterone in
	// ng/dL: 1 ng/dL is 10 pg/mL. Albumin binds about 22 times the free part.
	{code: freeTPercent, from: []string{freeT, testosterone}, calculate: quotient(freeT, testosterone, 10)},
	{code: bioavailableT, from: []string{freeT, testosterone}, calculate: func(v quantities, _ subject) float64 {
		return min(2.34*v[freeT], v[testosterone])
	}},
	{code: freePSAPercent, from: []string{freePSA, psa}, calculate: quotient(freePSA, psa, 100)},
	{code: inr, from: []string{prothrombin}, calculate: quotient(prothrombin, "", 1/10.5)},
	// mg/L over mg/dL, in mg/g.
	{code: urineRatio, from: []string{urineAlbumin, urineCreatinine}, calculate: quotient(urineAlbumin, urineCreatinine, 100)},
	{code: morningCortisol, from: []string{cortisol}, calculate: copyOf(cortisol)},
	{code: reactiveProt, from: []string{sensitiveCRP}, calculate: copyOf(sensitiveCRP)},
}

func copyOf(code string) func(quantities, subject) float64 {
	return func(v quantities, _ subject) float64 { return v[code] }
}

// quotient divides two values; without a divisor it only multiplies.
func quotient(over, under string, factor float64) func(quantities, subject) float64 {
	return func(v quantities, _ subject) float64 {
		if under == "" {
			return v[over] * factor
		}
		return v[over] / v[under] * factor
	}
}

func percentOf(whole, percent string) func(quantities, subject) float64 {
	return func(v quantities, _ subject) float64 { return v[whole] * v[percent] / 100 }
}

func difference(from string, less ...string) func(quantities, subject) float64 {
	return func(v quantities, _ subject) float64 {
		d := v[from]
		for _, code := range less {
			d -= v[code]
		}
		return d
	}
}

// friedewald returns LDL cholesterol. Very high triglycerides carry less
// cholesterol than the formula expects; only a direct measurement has a value
// then.
func friedewald(v quantities, _ subject) float64 {
	if v[triglycerides] >= maxFriedewald {
		return v[cholesterol] - v[hdl] - v[triglycerides]/8
	}
	return v[cholesterol] - v[hdl] - v[triglycerides]/5
}

func tooFat(v quantities, _ subject) string {
	if v[triglycerides] >= maxFriedewald {
		return fmt.Sprintf("Not calculated: triglycerides of %d mg/dL or more", maxFriedewald)
	}
	return ""
}

// filtration returns the filtration rate of the kidneys: CKD-EPI 2021, without
// race.
func filtration(v quantities, p subject) float64 {
	kappa, alpha, factor := 0.9, -0.302, 1.0
	if p.sex == "female" {
		kappa, alpha, factor = 0.7, -0.241, 1.012
	}
	r := v[creatinine] / kappa
	return 142 * math.Pow(min(r, 1), alpha) * math.Pow(max(r, 1), -1.2) * math.Pow(0.9938, float64(p.age)) * factor
}

func noFiltration(_ quantities, p subject) string {
	switch {
	case p.age < 18:
		return "Not calculated under the age of 18"
	case p.sex != "female" && p.sex != "male":
		return "Not calculated without the sex of the patient"
	}
	return ""
}

// wordRelation decides an ordinal result by a quantity.
type wordRelation struct {
	code, from string
	threshold  float64 // at or above it the result is high
	high, low  string
}

var wordRelations = []wordRelation{
	{surfaceAntibody, surfaceAntibodyLevel, 10, "Reactive", "Non Reactive"},
	{hcgPresent, hcg, 5, "Positive", "Negative"},
}

// usesUnits reports whether results have the units that the relation is written
// for: those of the built-in catalogue.
func (r *relation) usesUnits(assays map[string]catalogue.Assay) bool {
	for _, code := range append([]string{r.code}, r.from...) {
		a, given := assays[code]
		if known, _ := catalogue.KnownAssay(code); given && a.Unit != known.Unit {
			return false
		}
	}
	return true
}

// inputs returns the inputs that a report has; nil if one is missing that the
// relation needs.
func (r *relation) inputs(has func(code string) bool) []string {
	for _, code := range r.from {
		if !has(code) {
			return nil
		}
	}
	all := slices.Clone(r.from)
	for _, code := range r.optional {
		if has(code) {
			all = append(all, code)
		}
	}
	return all
}
