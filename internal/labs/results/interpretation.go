package results

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/hl7"
	"hale/internal/labs/loinc"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results/refrange"
)

// severity orders interpretations, the worst last. Unknown is worse than
// normal and better than abnormal.
var severity = []orders.Interpretation{orders.Normal, orders.Unknown, orders.Abnormal, orders.Critical}

// worseInterpretation returns the worse of two interpretations.
func worseInterpretation(a, b orders.Interpretation) orders.Interpretation {
	if slices.Index(severity, b) > slices.Index(severity, a) {
		return b
	}
	return a
}

// InterpretUnmatched sums up results that have no order yet. It uses their
// flags, the ranges that the lab printed, and the critical limits of the lab's
// tests. Confirmations have only a flag, and notes only words. offered may be nil.
func InterpretUnmatched(offered *catalogue.Catalogue, lab catalogue.Lab, set *networks.ResultSet) orders.Interpretation {
	isFlagged := func(m networks.MissingResult) bool { return m.Flag != "" }
	switch {
	case slices.ContainsFunc(set.Missing, isFlagged), isCalledCriticalWithoutValue(set):
		return orders.Critical
	case len(set.Results) == 0:
		return orders.Unknown
	}
	e := expectations{lab: lab, offered: offered}
	worst := orders.Normal
	for _, one := range set.Results {
		worst = worseInterpretation(worst, e.normalise(sampledResult{Result: one}, "", -1).Interpretation)
	}
	return worst
}

// interpret compares a result with its range and sets its interpretation. The
// lab's flag comes before any comparison, with three exceptions. A value outside
// the range on the report, or beyond the catalogue's critical limits, is not
// normal, even if its flag means normal. Conflict marks the contradiction. A flag
// that the service does not know, and critical limits that cannot be compared,
// leave a value unknown at best. The flag stays as sent.
//
// A value beyond its range is abnormal. A value that cannot be compared with
// its range is unknown. A number with neither range nor flag is normal: the
// lab saw nothing to report. A number with further words can make a value
// critical or abnormal, but never normal.
func (r *Result) interpret(v value, id codeNames, sex string, age int) {
	assay, printedFlag, unit := id.assay, r.Flag, r.Unit
	var leading quantity
	if v.span == nil {
		printedFlag = hl7.WorstFlag([]string{r.Flag, flagOfWords(v.text)})
	}
	said := r.isCalledCritical()
	if v.span == nil {
		if q, ok := readQuantity(v.text); ok && r.agreesInUnit(q) {
			v.span, unit = q.span, cmp.Or(r.Unit, q.unit)
			printedFlag = hl7.WorstFlag([]string{printedFlag, q.flag})
		} else if leading = readLeadingNumber(withoutDoubt(v.text)); leading.span != nil {
			unit = cmp.Or(leading.unit, r.Unit)
			printedFlag = hl7.WorstFlag([]string{printedFlag, leading.flag})
		}
	}
	expected := r.setRange(&id, cmp.Or(r.Unit, unit), sex, age)
	flag, known := hl7.FindFlag(printedFlag)
	critical, open := compareToLimits(cmp.Or(v.span, leading.span), unit, id, flag.Interpretation != "")
	if leading.span != nil {
		if !r.agreesInUnit(leading) {
			expected.Low, expected.High = nil, nil
		}
		if verdict := expected.Compare(*leading.span); critical || isTrue(verdict.Above) || isTrue(verdict.Below) {
			v.span = leading.span
		}
	}
	if v.span != nil {
		verdict := expected.Compare(*v.span)
		r.Above, r.Below = verdict.Above, verdict.Below
	}
	compared := r.compareToRange(v, expected, assay)
	open = open && !r.hasPrintedBounds(assay)
	r.Conflict = r.findConflict(flag, v, expected, critical)
	if said && !critical && flag.Interpretation != "critical" {
		critical, r.Conflict = true, CriticalInNote
	}
	r.setSide(flag)
	r.Interpretation = cmp.Or(orders.Interpretation(flag.Interpretation), compared)
	if open || !known && strings.TrimSpace(printedFlag) != "" {
		r.Interpretation = worseInterpretation(r.Interpretation, orders.Unknown)
	}
	if r.Conflict == NormalOutsideRange {
		r.Interpretation = orders.Abnormal
	}
	if critical {
		r.Interpretation = orders.Critical
	}
}

// flagOfWords returns the flag that a lab writes as the value: CRITICAL HIGH.
func flagOfWords(text string) string {
	if !criticalWords.MatchString(text) {
		return ""
	}
	flag, _ := hl7.FindFlag(strings.ReplaceAll(text, "_", " "))
	return flag.Code
}

// criticalWords matches a flag in words, without a number or a sentence.
var criticalWords = regexp.MustCompile(`(?i)^\W*(?:[a-z]+[ _]){0,2}(?:critical|panic)(?:[ _][a-z]+){0,2}\W*$`)

// doubt matches words about the sample, or about the measurement, that a lab
// writes before a number: HEMOLYZED 6.8, "repeated: 2.1 mmol/L".
var doubt = regexp.MustCompile(`(?i)^[*(\["']*(?:(?:slightly|mildly|moderately|grossly|markedly|gross|specimen|sample|is|was|result|value)\s+)*` +
	`(?:ha?emoly[sz]ed|ha?emolysis|clotted|lipa?emic|lipa?emia|icteric|contaminated|repeat|repeated|rechecked|verified|confirmed|critical|panic)` +
	`(?:\s+(?:specimen|sample|result|value|high|low))*[\s:,;*)\]]+`)

// withoutDoubt returns a text without such words before its number.
func withoutDoubt(text string) string { return doubt.ReplaceAllString(strings.TrimSpace(text), "") }

// isCalledCriticalWithoutValue reports notes without values, one of which says that a
// value is critical. Without a value, a number beside the word is enough: CRITICAL K 7.9.
// So is a number that the lab communicated to a person: potassium 7.9 called to Dr. Example.
func isCalledCriticalWithoutValue(set *networks.ResultSet) bool {
	if len(set.Results) > 0 {
		return false
	}
	notes := slices.Clone(set.Comments)
	for _, m := range set.Missing {
		notes = append(notes, m.Note)
	}
	return saysCritical(notes, saidCritical, calledCritical, criticalNumber) || slices.ContainsFunc(notes, saysCalledNumber)
}

// saysCalledNumber reports whether a sentence of a note says that the lab called a person
// with a number. Laboratories call a value only if it is urgent. The number of a room and a
// time are no values.
func saysCalledNumber(note string) bool {
	return slices.ContainsFunc(sentenceEnd.Split(doctorTitle.ReplaceAllString(note, "$1 "), -1), func(sentence string) bool {
		if notCritical.MatchString(sentence) || notCalled.MatchString(sentence) {
			return false
		}
		return calledNumber.MatchString(otherNumber.ReplaceAllString(sentence, ""))
	})
}

// isCalledCritical reports a note that says that the value is critical, or that
// the lab communicated it to a person as critical. A note about limits, rules or earlier
// values says neither.
func (r *Result) isCalledCritical() bool {
	return saysCritical(r.Notes, saidCritical, calledCritical)
}

// saysCritical reports whether a sentence of a note matches one of the patterns.
func saysCritical(notes []string, patterns ...*regexp.Regexp) bool {
	return slices.ContainsFunc(notes, func(note string) bool {
		return slices.ContainsFunc(sentenceEnd.Split(note, -1), func(sentence string) bool {
			sentence = strings.TrimSpace(sentence)
			matches := func(p *regexp.Regexp) bool { return p.MatchString(sentence) }
			return !notCritical.MatchString(sentence) && slices.ContainsFunc(patterns, matches)
		})
	})
}

var (
	sentenceEnd    = regexp.MustCompile(`[\n\r;]|[.!]+(?:\s|$)`)
	notCritical    = regexp.MustCompile(`(?i)\b(?:no|not|non|isn't|without|below|previous|previously|prior|earlier|if|when|will|should|must|policy|limits?|range|threshold|criteria)\b|non-?critical`)
	saidCritical   = regexp.MustCompile(`(?i)^\W*(?:(?:this|is|an?|the|result|value|laboratory)\s+)*(?:critical|panic)(?:\s+(?:value|result|level|high|low|abnormal|finding|alert)s?)*\W*$`)
	criticalNumber = regexp.MustCompile(`(?i)\b(?:critical|panic)\b.*\d|\d.*\b(?:critical|panic)\b`)
	notCalled      = regexp.MustCompile(`(?i)\b(?:to be|would|please|pending|normal|negative|requested|request)\b`)
	doctorTitle    = regexp.MustCompile(`(?i)\b(dr|mr|mrs|ms|prof)\.\s*`)
	otherNumber    = regexp.MustCompile(`(?i)\b(?:at|on|room|rm|ward|floor|bed|ext|extension|phone|tel|order|sample|specimen|accession|number|no)\b[.:]?\s*#?\d\S*`)
	calledNumber   = regexp.MustCompile(`(?i)(?:^|[\s=:<>])\d+(?:[.,]\d+)?(?:[\s,a-z%].*|)\b(?:(?:called|phoned|telephoned|paged|reported|communicated)(?: in)? to|notified|informed|read ?back)\b|` +
		`\b(?:called|phoned|telephoned|paged|reported|communicated)\s.*[\s=:<>]\d+(?:[.,]\d+)?[\s,a-z%].*\bto\b|\bread ?back\b.*[\s=:<>]\d+(?:[.,]\d+)?(?:[\s,a-z%]|$)`)
	calledCritical = regexp.MustCompile(`(?i)\b(?:critical|panic|alert)\b.*\b(?:called|phoned|telephoned|paged|notified|informed|read ?back|readback|reported to|communicated to|given to)\b|\b(?:called|phoned|telephoned|paged|notified|informed|read ?back)\b.*\b(?:critical|panic)\b`)
)

func isTrue(b *bool) bool { return b != nil && *b }

// agreesInUnit reports whether the unit in a text is that of the result, or one
// of the two is absent.
func (r *Result) agreesInUnit(q quantity) bool {
	return q.unit == "" || r.Unit == "" || isSameUnit(r.LOINC, q.unit, r.Unit)
}

// findConflict compares a flag with the range on the report and with the
// critical limits. Call it before setSide.
func (r *Result) findConflict(flag hl7.Flag, v value, printed refrange.Range, critical bool) Conflict {
	normal := orders.Interpretation(flag.Interpretation) == orders.Normal
	own := r.Range.From == FromReport
	switch {
	case normal && critical:
		return NormalBeyondLimit
	case normal && own && (isTrue(r.Above) || isTrue(r.Below)),
		normal && v.span == nil && (printed.Kind == refrange.Text || printed.Kind == refrange.Titer) && interpretWords(v.text, printed, nil) == orders.Abnormal:
		return NormalOutsideRange
	case own && (flag.High && isTrue(r.Below) || flag.Low && isTrue(r.Above)):
		return OtherSide
	case own && (flag.High || flag.Low) && r.Above != nil && r.Below != nil && !*r.Above && !*r.Below:
		return InsideRange
	}
	return ""
}

// setSide reads the side from a flag where the numbers do not decide it.
func (r *Result) setSide(flag hl7.Flag) {
	yes, no := true, false
	switch {
	case flag.High && r.Above == nil:
		r.Above, r.Below = &yes, &no
	case flag.Low && r.Below == nil:
		r.Above, r.Below = &no, &yes
	}
}

// setRange sets and returns the range that counts for the patient: the
// report's, or, where the lab printed none, the catalogue's in the same unit.
func (r *Result) setRange(id *codeNames, unit, sex string, age int) refrange.Range {
	printed := refrange.Parse(r.Range.Text)
	own := printed.For(sex)
	r.Range.Kind = printed.Kind
	if own.Bounded() {
		r.Range.Low, r.Range.High, r.Range.From = own.Low, own.High, FromReport
		return own
	}
	if r.Range.Text != "" && printed.Kind != refrange.None || !id.hasUnitOf(unit) {
		return own
	}
	usual, ok := id.assay.RangeFor(sex, age)
	if !ok {
		return own
	}
	r.Range.From = FromCatalogue
	bound := func(v *float64) *refrange.Bound {
		if v == nil {
			return nil
		}
		return &refrange.Bound{Value: *v, Inclusive: true}
	}
	r.Range.Low, r.Range.High = bound(usual.Low), bound(usual.High)
	r.Range.Kind = refrange.Interval
	switch {
	case usual.Low == nil:
		r.Range.Kind = refrange.Upper
	case usual.High == nil:
		r.Range.Kind = refrange.Lower
	}
	return refrange.Range{Kind: r.Range.Kind, Low: r.Range.Low, High: r.Range.High}
}

// hasUnitOf reports whether a unit is the unit of an assay's ranges in the
// catalogue.
func (id *codeNames) hasUnitOf(unit string) bool {
	return id.assay != nil && id.assay.Scale == catalogue.Quantity && isSameUnit(id.assayLOINC, id.assay.Unit, unit)
}

// isSameUnit reports whether two printed units of an analyte are the same.
func isSameUnit(code, a, b string) bool { return strings.EqualFold(a, b) || loinc.SameUnit(code, a, b) }

// compareToRange interprets a result by its range, as if it had no flag. Call
// it before setSide.
func (r *Result) compareToRange(v value, expected refrange.Range, assay *catalogue.Assay) orders.Interpretation {
	switch {
	case v.span == nil:
		return interpretWords(v.text, expected, assay)
	case isTrue(r.Above), isTrue(r.Below):
		return orders.Abnormal
	case r.Above != nil && r.Below != nil:
		return orders.Normal
	case (r.Range.Text == "" || r.Range.Kind == refrange.None) && (v.kind == Numeric || v.kind == Range):
		return orders.Normal
	}
	return orders.Unknown
}

// interpretWords interprets a value in words by the expected word, or by the
// words that the catalogue lists for the assay. Without both, only a word that
// plainly means normal is normal.
func interpretWords(text string, expected refrange.Range, assay *catalogue.Assay) orders.Interpretation {
	is := func(word string) bool { return strings.EqualFold(normalWord(word), normalWord(text)) }
	switch {
	case expected.Kind == refrange.Text && slices.ContainsFunc(strings.Split(expected.Text, "/"), is):
		return orders.Normal
	case assay != nil && slices.ContainsFunc(assay.Normal, is):
		return orders.Normal
	case assay != nil && slices.ContainsFunc(assay.Abnormal, is):
		return orders.Abnormal
	case expected.Kind == refrange.Text && slices.ContainsFunc(oppositeWords[strings.ToLower(expected.Text)], is):
		return orders.Abnormal
	case expected.Kind == refrange.Titer && strings.Contains(text, "1:"):
		return compareTiters(text, expected.Text)
	case slices.Contains(plainRanges, expected.Kind) && slices.ContainsFunc(plainWords, is):
		return orders.Normal
	}
	return orders.Unknown
}

// plainWords mean normal without an expected word, or where the range on the
// report has only an upper end.
var plainWords = []string{
	"Negative", "Not detected", "None detected", "Undetected", "Undetectable", "Non reactive", "None", "None seen", "Not seen", "Absent",
	"Not present", "No growth", "Normal", "Within normal limits", "WNL", "Unremarkable",
}

// plainRanges are the kinds of range that plainWords agree with.
var plainRanges = []refrange.Kind{"", refrange.None, refrange.Upper, refrange.Titer}

// compareTiters compares the dilution 1:640 with the range <1:80.
func compareTiters(text, expected string) orders.Interpretation {
	v := parseValue(strings.ReplaceAll(text, "1:", ""), "")
	if v.span == nil {
		return orders.Unknown
	}
	verdict := refrange.Parse(strings.ReplaceAll(expected, "1:", "")).Compare(*v.span)
	switch {
	case verdict.Above == nil || verdict.Below == nil:
		return orders.Unknown
	case *verdict.Above || *verdict.Below:
		return orders.Abnormal
	}
	return orders.Normal
}

// oppositeWords are the words that contradict an expected word.
var oppositeWords = map[string][]string{
	"negative": {"Positive", "Detected", "Reactive"}, "not detected": {"Detected", "Positive"}, "non reactive": {"Reactive", "Positive"},
	"absent": {"Present"}, "none seen": {"Seen", "Present"}, "no growth": {"Growth"}, "immune": {"Non-immune", "Not immune"}, "clear": {"Cloudy", "Turbid"},
}

// normalWord returns a word in one spelling, and a constant as words.
func normalWord(text string) string { return refrange.Word(strings.ReplaceAll(text, "_", " ")) }

// compareToLimits compares a quantity with the catalogue's critical limits, in
// the unit of the report. critical reports whether it is at or beyond them, open
// whether the unit or the value leaves that undecided. A flagged number without
// a unit is open only if it were critical in the catalogue's unit.
func compareToLimits(span *refrange.Value, unit string, id codeNames, flagged bool) (critical, open bool) {
	assay := id.assay
	if span == nil || assay == nil || assay.CriticalLow == nil && assay.CriticalHigh == nil {
		return false, false
	}
	factor, comparable := loinc.Factor(id.assayLOINC, assay.Unit, unit)
	if !comparable {
		factor, comparable = 1, id.hasUnitOf(unit)
	}
	limits := refrange.Range{}
	if assay.CriticalLow != nil {
		limits.Low = &refrange.Bound{Value: *assay.CriticalLow * factor}
	}
	if assay.CriticalHigh != nil {
		limits.High = &refrange.Bound{Value: *assay.CriticalHigh * factor}
	}
	verdict := limits.Compare(*span)
	critical = isTrue(verdict.Above) || isTrue(verdict.Below)
	open = verdict.Above == nil || verdict.Below == nil
	switch {
	case comparable:
		return critical, open && !critical
	case unit == "" && flagged:
		return false, critical || open
	}
	return false, true
}

// hasPrintedBounds reports whether the range on the report decides about the
// value on each side that has a critical limit.
func (r *Result) hasPrintedBounds(assay *catalogue.Assay) bool {
	return r.Range.From == FromReport && r.Above != nil && r.Below != nil && assay != nil &&
		(assay.CriticalLow == nil || r.Range.Low != nil) && (assay.CriticalHigh == nil || r.Range.High != nil)
}

// quantity is a number in a text that is not written as a plain number.
type quantity struct {
	span       *refrange.Value
	unit, flag string
}

var quantityPattern = regexp.MustCompile(`^=?\s*([<>≤≥]?=?\s*[+-]?\d[\d.,]*)\s*(.*)$`)

// readQuantity reads a number that a lab wrote with a decimal comma, an equals
// sign, its unit or its flag. Examples are 7,2 and = 7.2 and "7.20 mmol/L H". It
// serves only to compare the value; the value stays a text.
func readQuantity(text string) (quantity, bool) {
	m := quantityPattern.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return quantity{}, false
	}
	q, rest := quantity{span: parseSpan(m[1])}, m[2]
	if _, isUnit := loinc.UCUM(rest); isFlagInText(lastWord(rest)) && !isUnit {
		q.flag = lastWord(rest)
		rest = strings.TrimSpace(strings.TrimSuffix(rest, q.flag))
	}
	if rest != "" {
		if _, known := loinc.UCUM(rest); !known {
			return quantity{}, false
		}
		q.unit = rest
	}
	return q, q.span != nil
}

// isFlagInText reports whether a word beside a number is a flag. C, P and pH
// may be a unit or a part of a text there.
func isFlagInText(word string) bool {
	flag, ok := hl7.FindFlag(word)
	return ok && !slices.Contains([]string{"C", "P", "PH"}, flag.Code)
}

// parseSpan parses a number, perhaps with a decimal comma.
func parseSpan(number string) *refrange.Value {
	if strings.Count(number, ",") == 1 && !strings.Contains(number, ".") && !thousandsPattern.MatchString(number) {
		number = strings.Replace(number, ",", ".", 1)
	}
	return parseValue(number, "").span
}

var (
	leadingPattern = regexp.MustCompile(`(?i)^["'(\[]*\s*(?:(?:approx|about|around|circa|ca|estimated|est)[a-z]*\.?\s*|[~≈=]\s*)?([<>≤≥]?=?\s*[+-]?\d+(?:[.,]\d+)*)(.*)$`)
	// furtherNumber matches the rest of a text that begins with a number but is
	// no quantity:
	//
	//   - a dilution, an interval or a date: 1:64, 10-20, 2024-01-01
	//   - a fraction, a product or a grade: 3/5, 3 x 10, 3+
	furtherNumber = regexp.MustCompile(`(?i)^\s*(?:\+|(?:[-–—:/^x×]|to|of)?\s*\d)`)
)

// readLeadingNumber reads the number with which a text begins, before a unit or
// further words: "7.2 (repeated)", "approx 7.2". Only the first line counts.
// The span is nil if the text is not certain to begin with a quantity.
func readLeadingNumber(text string) quantity {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = comparisonWords.ReplaceAllStringFunc(line, func(words string) string {
		if strings.ContainsAny(strings.ToLower(words)[:1], "lbu") {
			return "<"
		}
		return ">"
	})
	m := leadingPattern.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		return quantity{}
	}
	q, rest := quantity{span: parseSpan(m[1])}, strings.TrimLeft(m[2], `"')].,;: `)
	word, _, _ := strings.Cut(rest, " ")
	word = strings.Trim(word, `"'()[].,;: `)
	attached := rest != "" && rest == m[2] // without a blank or a mark before it
	_, isUnit := loinc.UCUM(word)
	flag, _ := hl7.FindFlag(word)
	isFlag := isFlagInText(word) && (flag.Interpretation == "critical" || flag.Interpretation == "abnormal") &&
		flag.Code != "R" && flag.Code != "I" // letters of a text: 15 I U/mL
	switch {
	case isUnit:
		q.unit = word
	case furtherNumber.MatchString(m[2]), attached && !isFlag && strings.TrimLeft(rest, "([*!-") == rest:
		return quantity{}
	case isFlag:
		q.flag = word
	}
	return q
}

// comparisonWords are a comparison in words at the beginning of a text.
var comparisonWords = regexp.MustCompile(`(?i)^\s*(?:greater than|more than|higher than|above|over|less than|lower than|below|under)\s+`)

var thousandsPattern = regexp.MustCompile(`,\d{3}$`)

func lastWord(text string) string { return text[strings.LastIndex(text, " ")+1:] }
