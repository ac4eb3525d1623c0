package fhir

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"
)

// observation adds one result.
func (e *exporter) observation(i int, result Result) Reference {
	report := e.order.Report
	o := e.begin("result "+strconv.Itoa(i), result.TestCode, coded(e.labSystem(), result.LOINC, result.Code, result.Name))
	o.Status = observationStatuses[strings.ToUpper(result.Status)]
	if o.Status == "" && report.Status == "partial" {
		o.Status = "preliminary"
	}
	o.Status = cmp.Or(o.Status, "final")
	o.EffectiveDateTime = cmp.Or(dateTime(result.At), dateTime(report.Specimen.Collected))
	if lab, known := e.labs[result.Laboratory]; known {
		o.Performer = []Reference{lab}
	}
	o.value(result)
	o.Interpretation = interpretationOf(result.Interpretation, result.Flag)
	o.Note = notes(result.Notes...)
	o.ReferenceRange = usual(result)
	return e.add(o.ID, o)
}

// missing adds a result that will not come.
func (e *exporter) missing(i int, m Missing) Reference {
	o := e.begin("missing "+strconv.Itoa(i), m.TestCode, coded(e.labSystem(), m.LOINC, m.Code, m.Name))
	o.Status = "cancelled"
	o.DataAbsentReason = absent(m)
	return e.add(o.ID, o)
}

// begin is what every observation has. It is based on the request of its test,
// or on all of them where nobody knows which.
func (e *exporter) begin(name, test string, code CodeableConcept) Observation {
	o := Observation{
		ResourceType: "Observation", ID: e.id(name), BasedOn: e.tests,
		Category: []CodeableConcept{concept(terminology+"observation-category", "laboratory", "Laboratory")},
		Code:     code, Subject: &e.subject, Issued: instant(e.order.Report.Issued), Performer: []Reference{e.lab}, Specimen: e.sample,
	}
	for i, t := range e.order.Tests {
		if t.Code == test && test != "" {
			o.BasedOn = e.tests[i : i+1]
			break
		}
	}
	return o
}

var (
	bound   = regexp.MustCompile(`^(<=|>=|<|>|≤|≥)\s*(\S+)$`)
	between = regexp.MustCompile(`^(\d*\.?\d+)\s*-\s*(\d*\.?\d+)$`)
)

// value finds the closest type for what the lab wrote. Whatever is no number
// stays text.
func (o *Observation) value(r Result) {
	text := clean(r.Value)
	if r.Type == "coded_value" && text != "" {
		o.ValueCodeableConcept = &CodeableConcept{Text: text}
		return
	}
	if r.Type != "comment" && o.numeric(text, r) {
		return
	}
	if text == "" {
		c := concept(terminology+"data-absent-reason", "unknown", "Unknown")
		o.DataAbsentReason = &c
		return
	}
	o.ValueString = text
}

// numeric reports whether the text was a number, one with a comparator, or a
// range of two.
func (o *Observation) numeric(text string, r Result) bool {
	comparator := ""
	if m := bound.FindStringSubmatch(text); m != nil {
		comparator = strings.NewReplacer("≤", "<=", "≥", ">=").Replace(m[1])
		text = m[2]
	}
	if n, ok := decimal(text); ok {
		o.ValueQuantity = measured(r)
		o.ValueQuantity.Value, o.ValueQuantity.Comparator = n, comparator
		return true
	}
	m := between.FindStringSubmatch(text)
	if m == nil || comparator != "" {
		return false
	}
	low, ok1 := decimal(m[1])
	high, ok2 := decimal(m[2])
	if !ok1 || !ok2 {
		return false
	}
	o.ValueRange = &Range{measured(r), measured(r)}
	o.ValueRange.Low.Value, o.ValueRange.High.Value = low, high
	return true
}

// measured is a quantity in the unit of a result, still without its number.
func measured(r Result) *Quantity {
	q := Quantity{Unit: clean(cmp.Or(r.Unit, r.UCUM))}
	if r.UCUM != "" {
		q.System, q.Code = ucum, r.UCUM
	}
	return &q
}

// usual is the reference range: its text always, and its bounds where they
// could be read.
func usual(r Result) []ReferenceRange {
	u := ReferenceRange{Text: clean(r.Range)}
	if r.Low != nil {
		u.Low = measured(r)
		u.Low.Value = number(*r.Low)
	}
	if r.High != nil {
		u.High = measured(r)
		u.High.Value = number(*r.High)
	}
	if u == (ReferenceRange{}) {
		return nil
	}
	return []ReferenceRange{u}
}
