package fhir

import (
	"strings"

	"hale/internal/labs/hl7"
	"hale/internal/labs/orderwords"
)

// The code systems.
const (
	loinc          = "http://loinc.org"
	ucum           = "http://unitsofmeasure.org"
	icd10cm        = "http://hl7.org/fhir/sid/icd-10-cm"
	npi            = "http://hl7.org/fhir/sid/us-npi"
	clia           = "urn:oid:2.16.840.1.113883.4.7"
	snomed         = "http://snomed.info/sct"
	uriSystem      = "urn:ietf:rfc:3986"
	terminology    = "http://terminology.hl7.org/CodeSystem/"
	interpretation = terminology + "v3-ObservationInterpretation"
)

// requestStatuses maps the stages of an order to statuses of a request. A
// failed order is revoked like a cancelled one.
var requestStatuses = map[string]string{
	orderwords.StageReceived: "active", orderwords.StageCollecting: "active", orderwords.StageWithLab: "active",
	orderwords.StageCompleted: "completed", orderwords.StageCancelled: "revoked", orderwords.StageFailed: "revoked",
}

// reportStatuses maps the statuses of results.
var reportStatuses = map[string]string{"partial": "partial", "final": "final", "corrected": "corrected"}

// observationStatuses maps HL7 table 0085.
var observationStatuses = map[string]string{
	"F": "final", "U": "final", "P": "preliminary", "R": "preliminary", "S": "preliminary", "I": "registered", "O": "registered",
	"C": "corrected", "X": "cancelled", "D": "entered-in-error", "W": "entered-in-error",
}

// interpretationOf returns the FHIR code of the lab's flag. If FHIR has no code for the
// flag, it returns the code for Hale's interpretation. It does the same if the flag is
// milder than that interpretation. An example is a normal flag on a critical value: the value
// contradicts such a flag. If the value could not be judged, a normal flag gets no
// code. The text is always the flag as the lab sent it.
func interpretationOf(r Result) []CodeableConcept {
	word, flag := r.Interpretation, r.Flag
	code, _ := hl7.FindFlag(flag)
	milder := code.Interpretation == "normal" && (word == "abnormal" || word == "critical") || code.Interpretation == "abnormal" && word == "critical"
	switch {
	case milder:
		code, _ = hl7.FindFlag(hl7.FlagFor(word, code.High || r.Above, code.Low || r.Below))
	case code.Interpretation == "normal" && word == "unknown":
		code = hl7.Flag{} // the value could not be judged
	case code.Display == "":
		code, _ = hl7.FindFlag(hl7.FlagFor(word, false, false))
	}
	concept := CodeableConcept{Text: clean(flag)}
	if code.Display != "" {
		concept.Coding = []Coding{{interpretation, code.Code, code.Display}}
	}
	if concept.Coding == nil && concept.Text == "" {
		return nil
	}
	return []CodeableConcept{concept}
}

// absentReason returns the reason for a missing value. There are few codes, so
// the reason is added in words.
func absentReason(m MissingResult) *CodeableConcept {
	code, display := "not-performed", "Not Performed"
	switch m.Reason {
	case "", "unknown_failure":
		code, display = "unknown", "Unknown"
	case "internal_lab_failure":
		code, display = "error", "Error"
	}
	text := clean(m.Note)
	if text == "" {
		text = strings.ReplaceAll(m.Reason, "_", " ")
	}
	return &CodeableConcept{[]Coding{{terminology + "data-absent-reason", code, display}}, text}
}

// labConcept returns a concept by its LOINC, where it has one, and the lab's
// own code.
func labConcept(lab, loincCode, code, name string) CodeableConcept {
	concept := CodeableConcept{Text: clean(name)}
	if loincCode != "" {
		concept.Coding = append(concept.Coding, Coding{System: loinc, Code: loincCode})
	}
	if code != "" && code != loincCode {
		concept.Coding = append(concept.Coding, Coding{System: lab, Code: code, Display: clean(name)})
	}
	if concept.Coding == nil && concept.Text == "" {
		concept.Text = "unnamed"
	}
	return concept
}

func concept(system, code, display string) CodeableConcept {
	return CodeableConcept{Coding: []Coding{{system, code, display}}}
}

// relationship returns the standard's word for the relationship to the insured
// person.
func relationship(word string) *CodeableConcept {
	code := strings.ToLower(word)
	switch code {
	case "self", "spouse", "other":
		c := concept(terminology+"subscriber-relationship", code, word)
		return &c
	}
	return nil
}
