package fhir

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// requests adds a ServiceRequest for each test. They share a requisition,
// which marks them as one order.
func (e *exporter) requests() {
	o := e.order
	requisition := Identifier{Use: "official", System: uriSystem, Value: "urn:uuid:" + o.ID.String()}
	placer := concept(terminology+"v2-0203", "PLAC", "Placer Identifier")
	for i, test := range o.Tests {
		code := labConcept(e.labSystem(), test.LOINC, test.Code, test.Name)
		r := ServiceRequest{
			ResourceType: "ServiceRequest", ID: e.id("test " + strconv.Itoa(i)),
			Identifier:  []Identifier{{Type: &placer, System: uriSystem, Value: requisition.Value}},
			Requisition: &requisition, Status: cmp.Or(requestStatuses[o.Status], "unknown"), Intent: "order",
			Category: []CodeableConcept{concept(snomed, "108252007", "Laboratory procedure")}, Priority: "routine",
			Code: &code, Subject: e.subject, AuthoredOn: instant(o.PlacedAt), Requester: e.requester,
			Performer: []Reference{e.lab}, Insurance: e.insurance, Supporting: e.answers(i, test), Note: notes(o.Notes),
		}
		if o.Priority {
			r.Priority = "stat"
		}
		for _, icd := range o.ICDCodes {
			r.ReasonCode = append(r.ReasonCode, concept(icd10cm, icd, ""))
		}
		if own := e.sampleOf(test.Specimen); own != nil {
			r.Specimen = []Reference{*own}
		}
		e.tests = append(e.tests, e.add(r.ID, r))
	}
}

// labSystem returns the namespace of the lab's own codes.
func (e *exporter) labSystem() string { return e.system("lab:" + cmp.Or(e.order.Lab.Key, "unknown")) }

// sample is a specimen of the bundle with its material.
type sample struct {
	of  Material
	ref Reference
}

// sampleOf returns the specimen of a material, or nil if the bundle has none.
func (e *exporter) sampleOf(m Material) *Reference {
	for _, s := range e.samples {
		if s.of == m {
			return &s.ref
		}
	}
	return nil
}

// sampleRefs returns all specimens.
func (e *exporter) sampleRefs() (all []Reference) {
	for _, s := range e.samples {
		if !e.isFurther(s.ref) {
			all = append(all, s.ref)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(e.further)) {
		all = append(all, e.further[key].ref)
	}
	return all
}

func (e *exporter) isFurther(ref Reference) bool {
	for _, s := range e.further {
		if s.ref == ref {
			return true
		}
	}
	return false
}

// specimen adds the samples, once they have a number or a time: one for each
// material that the tests need. They share the number of the order. If the lab names
// another material for the first one, that counts.
func (e *exporter) specimen() {
	materials := []Material{}
	for _, t := range e.order.Tests {
		if !slices.Contains(materials, t.Specimen) {
			materials = append(materials, t.Specimen)
		}
	}
	if len(materials) == 0 {
		materials = []Material{{}}
	}
	report := cmp.Or(e.order.Report, &Report{})
	own := report.Specimen
	own.Number = cmp.Or(own.Number, e.order.SampleID)
	e.further = map[string]furtherSample{}
	for _, s := range report.Specimens {
		m := Material{Name: s.Type}
		if i := slices.IndexFunc(materials, func(m Material) bool { return m.Name != "" && strings.EqualFold(m.Name, s.Type) }); i >= 0 {
			m = materials[i] // with its codes
		}
		if ref, added := e.addSpecimen("specimen of the report "+s.Key, m, s); added {
			e.further[s.Key] = furtherSample{ref, s.Collected}
		}
	}
	isOrdered := func(name string) bool {
		return slices.ContainsFunc(materials, func(m Material) bool { return strings.EqualFold(m.Name, name) })
	}
	first, replaced := materials[0], own.Type != "" && !isOrdered(own.Type)
	if replaced { // the lab names the material that it has
		if ref, added := e.addSpecimen("specimen", Material{Name: own.Type}, own); added {
			e.further[own.Number] = furtherSample{ref, own.Collected}
			if _, isFurther := report.furtherOf(first); !isFurther {
				e.samples = append(e.samples, sample{first, ref})
				materials = materials[1:]
			}
		}
	}
	for i, m := range materials {
		if key, isFurther := report.furtherOf(m); isFurther {
			e.samples = append(e.samples, sample{m, e.further[key].ref})
			continue
		}
		name := "specimen"
		if i > 0 || replaced {
			name += " " + cmp.Or(m.Name, "of other tests")
		}
		if ref, added := e.addSpecimen(name, m, own); added {
			e.samples = append(e.samples, sample{m, ref})
		}
	}
}

// furtherOf returns the key of the further specimen whose material is that of a test.
func (r *Report) furtherOf(m Material) (key string, found bool) {
	for _, s := range r.Specimens {
		if m.Name != "" && strings.EqualFold(s.Type, m.Name) {
			return s.Key, true
		}
	}
	return "", false
}

// furtherSample is a further specimen of the report.
type furtherSample struct {
	ref       Reference
	collected Moment
}

// addSpecimen adds a specimen, unless nothing is known about it.
func (e *exporter) addSpecimen(name string, m Material, s Specimen) (ref Reference, added bool) {
	number := s.Number
	collection := Collection{CollectedDateTime: dateTime(s.Collected)}
	if s.Fasting != nil {
		c := concept(terminology+"v2-0916", "NF", "The patient indicated they did not fast prior to the procedure.")
		if *s.Fasting {
			c = concept(terminology+"v2-0916", "F", "Patient was fasting prior to the procedure.")
		}
		collection.FastingStatusCodeableConcept = &c
	}
	r := SpecimenResource{
		ResourceType: "Specimen", ID: e.id(name), Status: "available", Type: materialConcept(m), Subject: &e.subject,
		ReceivedTime: dateTime(s.Received), Note: notes(s.Information),
	}
	if number != "" {
		r.Identifier = []Identifier{{System: e.system("sample"), Value: clean(number)}}
	}
	if collection != (Collection{}) {
		r.Collection = &collection
	}
	if number == "" && r.Collection == nil && r.ReceivedTime == "" && s.Key == "" {
		return Reference{}, false
	}
	return e.add(r.ID, r), true
}

// materialConcept returns the type of a specimen, or nil if it is not known.
func materialConcept(m Material) *CodeableConcept {
	c := CodeableConcept{Text: clean(m.Name)}
	if m.SNOMED != "" {
		c.Coding = append(c.Coding, Coding{snomed, m.SNOMED, m.SNOMEDName})
	}
	if m.HL7 != "" {
		c.Coding = append(c.Coding, Coding{terminology + "v2-0487", m.HL7, m.HL7Name})
	}
	if c.Coding == nil && c.Text == "" {
		return nil
	}
	return &c
}

func notes(texts ...string) []Annotation {
	var list []Annotation
	for _, text := range texts {
		if text = clean(text); text != "" {
			list = append(list, Annotation{text})
		}
	}
	return list
}

// answers adds the answers at order entry of a test. The request refers to it
// as supporting information, as laboratories expect.
func (e *exporter) answers(at int, test Test) []Reference {
	r := QuestionnaireResponse{
		ResourceType: "QuestionnaireResponse", ID: e.id("answers " + strconv.Itoa(at)), Status: "completed",
		Subject: &e.subject, Authored: instant(e.order.PlacedAt),
	}
	for i, a := range test.Answers {
		item := ResponseItem{LinkID: cmp.Or(clean(a.Code), strconv.Itoa(i+1)), Text: clean(a.Question)}
		for _, g := range a.Values {
			if value := e.answerValue(g); value != (ItemAnswer{}) {
				item.Answer = append(item.Answer, value)
			}
		}
		if item.Answer != nil {
			r.Item = append(r.Item, item)
		}
	}
	if r.Item == nil {
		return nil
	}
	return []Reference{e.add(r.ID, r)}
}

// answerValue returns one answer: from the lab's list, a number, or text.
func (e *exporter) answerValue(g AnswerValue) ItemAnswer {
	if code := clean(g.Code); code != "" {
		return ItemAnswer{ValueCoding: &Coding{e.labSystem() + ":aoe", code, clean(g.Text)}}
	}
	if n, ok := parseDecimal(g.Text); ok && g.Numeric {
		return ItemAnswer{ValueDecimal: n}
	}
	return ItemAnswer{ValueString: clean(g.Text)}
}
