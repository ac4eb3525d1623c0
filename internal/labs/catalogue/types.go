package catalogue

import "hale/internal/labs/loinc"

// LabID identifies a lab. Of a lab that ships with the binary it never changes.
type LabID = int64

// MarkerID identifies a marker. It is ours; the lab's own code of the same
// marker is its provider id.
type MarkerID = int64

// Lab is a laboratory.
//
// Spec: Lab.
type Lab struct {
	ID      LabID  `json:"id"`
	Slug    string `json:"slug"`
	Name    string `json:"name"`
	Address string `json:"address"` // first line
	City    string `json:"city"`
	Zip     string `json:"zip"`
	LogoURL string `json:"logo_url,omitempty"`

	Methods     []Method     `json:"methods"`
	SampleTypes []SampleType `json:"sample_types"`
	// States it is licensed to test people of.
	States []string `json:"states"`
	// Billings are the ways to pay that it knows; an account may allow fewer.
	Billings []Billing `json:"billings"`
	// Scheduling means that appointments at its service centres are made
	// through the service.
	Scheduling bool `json:"scheduling,omitempty"`
	// PrintsNotes means that clinical notes reach its requisitions.
	PrintsNotes bool `json:"prints_notes,omitempty"`
}

// Serves reports whether the lab may test people of a state, such as AZ.
func (l Lab) Serves(state string) bool { return known(state, l.States) }

// Offers reports whether the lab takes samples collected in a way.
func (l Lab) Offers(m Method) bool { return known(m, l.Methods) }

// MarkerType tells a single observation from a set that the lab defines.
type MarkerType string

// The types of marker.
const (
	Biomarker MarkerType = "biomarker"
	LabPanel  MarkerType = "panel"
)

// Marker is what a lab can be asked for under one code.
//
// Spec: Marker. Reference 1.1.
type Marker struct {
	ID          MarkerID   `json:"id"`
	Lab         LabID      `json:"lab_id"`
	ProviderID  string     `json:"provider_id"` // the lab's own code
	Name        string     `json:"name"`
	Slug        string     `json:"slug"`
	Description string     `json:"description"`
	Type        MarkerType `json:"type"`
	Unit        string     `json:"unit,omitempty"`  // of a biomarker, as printed
	Price       string     `json:"price,omitempty"` // US dollars, or words such as N/A

	Sample  SampleType `json:"sample_type"`
	Methods []Method   `json:"methods"` // in which it can be collected
	Fasting bool       `json:"fasting,omitempty"`

	ALaCarte  bool `json:"a_la_carte"` // may be ordered by itself
	Orderable bool `json:"orderable"`
	// Reflex markers follow from another's result and are never ordered.
	Reflex bool `json:"reflex,omitempty"`
	// Active is false for a marker that the lab's last full list did not name.
	Active bool `json:"-"`

	CommonTAT *int `json:"common_tat_days,omitempty"`     // days until 95 % have results
	WorstTAT  *int `json:"worst_case_tat_days,omitempty"` // days until 99 % have

	Questions []Question `json:"questions,omitempty"`
	Results   []Result   `json:"expected_results"`
	// ReflexOf is the provider id of the marker that this one follows.
	ReflexOf string   `json:"reflex_of,omitempty"`
	CPT      []string `json:"cpt_codes,omitempty"`
	// Covered are the diagnoses, or beginnings of their codes, for which
	// Medicare pays for the marker; empty where it does not ask for one.
	Covered []string `json:"medicare_icd_codes,omitempty"`
}

// CollectedBy reports whether the marker's sample can be collected in a way.
func (m *Marker) CollectedBy(method Method) bool { return known(method, m.Methods) }

// QuestionType says what an answer to a question looks like.
type QuestionType string

// The types of question. The answer to a choice is the code of one of its
// answers, to a multi-choice several codes with commas between, to a numeric
// one a number.
const (
	Choice      QuestionType = "choice"
	Text        QuestionType = "text"
	Numeric     QuestionType = "numeric"
	MultiChoice QuestionType = "multi_choice"
)

// QuestionTypes lists them all.
var QuestionTypes = []QuestionType{Choice, Text, Numeric, MultiChoice}

// FastingCode is the code of the question whether the person has fasted. An
// order that leaves it out answers it with the lab test's fasting flag.
const FastingCode = "FSTING"

// Question is asked at order entry.
//
// Reference 1.1, AoE.
type Question struct {
	ID         int64        `json:"id"`
	Required   bool         `json:"required"`
	Code       string       `json:"code"`
	Value      string       `json:"value"` // the question itself
	Type       QuestionType `json:"type"`
	Sequence   int          `json:"sequence"` // from 1
	Answers    []Answer     `json:"answers"`
	Constraint string       `json:"constraint,omitempty"` // for people: how to answer
	Default    string       `json:"default,omitempty"`
}

// Answer is one that may be chosen.
type Answer struct {
	ID    int64  `json:"id"`
	Code  string `json:"code"`
	Value string `json:"value"`
}

// Result is a row that a marker's report will have.
//
// Reference 1.1, ClientFacingResult.
type Result struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Slug       string `json:"slug"`
	ProviderID string `json:"provider_id,omitempty"` // the lab's code of the row
	Required   bool   `json:"required"`              // the report is incomplete without it
	LOINC      string `json:"loinc,omitempty"`
	// Assay is how the row looks and what is normal.
	Assay Assay `json:"assay"`
}

// Code is the row's LOINC code with its official name. A code that is not in
// our table goes by the row's own name; nil for a row without one.
func (r Result) Code() *loinc.Code {
	if r.LOINC == "" {
		return nil
	}
	if c, ok := loinc.Find(r.LOINC); ok {
		return c
	}
	return &loinc.Code{ID: loinc.ID(r.LOINC), Code: r.LOINC, Name: r.Name, Display: r.Name}
}
