package extract

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"hale/internal/labs/loinc"
)

var (
	calculatedName = regexp.MustCompile(`(?i)\bcalc(?:\.|ulat\w*)?(?:\W|$)|estimated|\begfr\b|anion gap|\bvldl\b|non.?hdl|globulin|% saturation|\beag\b|mean corpuscular|\bmc[hv]c?\b`)
	sensitiveName  = regexp.MustCompile(`(?i)high[- ]sensitiv|\bhs[- ]?(?:crp|tn|trop)|ultra.?sensitive|sensitive`)
	bloodGroup     = regexp.MustCompile(`(?i)\b(?:abo|blood (?:group|type))\b`)
	bloodType      = regexp.MustCompile(`(?i)^(?:a|b|ab|o)(?:\s*(?:rh)?\s*\(?d?\)?\s*(?:\+|-|pos(?:itive)?|neg(?:ative)?))?$`)
	numberLike     = regexp.MustCompile(`^[<>]?[0-9OolI|SB.,]+$`)
)

// gravityForm is a specific gravity with a decimal comma: it can be no thousand.
var (
	gravityName = regexp.MustCompile(`(?i)\b(?:specific|sp\.?|relative)\s*(?:gravity|density)\b`)
	gravityForm = regexp.MustCompile(`^\s*[<>]?=?\s*1,0\d\d(?:\s*[-–]\s*1,0\d\d)?\s*[HL*]?\s*$`)
)

// judge turns a draft into a row: it reads value, unit and range, finds the code,
// and decides what a person must look at.
func (r *reader) judge(d draft, who Patient) Row {
	page := r.pageOf(d.page)
	row := Row{Name: d.name, Panel: d.panel, Page: page.Number, Kind: "unknown", Sensitivity: "unknown", SampleType: "unknown", Interpretation: "unknown"}
	review := func(reason Reason) {
		row.NeedsReview = true
		for _, have := range row.Reasons {
			if have == reason {
				return
			}
		}
		row.Reasons = append(row.Reasons, reason)
	}
	for _, reason := range d.reasons {
		review(reason)
	}
	if page.Source == FromOCR {
		d.value, d.rng = cleanNumber(d.value, r.commas), salvageRange(d.rng, r.commas)
		if m := groupOfOne.FindStringSubmatch(d.value); m != nil && !r.commas && threeDecimals.MatchString(d.rng) { // 1,015 in 1.005-1.030
			d.value = m[1] + "." + m[2]
		}
	}
	if page.LowResolution {
		d.value = coarseNumber(d.value, d.name)
	}
	isGravity := gravityName.MatchString(d.name) && gravityForm.MatchString(d.value) && (d.rng == "" || gravityForm.MatchString(d.rng))
	commas := r.commas || isGravity
	value, ok := ParseValue(d.value, commas)
	if !ok && bloodGroup.MatchString(d.name) && bloodType.MatchString(strings.TrimSpace(d.value)) {
		value, ok = Value{Text: plainSpaces(d.value), Type: Comment}, true
	}
	switch {
	case !ok && d.culture != nil:
		value = Value{Text: d.value, Type: Comment}
	case !ok && strings.TrimSpace(d.value) == "":
		value = Value{Type: Comment}
		review(ValueMissing)
	case !ok:
		value = r.oddValue(d.value, page.Source, review)
	}
	value.keepDenied()
	if earlierAside.MatchString(noteIn(value.Rest, r.commas)) || r.isDatedBefore(value.Rest) { // "6.9 (old)"
		d.reasons = append(slices.Clone(d.reasons), OlderResult)
		review(OlderResult)
	}
	row.Value, row.Type, row.Number, row.Comparator = value.Text, value.Type, value.Number, value.Comparator
	rngText := strings.TrimSpace(d.rng)
	behind := value.Rest
	kind := ParseRange(behind, r.commas, who).Kind
	if value.Type == Boolean && (kind == RangeTitre || kind != RangeWords && strings.HasPrefix(behind, "(")) { // it is the value's
		behind = ""
	}
	unit, second := d.unit, r.secondValue(d.unit, value)
	if second != "" {
		unit = ""
		d.notes = append(slices.Clone(d.notes), second)
		review(ColumnUncertain)
	}
	d.unit = unit
	row.Unit, rngText = unitOf(unit, behind, rngText, r.commas)
	if value.Type == Boolean && d.unit == "" && rngText == strings.TrimSpace(d.rng) { // "Reactive (index 8.9)"
		row.Unit = ""
	}
	row.UCUM, _ = r.dict.cellUnit(d.name, row.Unit)
	row.Range = ParseRange(rngText, commas, who)
	row.Flag = flagText(d.flag, cmp.Or(value.Flag, flagBehindUnit(value.Rest)))
	r.annotate(&row, d, value, page.Source, review)
	if page.LowResolution && hasLostPoint(&row, value) {
		putPoint(&row, r.commas)
		review(PrecisionDiffers)
	}
	if second != "" { // the range may be that of the second value
		row.Range.dropBounds()
	}
	if row.Range.hasBounds() && !isGravity && !r.notation.rangeIsCertain(&row) {
		row.Range.dropBounds()
		review(NumberUncertain)
	}
	if row.Number != nil && !isGravity && !r.notation.numberIsCertain(value.Text, &row, page.Source) {
		row.Number, row.Comparator = nil, ""
		review(NumberUncertain)
	}
	if slices.Contains(d.reasons, OlderResult) { // the report's day of collection is not its day
		row.Number, row.Comparator = nil, ""
	}

	specimen := d.specimen
	if s := specimenIn(d.name); s != "" && (s != "serum_plasma_blood" || specimen == "" && !strings.Contains(strings.ToLower(d.name), "occult")) {
		specimen = s // "Blood" in a name of the urinalysis is what is looked for
	}
	matching := context{panel: d.panel, specimen: specimen, unit: row.Unit, ucum: row.UCUM, numeric: value.Number != nil, coarse: page.LowResolution}
	row.Matches, row.Status = r.dict.match(d.name, matching)
	if page.Source == FromText {
		row.useCode(d.code, review)
	}
	code := row.code()
	if page.Source == FromOCR && row.UCUM == "" && row.Unit != "" && code != nil {
		if unit, ucum := nearestUnit(row.Unit, code.Unit); ucum != "" {
			row.Unit, row.UCUM = unit, ucum
			matching.unit, matching.ucum = unit, ucum
			row.Matches, row.Status = r.dict.match(d.name, matching)
			code = row.code()
			review(UnitUnknown) // a guess
		}
	}
	if page.Source == FromOCR && row.UCUM == "pmol/L" && code != nil && code.Unit == "umol/L" { // µ is read as p
		row.Unit, row.UCUM = "µmol/L", "umol/L"
		review(UnitUnknown)
	}
	row.SampleType = "unknown"
	switch {
	case specimen != "":
		row.SampleType = specimen
	case code != nil && row.Status == AutoMatch:
		row.SampleType = sampleType(code.Specimen)
	}
	switch {
	case code != nil && code.Unit == "{ratio}" || strings.HasSuffix(strings.ToLower(d.name), "ratio"):
		row.Kind = "ratio"
	case calculatedName.MatchString(d.name):
		row.Kind = "calculated"
	case strings.Contains(strings.ToLower(d.name), "direct"):
		row.Kind = "direct"
	}
	if sensitiveName.MatchString(d.name) {
		row.Sensitivity = "sensitive"
	}
	row.Box, row.place = r.boxOf(d), r.placeOf(d)
	if len(d.valueWords) > 0 && page.Source == FromOCR {
		c := newCell(d.valueWords)
		row.ValueBox = &Box{X: c.x0, Y: c.y - c.h/2, Width: c.x1 - c.x0, Height: c.h}
	}
	row.Confidence = confidenceOf(d, row)
	if d.culture != nil {
		row.finishCulture(d)
	} else {
		r.interpret(&row, review)
		r.check(&row, value, page.Source, d, review)
	}
	if slices.Contains(d.reasons, OlderResult) { // an earlier flag says nothing about the present
		row.Interpretation, row.AboveMax, row.BelowMin = "unknown", false, false
	}
	if isStruck(page.Struck, d.words) {
		review(StruckOut)
	}
	if page.LowResolution { // "Non-" of "Non-Reactive" can be lost as well as a point
		review(LowResolution)
	}
	return row
}

// isDatedBefore reports whether the text behind a value is a date in parentheses well before
// the collection.
func (r *reader) isDatedBefore(rest string) bool {
	if _, after := takeUnit(rest); after != "" {
		rest = after
	}
	m := inParentheses.FindStringSubmatch(rest)
	if m == nil || ParseRange(m[1], r.commas, Patient{Age: -1}).Kind != RangeOther {
		return false
	}
	day, ok := dayOfAside(m[1])
	return ok && column{date: day}.olderThan(r.collected, r.order)
}

var inParentheses = regexp.MustCompile(`^[(\[]([^()\[\]]+)[)\]]$`)

// isStruck reports whether a word is struck out in the lines of a row.
func isStruck(struck []Box, words []Word) bool {
	if len(struck) == 0 || len(words) == 0 {
		return false
	}
	row := newCell(words)
	return slices.ContainsFunc(struck, func(b Box) bool {
		return math.Abs(b.Y+b.Height/2-row.y) < (b.Height+row.h)/2
	})
}

func (r *Row) code() *loinc.Code {
	if len(r.Matches) == 0 || r.Status == NoMatch {
		return nil
	}
	c, _ := loinc.Find(r.Matches[0].Code)
	return c
}

// oddValue keeps a value of no known shape as it is printed.
func (r *reader) oddValue(text string, source Source, review func(Reason)) Value {
	text = plainSpaces(text)
	v := Value{Text: text, Type: Comment}
	if source == FromOCR && numberLike.MatchString(text) {
		fixed := strings.NewReplacer("O", "0", "o", "0", "l", "1", "I", "1", "|", "1", "S", "5", "B", "8").Replace(text)
		if again, ok := ParseValue(fixed, r.commas); ok {
			v = again
		}
		review(ValueUnreadable)
	} else {
		review(ValueUnreadable)
	}
	return v
}

// secondValue returns the text in the column of units if it is another value: "0.4 10^9/L"
// beside "12 %".
func (r *reader) secondValue(unit string, first Value) string {
	unit = strings.TrimSpace(unit)
	v, ok := ParseValue(unit, r.commas)
	if !ok || isUnit(unit) || first.Number == nil || v.Number == nil || v.Type != Numeric && v.Type != Percentage {
		return ""
	}
	hasUnit := v.Rest != "" && isUnit(v.Rest) && strings.Contains(unit, " ")
	if isAlone := v.Rest == "" && v.Flag == "" && first.Rest != ""; !hasUnit && !isAlone {
		return ""
	}
	return unit
}

// unitOf finds the unit: in its own column, after the value, or after the range.
func unitOf(column, afterValue, rng string, commas bool) (unit, rest string) {
	unit = strings.Trim(strings.TrimSpace(column), ",;")
	if _, known := knownUnit(unit); !known && unit != "" {
		if u, after := takeUnit(unit); u != "" && after != "" {
			if r := ParseRange(after, commas, Patient{Age: -1}); r.Kind != RangeOther && rng == "" {
				rng = after
			}
			unit = u
		} else if r := ParseRange(unit, commas, Patient{Age: -1}); r.Kind != RangeOther && r.Kind != RangeNone && rng == "" {
			rng, unit = unit, ""
		}
	}
	if unit == "" && afterValue != "" {
		u, after := takeUnit(afterValue)
		if u != "" {
			unit = u
		} else if looksLikeUnit(firstWord(afterValue)) {
			unit, after = firstWord(afterValue), strings.TrimSpace(strings.TrimPrefix(afterValue, firstWord(afterValue)))
		}
		if after != "" && rng == "" {
			text, _ := cutFlag(after)
			if r := ParseRange(text, commas, Patient{Age: -1}); r.Kind != RangeOther {
				rng = text
			}
		}
	}
	// "0-5/HPF", "38.0-50.0%": the unit without a blank.
	if m := gluedUnit.FindStringSubmatch(rng); m != nil {
		if _, known := knownUnit(m[2]); known {
			rng = m[1] + " " + m[2]
		}
	}
	// "3.8-10.8 Thousand/uL": the unit after the range.
	fields := strings.Fields(rng)
	for n := min(3, len(fields)-1); n >= 1; n-- {
		tail := strings.Join(fields[len(fields)-n:], " ")
		head := strings.Join(fields[:len(fields)-n], " ")
		if _, known := knownUnit(tail); !known || tail == "" || !strings.ContainsAny(head, "0123456789") && len(fields) == n {
			continue
		}
		if ParseRange(head, commas, Patient{Age: -1}).Kind == RangeOther && ParseRange(rng, commas, Patient{Age: -1}).Kind != RangeOther {
			continue
		}
		if unit == "" {
			unit = tail
		}
		rng = head
		break
	}
	// A range column that holds only the unit.
	if unit == "" {
		if _, known := knownUnit(rng); known {
			unit, rng = rng, ""
		}
	}
	return strings.Trim(unit, "()[]"), rng
}

// flagBehindUnit returns the flag between unit and range: "165 mmol/L HH 135-145".
func flagBehindUnit(rest string) string {
	unit, after := takeUnit(rest)
	if unit == "" {
		return ""
	}
	_, flag := cutFlag(after)
	return flag
}

var (
	gluedUnit     = regexp.MustCompile(`^(.*\d)(%|/[A-Za-z]+|[A-Za-zµμ][A-Za-zµμ/0-9.²^*]*)$`)
	junkBefore    = regexp.MustCompile(`^[|‘’“”„'"_.,;:~=»«—–\\({\[]+\s*`)
	junkAfter     = regexp.MustCompile(`\s*[|‘’“”„'"_;:~=»«—–?\\]+$`)
	commaPoint    = regexp.MustCompile(`^([<>]?=?\s*\d{1,4})\s?[,:]\s?(\d{1,3})$`)
	pointForComma = regexp.MustCompile(`^[<>]?=?\s*\d{1,3}\.\d{1,2}$`)
	spacedPoint   = regexp.MustCompile(`^([<>]?=?\s*\d{1,4})\s?\.\s?(\d{1,3})(\D.*)?$`)
	rangeInside   = regexp.MustCompile(`(\d[\d.,]*)\s*[-–—~]+\s*(\d[\d.,]*)(.*)$`)
)

// cleanNumber removes marks that recognition puts around numbers. In a report with
// decimal points, it may read a comma or a colon in a number as a point. In a report
// with decimal commas, it may read a point as a comma.
func cleanNumber(text string, commas bool) string {
	text = junkAfter.ReplaceAllString(plainSpaces(text), "")
	if junk := junkBefore.FindString(text); junk != "" && strings.IndexFunc(text[len(junk):], func(c rune) bool { return c >= '0' && c <= '9' }) == 0 && !strings.HasSuffix(junk, ".") {
		text = text[len(junk):]
	}
	if m := commaPoint.FindStringSubmatch(text); m != nil && !commas && (len(m[2]) < 3 || m[1] == "0") && !(strings.Contains(text, ":") && m[1] == "1") {
		return m[1] + "." + m[2]
	}
	if commas && pointForComma.MatchString(text) {
		return strings.Replace(text, ".", ",", 1)
	}
	if m := spacedPoint.FindStringSubmatch(text); m != nil && strings.Contains(text, " ") {
		return m[1] + "." + m[2] + m[3]
	}
	return text
}

// salvageRange finds an interval in a range that recognition has spoiled around
// it. The text behind the interval may be the unit.
func salvageRange(text string, commas bool) string {
	text = junkBefore.ReplaceAllString(text, "")
	if text == "" || ParseRange(text, commas, Patient{Age: -1}).Kind != RangeOther {
		return text
	}
	m := rangeInside.FindStringSubmatch(plainSpaces(text))
	if m == nil || strings.Count(text, "-") > 1 {
		return text
	}
	low, high := m[1], strings.TrimRight(m[2], ".,")
	interval := low + " - " + high
	if ParseRange(interval, commas, Patient{Age: -1}).Kind != RangeInterval {
		return text
	}
	unit := strings.Trim(m[3], " .,;|'")
	if _, known := knownUnit(unit); known {
		return interval + " " + unit
	}
	return interval
}

func flagText(column, beside string) string {
	column = strings.TrimSpace(column)
	if _, ok := flagOf(column); ok {
		return strings.Trim(column, "()[]")
	}
	for _, word := range strings.Fields(column) {
		if _, ok := flagOf(word); ok {
			return strings.Trim(word, "()[]")
		}
	}
	return strings.Trim(beside, "()[]")
}

func (r *reader) pageOf(index int) Page { return r.doc.Pages[index] }

// boxOf returns the row's rectangle in fractions of the page as it was uploaded.
func (r *reader) boxOf(d draft) Box {
	page := r.pageOf(d.page)
	x0, y0, x1, y1 := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, w := range d.words {
		b := w.Box
		if w.Original != nil {
			b = *w.Original
		}
		x0, y0, x1, y1 = min(x0, b.X), min(y0, b.Y), max(x1, b.X+b.Width), max(y1, b.Y+b.Height)
	}
	if x1 < x0 || !(page.Width > 0) || !(page.Height > 0) {
		return Box{}
	}
	unit := func(v, whole float64) float64 { return math.Round(min(1, max(0, v/whole))*10000) / 10000 }
	left, top := unit(x0, page.Width), unit(y0, page.Height)
	return Box{X: left, Y: top, Width: math.Round((unit(x1, page.Width)-left)*10000) / 10000, Height: math.Round((unit(y1, page.Height)-top)*10000) / 10000}
}

// placeOf returns the row's rectangle on the straightened page, where lines are
// level. Two readings of a row have nearly the same.
func (r *reader) placeOf(d draft) Box {
	page := r.pageOf(d.page)
	side := max(page.Width, page.Height)
	if len(d.words) == 0 || !(side > 0) {
		return Box{}
	}
	c := newCell(d.words)
	return Box{X: c.x0 / side, Y: (c.y - c.h/2) / side, Width: (c.x1 - c.x0) / side, Height: c.h / side}
}

// confidenceOf combines how sure the recogniser is of the value and how well the
// name is known.
func confidenceOf(d draft, row Row) float64 {
	c := 1.0
	for _, w := range d.valueWords {
		c = min(c, w.Confidence)
	}
	if len(row.Matches) > 0 {
		c *= 0.5 + 0.5*row.Matches[0].Confidence
	} else {
		c *= 0.8
	}
	return math.Round(c*1000) / 1000
}

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
		word := strings.NewReplacer("-", "", " ", "").Replace(strings.ToLower(s))
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

// negativeWords are the answers, without blanks and hyphens, that mean negative.
var negativeWords = []string{"negative", "neg", "nonreactive", "notreactive", "notdetected", "nonedetected", "undetected", "undetectable", "notisolated", "noneisolated", "notfound", "nonefound", "absent", "notpresent", "nogrowth", "noneseen", "notseen"}

// positiveStart begins an answer that is not negative.
var positiveStart = regexp.MustCompile(`^(?:weakly|weak)?(?:pos|reactive|detected|present)`)

// check applies the rules of review.
func (r *reader) check(row *Row, value Value, source Source, d draft, review func(Reason)) {
	code := row.code()
	number := row.Number != nil
	if row.Status == ReviewMatch {
		review(NameUncertain)
	}
	isOdd := row.Type == Boolean && strings.ContainsAny(row.Range.Text, "0123456789") // it may be a part of the answer
	if row.Range.Kind == RangeOther && (number || isOdd) {
		review(RangeUnreadable)
	}
	if number && hasSecondNumber(value.Rest) && (strings.TrimSpace(d.rng) != "" || row.Range.Kind == RangeNone) {
		review(ColumnUncertain) // one of two numbers in the cell may be struck out, or corrected
	}
	if code != nil && number {
		switch {
		case row.Unit == "" && unitClass(code.Unit) != "" && code.Unit != "%":
			review(UnitMissing)
		case row.UCUM != "" && !unitFits(row.UCUM, code.Unit):
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
