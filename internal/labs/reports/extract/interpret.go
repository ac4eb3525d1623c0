package extract

import (
	"regexp"
	"slices"
	"strings"
)

// interpret compares the value with its range and its flag.
func (r *reader) interpret(row *Row, review func(Reason)) {
	class, _ := flagOf(row.Flag)
	rng := row.Range
	computed := "unknown"
	if row.Number != nil && (row.Type == Numeric || row.Type == Percentage || row.Comparator != "") {
		row.AboveMax, row.BelowMin, computed = compareBounds(*row.Number, row.Comparator, rng)
	} else if row.Type == Ranged && row.Comparator == "" {
		low, high, ok := intervalOf(row.Value, r.commas)
		if ok && rng.Max != nil && low > *rng.Max {
			row.AboveMax, computed = true, "abnormal"
		} else if ok && rng.Min != nil && high < *rng.Min {
			row.BelowMin, computed = true, "abnormal"
		} else if ok && (rng.Min == nil || low >= *rng.Min) && (rng.Max == nil || high <= *rng.Max) && (rng.Min != nil || rng.Max != nil) {
			computed = "normal"
		}
	} else {
		computed = expectation(row.Value, rng)
	}
	switch class {
	case "C":
		row.Interpretation = "critical"
	case "H", "L", "A":
		row.Interpretation = "abnormal"
	case "N":
		row.Interpretation = "normal"
	default:
		row.Interpretation = computed // without a range unknown: a missing flag says nothing
	}
	switch {
	case class == "H" && (row.BelowMin || computed == "normal" && row.Number != nil),
		class == "L" && (row.AboveMax || computed == "normal" && row.Number != nil),
		class == "A" && computed == "normal", class == "N" && computed == "abnormal",
		class == "C" && computed == "normal",
		class == "" && computed == "abnormal" && r.flags && (row.AboveMax || row.BelowMin):
		review(FlagDisagrees)
	}
}

// HasCriticalFlag reports whether the flag on the report means critical.
func (r *Row) HasCriticalFlag() bool {
	class, _ := flagOf(r.Flag)
	return class == "C"
}

// compareBounds compares a number with bounds. A comparator decides only when all
// values that it allows are on one side.
func compareBounds(v float64, comparator string, rng Range) (above, below bool, computed string) {
	if rng.Min == nil && rng.Max == nil {
		return false, false, "unknown"
	}
	over := rng.Max != nil && (v > *rng.Max || rng.MaxExclusive && v == *rng.Max)
	under := rng.Min != nil && (v < *rng.Min || rng.MinExclusive && v == *rng.Min)
	switch {
	case comparator == "" && over:
		return true, false, "abnormal"
	case comparator == "" && under:
		return false, true, "abnormal"
	case comparator == "":
		return false, false, "normal"
	case comparator[0] == '>':
		if rng.Max != nil && v >= *rng.Max {
			return true, false, "abnormal"
		}
		if rng.Max == nil && !under {
			return false, false, "normal"
		}
	case comparator[0] == '<':
		if rng.Min != nil && v <= *rng.Min {
			return false, true, "abnormal"
		}
		if rng.Min == nil && v <= *rng.Max {
			return false, false, "normal"
		}
	}
	return false, false, "unknown"
}

func intervalOf(text string, commas bool) (low, high float64, ok bool) {
	m := intervalStart.FindStringSubmatch(plainSpaces(text))
	if m == nil {
		return 0, 0, false
	}
	low, _, ok1 := parseNumber(m[1], commas)
	high, _, ok2 := parseNumber(m[2], commas)
	return low, high, ok1 && ok2
}

// expectation compares an answer in words with the expected one.
func expectation(value string, rng Range) string {
	if rng.Kind != RangeWords && rng.Kind != RangeTitre {
		return "unknown"
	}
	fold := func(s string) string {
		word := foldAnswer(s)
		if slices.Contains(negativeWords, word) {
			return "negative"
		}
		return word
	}
	got, want := fold(value), fold(rng.Expected)
	switch {
	case got == want || strings.Contains("/"+want+"/", "/"+got+"/"):
		return "normal"
	case rng.Kind == RangeTitre:
		return "unknown"
	case want == "negative" && (positiveStart.MatchString(got) || strings.ContainsAny(got, "123456789+")):
		return "abnormal"
	}
	return "unknown"
}

// check applies the rules of review.
func (r *reader) check(row *Row, value Value, source Source, d draft, review func(Reason)) {
	code := row.code()
	number := row.Number != nil
	isTail := row.Status == NoMatch && row.Type == Boolean && smallWord.MatchString(row.Name)                                   // "antibody" of "HIV 1/2 antibody"
	isBound := row.Status == NoMatch && row.Type == Ranged && row.Unit == "" && row.Range.Kind == RangeNone && d.culture == nil // "Group 3 <10"
	if row.Status == ReviewMatch || isTail || isBound {
		review(NameUncertain)
	}
	isOdd := row.Type == Boolean && strings.ContainsAny(row.Range.Text, "0123456789") // it may be a part of the answer
	isCut := row.Type == Boolean && strings.HasSuffix(row.Range.Text, "-")            // "Non-" of "Non-reactive"
	if row.Range.Kind == RangeOther && (number || isOdd || isCut) {
		review(RangeUnreadable)
	}
	if number && hasSecondNumber(value.Rest) && (strings.TrimSpace(d.rng) != "" || row.Range.Kind == RangeNone) {
		review(ColumnUncertain) // one of two numbers in the cell may be struck out, or corrected
	}
	if code != nil && number {
		switch {
		case row.Unit == "" && unitClass(code.Unit) != "" && code.Unit != "%":
			review(UnitMissing)
		case row.UCUM != "" && !unitFits(row.UCUM, code.Unit), row.UCUM == "meq/L" && !isIon(code):
			review(UnitConflict)
		case row.Unit != "" && row.UCUM == "":
			review(UnitUnknown)
		}
		if low, high, known := plausibleRange(code, row.UCUM); known && (*row.Number < low || *row.Number > high) {
			review(Implausible)
		}
	}
	if number && row.Range.Min != nil && row.Range.Max != nil || number && row.Range.Max != nil {
		factor := 25.0
		if source == FromOCR {
			factor = 4
		}
		if high := *row.Range.Max; high > 0 && *row.Number > factor*high || row.Range.Min != nil && *row.Range.Min > 0 && *row.Number < *row.Range.Min/factor {
			review(Implausible)
		}
	}
	if source != FromOCR {
		return
	}
	if code != nil && number && row.hasLostPoints(code, value) {
		review(Implausible)
	}
	for _, w := range d.valueWords {
		if w.Confidence < 0.8 {
			review(LowConfidence)
		}
	}
	for _, w := range d.rangeWords {
		if w.Confidence < 0.5 && strings.ContainsAny(w.Text, "0123456789") {
			review(LowConfidence)
		}
	}
	if number && value.Decimals < rangeDecimals(row.Range.Text) && row.Comparator == "" {
		review(PrecisionDiffers)
	}
	if row.Status == NoMatch {
		review(NameUncertain)
	}
}

// hasSecondNumber reports whether there is another value behind a value and its unit:
// 139 / 141, or 5.9 (corrected from 3.9).
func hasSecondNumber(rest string) bool {
	if _, after := takeUnit(rest); len(after) < len(rest) {
		rest = after
	}
	return secondNumber.MatchString(rest)
}

// secondNumber finds a number that is no part of a unit.
var secondNumber = regexp.MustCompile(`(?:^|[\s(;/<>=])\d+(?:[.,]\d+)?(?:[\s);/%]|$)`)

var decimalsForm = regexp.MustCompile(`\d[.,](\d+)`)

// rangeDecimals returns the decimals that all bounds of a range have.
func rangeDecimals(text string) int {
	all := decimalsForm.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return 0
	}
	least := len(all[0][1])
	for _, m := range all {
		least = min(least, len(m[1]))
	}
	return least
}
