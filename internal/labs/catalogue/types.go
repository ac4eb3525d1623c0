package catalogue

import (
	"slices"
	"strings"
	"time"

	"hale/internal/labs/loinc"
	"hale/internal/labs/orderwords"
	"hale/internal/platform/ids"
	"hale/internal/platform/teams"
)

// LabID identifies a lab. The ids of labs that ship with the binary never
// change.
type LabID = int64

// MarkerID identifies a marker. It is ours; the lab's code for it is the
// provider id.
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
	State   string `json:"state,omitempty"`
	Phone   string `json:"phone,omitempty"`
	CLIA    string `json:"clia,omitempty"` // number of its federal certificate
	LogoURL string `json:"logo_url,omitempty"`

	Methods     []Method     `json:"methods"`
	SampleTypes []SampleType `json:"sample_types"`
	// States in which it is licensed to test people.
	States []string `json:"states"`
	// Billings are the billing types of the lab; an account may allow fewer.
	Billings []Billing `json:"billings"`
	// Scheduling reports whether the service books appointments at its service
	// centers.
	Scheduling bool `json:"scheduling,omitempty"`
	// PrintsNotes reports whether its requisitions contain clinical notes.
	PrintsNotes bool `json:"prints_notes,omitempty"`
	// PayorCodes are the lab's own codes of insurers, by the payor code of an
	// insurance record. The lab gets the payor code for an insurer without one.
	PayorCodes map[string]string `json:"payor_codes,omitempty"`
}

// Lacks names the fields that are missing and that each page of a lab's documents must
// have (42 CFR 493.1291).
func (l Lab) Lacks() []string {
	var names []string
	for _, one := range []struct{ name, text string }{
		{"clia", l.CLIA}, {"phone", l.Phone}, {"address", l.Address}, {"city", l.City}, {"state", l.State}, {"zip", l.Zip},
	} {
		if one.text == "" {
			names = append(names, one.name)
		}
	}
	return names
}

// Serves reports whether the lab can test people of a state, such as AZ.
func (l Lab) Serves(state string) bool { return containsWord(state, l.States) }

// Offers reports whether the lab accepts a collection method.
func (l Lab) Offers(m Method) bool { return containsWord(m, l.Methods) }

// MarkerType distinguishes a single observation from a set that the lab defines.
type MarkerType string

// The types of markers.
const (
	Biomarker MarkerType = "biomarker"
	LabPanel  MarkerType = "panel"
)

// Marker is a test that a lab offers under one code.
//
// Spec: Marker. Reference 1.1.
type Marker struct {
	ID          MarkerID   `json:"id"`
	Lab         LabID      `json:"lab_id"`
	ProviderID  string     `json:"provider_id"` // the lab's code
	Name        string     `json:"name"`
	Slug        string     `json:"slug"`
	Description string     `json:"description"`
	Type        MarkerType `json:"type"`
	Unit        string     `json:"unit,omitempty"`  // of a biomarker, as printed
	Price       string     `json:"price,omitempty"` // US dollars, or words such as N/A

	Sample  SampleType `json:"sample_type"`
	Methods []Method   `json:"methods"` // possible collection methods
	Fasting bool       `json:"fasting,omitempty"`
	// Specimen describes the collection; see Collect.
	Specimen Specimen `json:"specimen,omitzero"`
	// LOINC is the code of the test itself, such as that of a panel; empty if it
	// is not known. The results have codes of their own.
	LOINC string `json:"loinc,omitempty"`

	ALaCarte  bool `json:"a_la_carte"` // can be ordered by itself
	Orderable bool `json:"orderable"`
	// Reflex markers follow from the result of another marker and are never
	// ordered.
	Reflex bool `json:"reflex,omitempty"`
	// Active is false for a marker that the lab's last full list did not
	// contain.
	Active bool `json:"-"`

	CommonTAT *int `json:"common_tat_days,omitempty"`     // days until 95 % of results
	WorstTAT  *int `json:"worst_case_tat_days,omitempty"` // days until 99 % of results

	Questions []Question `json:"questions,omitempty"`
	Results   []Result   `json:"expected_results"`
	// ReflexOf is the provider id of the marker that triggers this one.
	ReflexOf string   `json:"reflex_of,omitempty"`
	CPT      []string `json:"cpt_codes,omitempty"`
	// Covered are the diagnoses, or beginnings of their codes, for which
	// Medicare pays for the marker. Empty if Medicare does not require a
	// diagnosis.
	Covered []string `json:"medicare_icd_codes,omitempty"`
}

// CollectedBy reports whether a method can collect the marker's sample.
func (m *Marker) CollectedBy(method Method) bool { return containsWord(method, m.Methods) }

// QuestionType is the form of the answer to a question.
type QuestionType string

// The types of questions. The answer to a choice is the code of one of its answers.
// The answer to a multi-choice is several codes separated by commas. The answer to a
// numeric question is a number.
const (
	Choice      QuestionType = "choice"
	Text        QuestionType = "text"
	Numeric     QuestionType = "numeric"
	MultiChoice QuestionType = "multi_choice"
)

// QuestionTypes lists all types.
var QuestionTypes = []QuestionType{Choice, Text, Numeric, MultiChoice}

// FastingCode is the code of the question whether the person has fasted. For an
// order without an answer, the fasting flag of the lab test is the answer.
const FastingCode = "FSTING"

// Question is asked at order entry.
//
// Reference 1.1, AoE.
type Question struct {
	ID         int64        `json:"id"`
	Required   bool         `json:"required"`
	Code       string       `json:"code"`
	Value      string       `json:"value"` // text of the question
	Type       QuestionType `json:"type"`
	Sequence   int          `json:"sequence"` // from 1
	Answers    []Answer     `json:"answers"`
	Constraint string       `json:"constraint,omitempty"` // for people: the form of the answer
	Default    string       `json:"default,omitempty"`
}

// Answer is one of the answers of a choice.
type Answer struct {
	ID    int64  `json:"id"`
	Code  string `json:"code"`
	Value string `json:"value"`
}

// Result is a row of a marker's report.
//
// Reference 1.1, ClientFacingResult.
type Result struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Slug       string `json:"slug"`
	ProviderID string `json:"provider_id,omitempty"` // the lab's code for the row
	Required   bool   `json:"required"`              // the report is incomplete without this row
	LOINC      string `json:"loinc,omitempty"`
	// Assay describes the row and its normal values.
	Assay Assay `json:"assay"`
}

// Code returns the row's LOINC code with its official name. A code that is not
// in our table gets the row's name; nil for a row without a code.
func (r Result) Code() *loinc.Code {
	if r.LOINC == "" {
		return nil
	}
	if c, ok := loinc.Find(r.LOINC); ok {
		return c
	}
	return &loinc.Code{ID: loinc.ID(r.LOINC), Code: r.LOINC, Name: r.Name, Display: r.Name}
}

// Method is a way to collect a sample.
//
// Spec: Lab, collection method. The list may grow, as all lists here.
type Method string

// The collection methods.
const (
	TestKit Method = orderwords.TestKit
	WalkIn  Method = orderwords.WalkIn
	AtHome  Method = orderwords.AtHome
	OnSite  Method = orderwords.OnSite
)

// Methods lists all methods.
var Methods = []Method{TestKit, WalkIn, AtHome, OnSite}

// SampleType is the kind of sample.
//
// Spec: Lab, sample type.
type SampleType string

// The sample types. ArmCollector draws blood from the upper arm without a
// needle.
const (
	DriedBloodSpot SampleType = "dried_blood_spot"
	ArmCollector   SampleType = "arm_collector"
	Serum          SampleType = "serum"
	Saliva         SampleType = "saliva"
	Urine          SampleType = "urine"
	Stool          SampleType = "stool"
)

// SampleTypes lists all types.
var SampleTypes = []SampleType{DriedBloodSpot, ArmCollector, Serum, Saliva, Urine, Stool}

// Billing is the way in which an order is paid.
//
// Reference 1.9.
type Billing string

// The billing types.
const (
	ClientBill             Billing = "client_bill"
	CommercialInsurance    Billing = "commercial_insurance"
	PatientBillPassthrough Billing = "patient_bill_passthrough"
	PatientBill            Billing = "patient_bill"
)

// Billings lists all types.
var Billings = []Billing{ClientBill, CommercialInsurance, PatientBillPassthrough, PatientBill}

// States are the states of the US that lab accounts and licences name.
//
// Reference 1.16, USState. DC is not one of them.
var States = []string{
	"AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL", "IN", "IA", "KS", "KY",
	"LA", "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY", "NC", "ND",
	"OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY",
}

// CentralSlugs are the labs of compendium and area lookups.
var CentralSlugs = []string{"labcorp", "quest", "bioreference", "sonora_quest"}

func containsWord[T comparable](word T, words []T) bool { return slices.Contains(words, word) }

// TestID identifies a lab test of a team.
type TestID = ids.ID[Test]

// TestStatus is the state of a lab test.
type TestStatus string

// A new lab test waits for approval; an archived one is inactive. Orders need
// active tests.
const (
	Active          TestStatus = "active"
	PendingApproval TestStatus = "pending_approval"
	Inactive        TestStatus = "inactive"
)

// TestStatuses lists all statuses.
var TestStatuses = []TestStatus{Active, PendingApproval, Inactive}

// Test is a lab test of a team: markers of one lab with one collection method.
//
// Reference 1.1, ClientFacingLabTest.
type Test struct {
	ID            TestID
	Team          teams.ID
	Slug          string
	Name          string
	Description   string
	Lab           LabID
	Method        Method
	SampleType    SampleType
	Fasting       bool
	PriceMinor    int64 // US cents
	Account       *AccountID
	AutoGenerated bool
	MarkerIDs     []MarkerID // in the order of the request
	CreatedAt     time.Time
	UpdatedAt     time.Time
	ApprovedAt    *time.Time
	ArchivedAt    *time.Time
}

// Status depends on the times of approval and archiving.
func (t *Test) Status() TestStatus {
	switch {
	case t.ArchivedAt != nil:
		return Inactive
	case t.ApprovedAt == nil:
		return PendingApproval
	}
	return Active
}

// OrderSet names the tests that an order requests: lab tests, single markers, or
// both.
//
// Reference 1.9, OrderSetRequest.
type OrderSet struct {
	TestIDs     []TestID
	AddOn       bool       // an add-on was given, even if it names no marker
	MarkerIDs   []MarkerID // excludes ProviderIDs
	ProviderIDs []string   // the lab's codes
}

// Panel is a resolved order set: the tests of one order.
type Panel struct {
	// Test is the lab test that the order shows: the requested one, or a
	// generated one for these markers.
	Test    Test
	Lab     Lab
	Method  Method
	Sample  SampleType
	Markers []*Marker // with their questions and expected results, without duplicates
	Fasting bool
	// CommonTAT and WorstTAT are the days until results; see TAT.
	CommonTAT, WorstTAT *int
}

// TAT returns the turnaround time of a set of markers, which is that of the
// slowest. It is nil if a marker has none, because that one may be the slowest.
//
// Reference 1.14.
func TAT(markers []*Marker) (common, worst *int) {
	return slowestDays(markers, func(m *Marker) *int { return m.CommonTAT }), slowestDays(markers, func(m *Marker) *int { return m.WorstTAT })
}

func slowestDays(markers []*Marker, days func(m *Marker) *int) (most *int) {
	for _, m := range markers {
		n := days(m)
		if n == nil {
			return nil
		}
		if most == nil || *n > *most {
			most = n
		}
	}
	return most
}

// Supported reports whether Medicare pays for the marker with one of the
// diagnoses of an order. A marker without a list of diagnoses is always paid
// for.
//
// Medicare's coverage determinations list complete codes and whole categories:
// E11 includes every code below it.
func (m *Marker) Supported(icd []string) bool {
	if len(m.Covered) == 0 {
		return true
	}
	for _, code := range icd {
		for _, covered := range m.Covered {
			if strings.HasPrefix(withoutDot(code), withoutDot(covered)) {
				return true
			}
		}
	}
	return false
}

func withoutDot(icd string) string {
	return strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(icd), ".", ""))
}
