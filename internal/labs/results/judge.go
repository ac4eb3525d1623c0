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

// severity orders interpretations, the gravest last. One that nobody could
// make says less than that something is wrong, and more than that all is well.
var severity = []orders.Interpretation{orders.Normal, orders.Unknown, orders.Abnormal, orders.Critical}

// gravest is the gravest of interpretations.
func gravest(a, b orders.Interpretation) orders.Interpretation {
	if slices.Index(severity, b) > slices.Index(severity, a) {
		return b
	}
	return a
}

// AtFirstSight sums up results of a lab of which nobody knows yet whose they
// are: by its flags, and by the ranges that it printed.
func AtFirstSight(lab catalogue.Lab, all []networks.Result) orders.Interpretation {
	if len(all) == 0 {
		return orders.Unknown
	}
	e := expectations{lab: lab}
	worst := orders.Normal
	for _, one := range all {
		worst = gravest(worst, e.normalise(found{Result: one}, "", -1).Interpretation)
	}
	return worst
}

// judge compares a result with its range and says what it means. The lab's own
// flag counts before any comparison; a value in our catalogue's critical range
// is critical unless the lab calls it normal.
//
// What is beyond its range is abnormal. Where there is a range and nobody can
// tell, the interpretation is unknown; where the lab has neither a range nor a
// flag, it saw nothing to tell.
func (r *Result) judge(v value, assay *catalogue.Assay, sex string, age int) {
	expected := r.reference(assay, sex, age)
	flag, _ := hl7.FindFlag(r.Flag)
	if v.span != nil {
		verdict := expected.Judge(*v.span)
		r.Above, r.Below = verdict.Above, verdict.Below
	}
	r.trust(flag)
	reported := orders.Interpretation(flag.Interpretation)
	if r.Interpretation = reported; reported == "" {
		r.Interpretation = r.compare(v, expected, assay)
	}
	if reported != orders.Normal && v.span != nil && r.critical(*v.span, assay) {
		r.Interpretation = orders.Critical
	}
}

// trust takes the side from a flag where the numbers say nothing of it.
func (r *Result) trust(flag hl7.Flag) {
	yes, no := true, false
	switch {
	case flag.High && r.Above == nil:
		r.Above, r.Below = &yes, &no
	case flag.Low && r.Below == nil:
		r.Above, r.Below = &no, &yes
	}
}

// reference is the range that counts for the patient: the report's, or, where
// the lab printed none, the catalogue's in the same unit.
func (r *Result) reference(assay *catalogue.Assay, sex string, age int) refrange.Range {
	printed := refrange.Parse(r.Range.Text)
	own := printed.For(sex)
	r.Range.Kind = printed.Kind
	if own.Bounded() {
		r.Range.Low, r.Range.High, r.Range.From = own.Low, own.High, FromReport
		return own
	}
	if r.Range.Text != "" && printed.Kind != refrange.None || !r.inUnitOf(assay) {
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

// inUnitOf reports whether a result is in the unit that the catalogue's numbers
// of an assay are in.
func (r *Result) inUnitOf(assay *catalogue.Assay) bool {
	if assay == nil || assay.Scale != catalogue.Quantity {
		return false
	}
	if strings.EqualFold(r.Unit, assay.Unit) {
		return true
	}
	unit, known := loinc.UCUM(assay.Unit)
	return known && r.UCUM == unit
}

// compare interprets a result that the lab left without a flag.
func (r *Result) compare(v value, expected refrange.Range, assay *catalogue.Assay) orders.Interpretation {
	switch {
	case v.span == nil:
		return words(v.text, expected, assay)
	case r.Above != nil && *r.Above, r.Below != nil && *r.Below:
		return orders.Abnormal
	case r.Above != nil && r.Below != nil:
		return orders.Normal
	case r.Range.Text == "" || r.Range.Kind == refrange.None:
		return orders.Normal
	}
	return orders.Unknown
}

// words interprets a value in words by the one that is expected, or by those
// that the catalogue knows of the assay.
func words(text string, expected refrange.Range, assay *catalogue.Assay) orders.Interpretation {
	is := func(word string) bool { return strings.EqualFold(plain(word), plain(text)) }
	switch {
	case expected.Kind == refrange.Text && slices.ContainsFunc(strings.Split(expected.Text, "/"), is):
		return orders.Normal
	case assay != nil && slices.ContainsFunc(assay.Normal, is):
		return orders.Normal
	case assay != nil && slices.ContainsFunc(assay.Abnormal, is):
		return orders.Abnormal
	case expected.Kind == refrange.Text && slices.ContainsFunc(opposites[strings.ToLower(expected.Text)], is):
		return orders.Abnormal
	case expected.Kind == refrange.Text:
		return orders.Unknown
	}
	return orders.Normal
}

// opposites are words that are the contrary of an expected one.
var opposites = map[string][]string{
	"negative": {"Positive", "Detected", "Reactive"}, "not detected": {"Detected", "Positive"}, "non reactive": {"Reactive", "Positive"},
	"absent": {"Present"}, "none seen": {"Seen", "Present"}, "no growth": {"Growth"}, "immune": {"Non-immune", "Not immune"}, "clear": {"Cloudy", "Turbid"},
}

// plain is a word in one spelling, and a constant as words.
func plain(text string) string { return refrange.Word(strings.ReplaceAll(text, "_", " ")) }

// critical reports whether a value is where a physician must be called: at or
// beyond the catalogue's limits, in the catalogue's unit.
func (r *Result) critical(v refrange.Value, assay *catalogue.Assay) bool {
	if !r.inUnitOf(assay) {
		return false
	}
	limits := refrange.Range{}
	if assay.CriticalLow != nil {
		limits.Low = &refrange.Bound{Value: *assay.CriticalLow}
	}
	if assay.CriticalHigh != nil {
		limits.High = &refrange.Bound{Value: *assay.CriticalHigh}
	}
	verdict := limits.Judge(v)
	return verdict.Above != nil && *verdict.Above || verdict.Below != nil && *verdict.Below
}
