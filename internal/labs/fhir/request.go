package fhir

import (
	"cmp"
	"strconv"
)

// requests adds a ServiceRequest for each test. They share a requisition, so
// that they are seen to be one order.
func (e *exporter) requests() {
	o := e.order
	requisition := Identifier{Use: "official", System: uris, Value: "urn:uuid:" + o.ID.String()}
	placer := concept(terminology+"v2-0203", "PLAC", "Placer Identifier")
	for i, test := range o.Tests {
		code := coded(e.labSystem(), test.LOINC, test.Code, test.Name)
		r := ServiceRequest{
			ResourceType: "ServiceRequest", ID: e.id("test " + strconv.Itoa(i)),
			Identifier:  []Identifier{{Type: &placer, System: uris, Value: requisition.Value}},
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
		if e.sample != nil {
			r.Specimen = []Reference{*e.sample}
		}
		e.tests = append(e.tests, e.add(r.ID, r))
	}
}

// labSystem is the namespace of the lab's own codes.
func (e *exporter) labSystem() string { return e.system("lab:" + cmp.Or(e.order.Lab.Key, "unknown")) }

// specimen adds the sample, once it has a number or a time.
func (e *exporter) specimen() {
	var s Specimen
	if e.order.Report != nil {
		s = e.order.Report.Specimen
	}
	number := cmp.Or(s.Number, e.order.SampleID)
	collection := Collection{CollectedDateTime: dateTime(s.Collected)}
	if s.Fasting != nil {
		c := concept(terminology+"v2-0916", "NF", "The patient indicated they did not fast prior to the procedure.")
		if *s.Fasting {
			c = concept(terminology+"v2-0916", "F", "Patient was fasting prior to the procedure.")
		}
		collection.FastingStatusCodeableConcept = &c
	}
	r := SpecimenResource{
		ResourceType: "Specimen", ID: e.id("specimen"), Status: "available", Subject: &e.subject,
		ReceivedTime: dateTime(s.Received), Note: notes(s.Information),
	}
	if number != "" {
		r.Identifier = []Identifier{{System: e.system("sample"), Value: clean(number)}}
	}
	if collection != (Collection{}) {
		r.Collection = &collection
	}
	if number == "" && r.Collection == nil && r.ReceivedTime == "" {
		return
	}
	ref := e.add(r.ID, r)
	e.sample = &ref
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
