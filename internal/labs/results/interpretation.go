package results

import (
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

// InterpretUnmatched sums up results that have no order yet, from their flags,
// the ranges that the lab printed, and the critical limits of the markers that
// the report has.
func InterpretUnmatched(lab catalogue.Lab, markers []*catalogue.Marker, all []networks.Result) orders.Interpretation {
	if len(all) == 0 {
		return orders.Unknown
	}
	e := expectations{lab: lab, all: markers}
	worst := orders.Normal
	for _, one := range all {
		worst = worseInterpretation(worst, e.normalise(sampledResult{Result: one}, "", -1).Interpretation)
	}
	return worst
}

// interpret compares a result with its range and sets its interpretation. The
// lab's flag comes before any comparison, with one exception: a flag that
// means normal does not make a value normal that is outside the range on the
// report, or beyond the catalogue's critical limits. The flag stays as sent,
// and Conflict marks the contradiction.
//
// A value beyond its range is abnormal. A value that cannot be compared with
// its range is unknown. A result with neither range nor flag is normal: the
// lab saw nothing to report.
func (r *Result) interpret(v value, assay *catalogue.Assay, sex string, age int) {
	expected := r.setRange(assay, sex, age)
	flag, _ := hl7.FindFlag(r.Flag)
	if v.span != nil {
		verdict := expected.Compare(*v.span)
		r.Above, r.Below = verdict.Above, verdict.Below
	}
	reported := orders.Interpretation(flag.Interpretation)
	critical := v.span != nil && r.isCritical(*v.span, assay)
	r.Conflict = r.findConflict(flag, v, expected, critical)
	r.setSide(flag)
	if r.Interpretation = reported; reported == "" {
		r.Interpretation = r.compareToRange(v, expected, assay)
	}
	if r.Conflict == NormalOutsideRange {
		r.Interpretation = orders.Abnormal
	}
	if critical {
		r.Interpretation = orders.Critical
	}
}

// findConflict compares a flag with the range on the report and with the
// critical limits. Call it before setSide.
func (r *Result) findConflict(flag hl7.Flag, v value, printed refrange.Range, critical bool) Conflict {
	yes := func(b *bool) bool { return b != nil && *b }
	normal := orders.Interpretation(flag.Interpretation) == orders.Normal
	own := r.Range.From == FromReport
	switch {
	case normal && critical:
		return NormalBeyondLimit
	case normal && own && (yes(r.Above) || yes(r.Below)),
		normal && v.span == nil && printed.Kind == refrange.Text && interpretWords(v.text, printed, nil) == orders.Abnormal:
		return NormalOutsideRange
	case own && (flag.High && yes(r.Below) || flag.Low && yes(r.Above)):
		return OtherSide
	case own && (flag.High || flag.Low) && r.Above != nil && r.Below != nil && !*r.Above && !*r.Below:
		return InsideRange
	}
	return ""
}

// setSide takes the side from a flag where the numbers do not decide it.
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
func (r *Result) setRange(assay *catalogue.Assay, sex string, age int) refrange.Range {
	printed := refrange.Parse(r.Range.Text)
	own := printed.For(sex)
	r.Range.Kind = printed.Kind
	if own.Bounded() {
		r.Range.Low, r.Range.High, r.Range.From = own.Low, own.High, FromReport
		return own
	}
	if r.Range.Text != "" && printed.Kind != refrange.None || !r.hasUnitOf(assay) {
		return own
	}
	usual, ok := assay.RangeFor(sex, age)
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

// hasUnitOf reports whether a result has the unit of an assay's ranges in the
// catalogue.
func (r *Result) hasUnitOf(assay *catalogue.Assay) bool {
	if assay == nil || assay.Scale != catalogue.Quantity {
		return false
	}
	if strings.EqualFold(r.Unit, assay.Unit) {
		return true
	}
	unit, known := loinc.UCUM(assay.Unit)
	return known && r.UCUM == unit
}

// compareToRange interprets a result without a flag.
func (r *Result) compareToRange(v value, expected refrange.Range, assay *catalogue.Assay) orders.Interpretation {
	switch {
	case v.span == nil:
		return interpretWords(v.text, expected, assay)
	case r.Above != nil && *r.Above, r.Below != nil && *r.Below:
		return orders.Abnormal
	case r.Above != nil && r.Below != nil:
		return orders.Normal
	case r.Range.Text == "" || r.Range.Kind == refrange.None:
		return orders.Normal
	}
	return orders.Unknown
}

// interpretWords interprets a value in words by the expected word, or by the
// words that the catalogue lists for the assay.
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
	case expected.Kind == refrange.Text:
		return orders.Unknown
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

// isCritical reports whether a value is at or beyond the catalogue's critical
// limits, in the catalogue's unit.
func (r *Result) isCritical(v refrange.Value, assay *catalogue.Assay) bool {
	if !r.hasUnitOf(assay) {
		return false
	}
	limits := refrange.Range{}
	if assay.CriticalLow != nil {
		limits.Low = &refrange.Bound{Value: *assay.CriticalLow}
	}
	if assay.CriticalHigh != nil {
		limits.High = &refrange.Bound{Value: *assay.CriticalHigh}
	}
	verdict := limits.Compare(v)
	return verdict.Above != nil && *verdict.Above || verdict.Below != nil && *verdict.Below
}
