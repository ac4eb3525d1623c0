package fhir

import (
	"cmp"
	"strings"
)

// report adds the observations, and the DiagnosticReport that holds them
// together.
func (e *exporter) report() {
	report := e.order.Report
	if report == nil {
		return
	}
	for _, lab := range report.Laboratories {
		e.organization(lab)
	}
	r := DiagnosticReport{
		ResourceType: "DiagnosticReport", ID: e.id("report"), BasedOn: e.tests,
		Status:   cmp.Or(reportStatuses[report.Status], "unknown"),
		Category: []CodeableConcept{concept(terminology+"v2-0074", "LAB", "Laboratory")},
		Code:     CodeableConcept{Coding: []Coding{{loinc, "11502-2", "Laboratory report"}}}, Subject: &e.subject,
		EffectiveDateTime: dateTime(report.Specimen.Collected), Issued: instant(report.Issued), Performer: []Reference{e.lab},
		Conclusion: clean(strings.Join(report.Comments, "\n")),
	}
	if e.sample != nil {
		r.Specimen = []Reference{*e.sample}
	}
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
