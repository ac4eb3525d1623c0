package extract

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"

	"hale/internal/labs/hl7"
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

// judgement is the work on one draft, from its texts to its row.
type judgement struct {
	r    *reader
	d    draft
	page Page
	who  Patient
	row  Row

	value Value // as it is printed
	// isGravity says that the value is a specific gravity with a decimal comma.
	isGravity bool
	commas    bool // the value and its range have decimal commas
	// printedRange is the range with its unit.
	printedRange string
	// second is another value, which the column of units has.
	second string
}

// judge turns a draft into a row: it reads value, unit and range, finds the code,
// and decides what a person must look at.
func (r *reader) judge(d draft, who Patient) Row {
	page := r.pageOf(d.page)
	j := judgement{r: r, d: d, page: page, who: who, row: Row{
		Name: d.name, Panel: d.panel, Page: page.Number,
		Kind: "unknown", Sensitivity: "unknown", SampleType: "unknown", Interpretation: "unknown",
	}}
	for _, reason := range d.reasons {
		j.review(reason)
	}
	j.cleanTexts()
	j.readValue()
	j.readUnitAndRange()
	j.dropUncertain()
	j.findCode()
	j.compareRangeUnit()
	j.describe()
	j.findMissingValue()
	j.interpret()
	return j.row
}

// review adds a reason for a review, each once.
func (j *judgement) review(reason Reason) {
	j.row.NeedsReview = true
	if !slices.Contains(j.row.Reasons, reason) {
		j.row.Reasons = append(j.row.Reasons, reason)
	}
}

// cleanTexts mends what recognition often reads wrongly in values and ranges.
func (j *judgement) cleanTexts() {
	r, d := j.r, &j.d
	if j.page.Source == FromOCR {
		d.value, d.rng = cleanNumber(d.value, r.commas), salvageRange(d.rng, r.commas)
		if m := groupOfOne.FindStringSubmatch(d.value); m != nil && !r.commas && threeDecimals.MatchString(d.rng) { // 1,015 in 1.005-1.030
			d.value = m[1] + "." + m[2]
		}
	}
	if j.page.LowResolution {
		d.value = coarseNumber(d.value, d.name)
	}
	j.isGravity = gravityName.MatchString(d.name) && gravityForm.MatchString(d.value) && (d.rng == "" || gravityForm.MatchString(d.rng))
	j.commas = r.commas || j.isGravity
}

// readValue reads the value, and whether it is of an earlier time.
func (j *judgement) readValue() {
	r, d := j.r, &j.d
	value, ok := ParseValue(d.value, j.commas)
	if !ok && bloodGroup.MatchString(d.name) && bloodType.MatchString(strings.TrimSpace(d.value)) {
		value, ok = Value{Text: plainSpaces(d.value), Type: Comment}, true
	}
	switch {
	case !ok && d.culture != nil:
		value = Value{Text: d.value, Type: Comment}
	case !ok && strings.TrimSpace(d.value) == "":
		value = Value{Type: Comment}
		j.review(ValueMissing)
	case !ok:
		value = r.oddValue(d.value, j.page.Source, j.review)
	}
	value.keepDenied()
	if earlierAside.MatchString(noteIn(value.Rest, r.commas)) || r.isDatedBefore(value.Rest) { // "6.9 (old)"
		d.reasons = append(slices.Clone(d.reasons), OlderResult)
		j.review(OlderResult)
	}
	j.value = value
	j.row.Value, j.row.Type, j.row.Number, j.row.Comparator = value.Text, value.Type, value.Number, value.Comparator
}

// readUnitAndRange reads the unit, the range, the flag and the notes of the value.
func (j *judgement) readUnitAndRange() {
	r, d, row, value := j.r, &j.d, &j.row, j.value
	rngText := strings.TrimSpace(d.rng)
	behind := value.Rest
	kind := ParseRange(behind, r.commas, j.who).Kind
	if value.Type == Boolean && (kind == RangeTitre || kind != RangeWords && strings.HasPrefix(behind, "(")) { // it is the value's
		behind = ""
	}
	if j.second = r.secondValue(d.unit, value); j.second != "" {
		d.unit = ""
		d.notes = append(slices.Clone(d.notes), j.second)
		j.review(ColumnUncertain)
	}
	printed := rngText
	row.Unit, rngText = unitOf(d.unit, behind, rngText, r.commas)
	if value.Type == Boolean && d.unit == "" && rngText == strings.TrimSpace(d.rng) { // "Reactive (index 8.9)"
		row.Unit = ""
	}
	if row.Unit == "" && value.Number != nil {
		row.Unit = cmp.Or(unitInText(d.name), j.unitOfHeader())
	}
	row.UCUM, _ = r.dict.cellUnit(d.name, row.Unit)
	row.Range = ParseRange(rngText, j.commas, j.who)
	j.printedRange = cmp.Or(printed, rangeBehind(behind))
	row.Flag = flagText(d.flag, cmp.Or(value.Flag, flagBehindUnit(value.Rest)))
	r.annotate(row, *d, value, j.page.Source, j.review)
}

// compareRangeUnit removes the bounds of a range that is printed in another unit than the
// value.
func (j *judgement) compareRangeUnit() {
	row, code := &j.row, ""
	if c := row.code(); c != nil {
		code = c.Code
	}
	if !row.Range.hasBounds() || otherUnitIn(j.printedRange, code, row.UCUM) == "" {
		return
	}
	row.Range.dropBounds()
	row.Range.Text = j.printedRange
	j.review(UnitConflict)
}

// unitOfHeader returns the unit in the header of the values, unless the analyte has no unit or
// one of another kind.
func (j *judgement) unitOfHeader() string {
	unit := j.d.headerUnit
	if unit == "" || unitlessName.MatchString(j.d.name) {
		return ""
	}
	ucum, _ := j.r.dict.cellUnit(j.d.name, unit)
	matches, status := j.r.dict.match(j.d.name, context{panel: j.d.panel, specimen: j.d.specimen, unit: unit, ucum: ucum, numeric: true})
	if status == NoMatch && len(matches) == 0 {
		return unit
	}
	if code, ok := loinc.Find(matches[0].Code); ok && unitFits(ucum, code.Unit) {
		return unit
	}
	return ""
}

// unitlessName is a word of names of numbers without the unit of their column.
var unitlessName = regexp.MustCompile(`(?i)\b(?:ratio|index|ph|inr|saturation)\b|%|/`)

// dropUncertain removes numbers and bounds that may be wrong.
func (j *judgement) dropUncertain() {
	r, row := j.r, &j.row
	if j.page.LowResolution && hasLostPoint(row, j.value) {
		putPoint(row, r.commas)
		j.review(PrecisionDiffers)
	}
	if j.second != "" { // the range may be that of the second value
		row.Range.dropBounds()
	}
	if row.Range.hasBounds() && !j.isGravity && !r.notation.rangeIsCertain(row) {
		row.Range.dropBounds()
		j.review(NumberUncertain)
	}
	if row.Number != nil && !j.isGravity && !r.notation.numberIsCertain(j.value.Text, row, j.page.Source) {
		row.Number, row.Comparator = nil, ""
		j.review(NumberUncertain)
	}
	isCut := slices.ContainsFunc(j.d.valueWords, func(w Word) bool { return w.cut })
	if row.Number != nil && (isCut || decimalsPart.MatchString(j.value.Rest)) { // "13" and a small 1, "2 .31"
		row.Number, row.Comparator = nil, ""
		j.review(NumberUncertain)
	}
	if slices.Contains(j.d.reasons, OlderResult) { // the report's day of collection is not its day
		row.Number, row.Comparator = nil, ""
	}
}

// findCode finds the LOINC code, corrects a unit that recognition has read wrongly, and
// sets the type of the sample.
func (j *judgement) findCode() {
	r, d, row := j.r, &j.d, &j.row
	specimen := d.specimen
	if s := specimenOfName(d.name); s != "" && (s != "serum_plasma_blood" || specimen == "" && !strings.Contains(strings.ToLower(d.name), "occult")) {
		specimen = s // "Blood" in a name of the urinalysis is what is looked for
	}
	if specimen == "" && normalName(d.name) == "ph" {
		specimen = j.specimenOfPH()
	}
	matching := context{panel: d.panel, specimen: specimen, unit: row.Unit, ucum: row.UCUM, numeric: j.value.Number != nil, coarse: j.page.LowResolution, isShare: r.dict.isShare(d.name, row)}
	row.Matches, row.Status = r.dict.match(d.name, matching)
	if j.page.Source == FromText {
		row.useCode(d.code, j.review)
	}
	code := row.code()
	if j.page.Source == FromOCR && row.UCUM == "" && row.Unit != "" && code != nil {
		if unit, ucum := nearestUnit(row.Unit, code.Unit); ucum != "" {
			row.Unit, row.UCUM = unit, ucum
			matching.unit, matching.ucum = unit, ucum
			row.Matches, row.Status = r.dict.match(d.name, matching)
			code = row.code()
			j.review(UnitUnknown) // a guess
		}
	}
	if j.page.Source == FromOCR && row.UCUM == "pmol/L" && code != nil && code.Unit == "umol/L" { // µ is read as p
		row.Unit, row.UCUM = "µmol/L", "umol/L"
		j.review(UnitUnknown)
	}
	switch {
	case specimen != "":
		row.SampleType = specimen
	case code != nil && row.Status == AutoMatch:
		row.SampleType = sampleType(code.Specimen)
	}
}

// specimenOfPH returns blood if the range of a pH is that of blood. A number near 7.4 without
// a range may be of blood or urine.
func (j *judgement) specimenOfPH() string {
	row, rng := &j.row, &j.row.Range
	switch {
	case rng.Min != nil && rng.Max != nil && *rng.Min >= 7 && *rng.Max <= 7.8:
		return "serum_plasma_blood"
	case rng.Min == nil && rng.Max == nil && row.Number != nil && *row.Number > 7.2 && *row.Number < 7.6:
		j.review(NameUncertain)
	}
	return ""
}

// findMissingValue marks a row with words that labs write in place of a value, such as
// "to follow" and TNP. The words are those of results in messages.
func (j *judgement) findMissingValue() {
	row := &j.row
	if row.Number != nil || j.d.culture != nil || row.HasCriticalFlag() { // a critical flag must reach a person
		return
	}
	words := plainSpaces(j.d.value)
	code := row.code()
	hasNumbers := row.UCUM != "" || row.Range.hasBounds() || code != nil && code.Scale == "Qn"
	switch hl7.FindValueWord(words) {
	case "":
		return
	case hl7.NotMeasured, hl7.SeeNote:
		if !hasNumbers {
			return
		}
	default:
	}
	if hl7.FindValueWord(row.Value) == "" { // "Insufficient" of "Insufficient sample"
		row.Value = words
	}
	j.review(ValueMissing)
}

// HasValue reports whether a row has a value, not only words in place of one.
func (r *Row) HasValue() bool {
	isMissing := slices.Contains(r.Reasons, ValueMissing) && hl7.FindValueWord(r.Value) != ""
	return r.Value != "" && !isMissing
}

// describe sets the kind of the test, the places on the page and the confidence.
func (j *judgement) describe() {
	d, row, code := j.d, &j.row, j.row.code()
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
	row.Box, row.place = j.r.boxOf(d), j.r.placeOf(d)
	if len(d.valueWords) > 0 && j.page.Source == FromOCR {
		c := newCell(d.valueWords)
		row.ValueBox = &Box{X: c.x0, Y: c.y - c.h/2, Width: c.x1 - c.x0, Height: c.h}
	}
	row.Confidence = confidenceOf(d, *row)
}

// interpret compares the value with its range and applies the rules of review.
func (j *judgement) interpret() {
	r, d, row := j.r, j.d, &j.row
	if d.culture != nil {
		row.finishCulture(d)
	} else {
		r.interpret(row, j.review)
		r.check(row, j.value, j.page.Source, d, j.review)
	}
	if slices.Contains(d.reasons, OlderResult) { // an earlier flag says nothing about the present
		row.Interpretation, row.AboveMax, row.BelowMin = "unknown", false, false
	}
	if isStruck(j.page.Struck, d.words) {
		j.review(StruckOut)
	}
	if j.page.LowResolution { // "Non-" of "Non-Reactive" can be lost as well as a point
		j.review(LowResolution)
	}
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
