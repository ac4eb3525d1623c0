package fhir

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// report adds the observations, and the DiagnosticReport that groups them.
func (e *exporter) report() {
	report := e.order.Report
	if report == nil {
		return
	}
	for _, lab := range report.Laboratories {
		e.organization(lab)
	}
	r := DiagnosticReport{
		ResourceType: "DiagnosticReport", ID: e.id("report"), Meta: e.meta, BasedOn: e.tests,
		Status:   cmp.Or(reportStatuses[report.Status], "unknown"),
		Category: []CodeableConcept{concept(terminology+"v2-0074", "LAB", "Laboratory")},
		Code:     e.reportCode(), Subject: &e.subject,
		EffectiveDateTime: dateTime(report.Specimen.Collected), Issued: instant(report.Issued), Performer: []Reference{e.lab},
		Conclusion: clean(strings.Join(report.Comments, "\n")),
	}
	r.Specimen = e.sampleRefs()
	for i, result := range report.Results {
		r.Result = append(r.Result, e.observation(i, result))
	}
	for i, missing := range report.Missing {
		r.Result = append(r.Result, e.missing(i, missing))
	}
	if len(report.PDF) > 0 {
		r.PresentedForm = []Attachment{{ContentType: "application/pdf", Data: report.PDF, Title: "Laboratory report"}}
	}
	e.add(r.ID, r)
}

// reportCode returns the code of the report: that of its test, if it has only one
// with a code, and that of any laboratory report.
func (e *exporter) reportCode() CodeableConcept {
	general := Coding{loinc, "11502-2", "Laboratory report"}
	if len(e.order.Tests) == 1 && e.order.Tests[0].LOINC != "" {
		test := e.order.Tests[0]
		return CodeableConcept{Coding: []Coding{{System: loinc, Code: test.LOINC}, general}, Text: clean(test.Name)}
	}
	return CodeableConcept{Coding: []Coding{general}}
}

// observation adds one result.
func (e *exporter) observation(i int, result Result) Reference {
	report := e.order.Report
	o := e.newObservation("result "+cmp.Or(result.Key, strconv.Itoa(i)), result.TestCode, labConcept(e.labSystem(), result.LOINC, result.Code, result.Name))
	o.Status = observationStatuses[strings.ToUpper(result.Status)]
	if o.Status == "" && report.Status == "partial" {
		o.Status = "preliminary"
	}
	o.Status = cmp.Or(o.Status, "final")
	collected := report.Specimen.Collected
	if s, isFurther := e.further[result.Specimen]; isFurther {
		o.Specimen, collected = &s.ref, s.collected
	}
	o.EffectiveDateTime = cmp.Or(dateTime(result.At), dateTime(collected))
	if lab, known := e.labs[result.Laboratory]; known {
		o.Performer = []Reference{lab}
	}
	o.setValue(result)
	o.Interpretation = interpretationOf(result)
	o.Note = notes(result.Notes...)
	o.ReferenceRange = referenceRanges(result)
	return e.add(o.ID, o)
}

// missing adds a result that will not come. A value that the lab withdrew is entered in
// error.
func (e *exporter) missing(i int, m MissingResult) Reference {
	o := e.newObservation("missing "+strconv.Itoa(i), m.TestCode, labConcept(e.labSystem(), m.LOINC, m.Code, m.Name))
	o.Status = "cancelled"
	if s, isFurther := e.further[m.Specimen]; isFurther {
		o.Specimen = &s.ref
	}
	w := m.Withdrawn
	if w == nil {
		o.DataAbsentReason = absentReason(m)
		return e.add(o.ID, o)
	}
	o.Status = "entered-in-error"
	o.setValue(*w)
	o.Interpretation, o.ReferenceRange = interpretationOf(*w), referenceRanges(*w)
	o.Note = notes(append([]string{m.Note}, w.Notes...)...)
	return e.add(o.ID, o)
}

// newObservation returns the common fields of an observation. It is based on
// the request of its test, or on all requests when the test is unknown.
func (e *exporter) newObservation(name, test string, code CodeableConcept) Observation {
	o := Observation{
		ResourceType: "Observation", ID: e.id(name), Meta: e.meta, BasedOn: e.tests,
		Category: []CodeableConcept{concept(terminology+"observation-category", "laboratory", "Laboratory")},
		Code:     code, Subject: &e.subject, Issued: instant(e.order.Report.Issued), Performer: []Reference{e.lab},
	}
	if len(e.samples) == 1 {
		o.Specimen = &e.samples[0].ref
	}
	for i, t := range e.order.Tests {
		if t.Code == test && test != "" {
			o.BasedOn, o.Specimen = e.tests[i:i+1], e.sampleOf(t.Specimen)
			break
		}
	}
	return o
}

var (
	boundPattern    = regexp.MustCompile(`^(<=|>=|<|>|≤|≥)\s*(\S+)$`)
	intervalPattern = regexp.MustCompile(`^(\d*\.?\d+)\s*-\s*(\d*\.?\d+)$`)
)

// setValue sets the value in the closest type. Text that is not a number stays
// text.
func (o *Observation) setValue(r Result) {
	text := clean(r.Value)
	if r.Type == "coded_value" && text != "" {
		o.ValueCodeableConcept = &CodeableConcept{Text: text}
		return
	}
	if r.Type != "comment" && o.setNumber(text, r) {
		return
	}
	if text == "" {
		c := concept(terminology+"data-absent-reason", "unknown", "Unknown")
		o.DataAbsentReason = &c
		return
	}
	o.ValueString = text
}

// setNumber sets a number, one with a comparator, or a range of two, and
// reports whether the text was one of these.
func (o *Observation) setNumber(text string, r Result) bool {
	comparator := ""
	if m := boundPattern.FindStringSubmatch(text); m != nil {
		comparator = strings.NewReplacer("≤", "<=", "≥", ">=").Replace(m[1])
		text = m[2]
	}
	if n, ok := parseDecimal(text); ok {
		o.ValueQuantity = newQuantity(r)
		o.ValueQuantity.Value, o.ValueQuantity.Comparator = n, comparator
		return true
	}
	m := intervalPattern.FindStringSubmatch(text)
	if m == nil || comparator != "" {
		return false
	}
	low, ok1 := parseDecimal(m[1])
	high, ok2 := parseDecimal(m[2])
	if !ok1 || !ok2 {
		return false
	}
	o.ValueRange = &Range{newQuantity(r), newQuantity(r)}
	o.ValueRange.Low.Value, o.ValueRange.High.Value = low, high
	return true
}

// newQuantity returns a quantity in the unit of a result, without its number.
func newQuantity(r Result) *Quantity {
	q := Quantity{Unit: clean(cmp.Or(r.Unit, r.UCUM))}
	if r.UCUM != "" {
		q.System, q.Code = ucum, r.UCUM
	}
	return &q
}

// referenceRanges returns the reference range: its text always, and its bounds
// when they could be read.
func referenceRanges(r Result) []ReferenceRange {
	u := ReferenceRange{Text: clean(r.Range)}
	if r.Low != nil {
		u.Low = newQuantity(r)
		u.Low.Value = number(*r.Low)
	}
	if r.High != nil {
		u.High = newQuantity(r)
		u.High.Value = number(*r.High)
	}
	if u == (ReferenceRange{}) {
		return nil
	}
	return []ReferenceRange{u}
}
