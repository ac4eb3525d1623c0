package catalogue

import (
	"slices"
	"strings"
	"time"

	"hale/internal/labs/loinc"
	"hale/internal/platform/ids"
	"hale/internal/platform/teams"
)

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

// Method says how a sample is collected.
//
// Spec: Lab, collection method. The list may grow, as all lists here.
type Method string

// The collection methods.
const (
	TestKit Method = "testkit"
	WalkIn  Method = "walk_in_test"
	AtHome  Method = "at_home_phlebotomy"
	OnSite  Method = "on_site_collection"
)

// Methods lists them all.
var Methods = []Method{TestKit, WalkIn, AtHome, OnSite}

// SampleType is what is collected.
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

// SampleTypes lists them all.
var SampleTypes = []SampleType{DriedBloodSpot, ArmCollector, Serum, Saliva, Urine, Stool}

// Billing says who pays.
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

// Billings lists them all.
var Billings = []Billing{ClientBill, CommercialInsurance, PatientBillPassthrough, PatientBill}

// States are the states of the US as lab accounts and licences name them.
//
// Reference 1.16, USState. There is no DC in it.
var States = []string{
	"AL", "AK", "AZ", "AR", "CA", "CO", "CT", "DE", "FL", "GA", "HI", "ID", "IL", "IN", "IA", "KS", "KY",
	"LA", "ME", "MD", "MA", "MI", "MN", "MS", "MO", "MT", "NE", "NV", "NH", "NJ", "NM", "NY", "NC", "ND",
	"OH", "OK", "OR", "PA", "RI", "SC", "SD", "TN", "TX", "UT", "VT", "VA", "WA", "WV", "WI", "WY",
}

// CentralSlugs are the labs that compendium and area lookups speak of.
var CentralSlugs = []string{"labcorp", "quest", "bioreference", "sonora_quest"}

func known[T comparable](word T, words []T) bool { return slices.Contains(words, word) }

// TestID identifies a lab test of a team.
type TestID = ids.ID[Test]

// TestStatus is where a lab test is in its life.
type TestStatus string

// A new lab test waits for approval; an archived one is inactive. Orders take
// active ones only.
const (
	Active          TestStatus = "active"
	PendingApproval TestStatus = "pending_approval"
	Inactive        TestStatus = "inactive"
)

// TestStatuses lists them all.
var TestStatuses = []TestStatus{Active, PendingApproval, Inactive}

// Test is a lab test of a team: markers of one lab, collected in one way.
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
	MarkerIDs     []MarkerID // in the order they were named
	CreatedAt     time.Time
	UpdatedAt     time.Time
	ApprovedAt    *time.Time
	ArchivedAt    *time.Time
}

// Status follows from when the test was approved and archived.
func (t *Test) Status() TestStatus {
	switch {
	case t.ArchivedAt != nil:
		return Inactive
	case t.ApprovedAt == nil:
		return PendingApproval
	}
	return Active
}

// OrderSet is what an order asks for: lab tests, single markers, or both.
//
// Reference 1.9, OrderSetRequest.
type OrderSet struct {
	TestIDs     []TestID
	AddOn       bool       // single markers were spoken of, even if none was named
	MarkerIDs   []MarkerID // not together with ProviderIDs
	ProviderIDs []string   // the lab's own codes
}

// Panel is an order set made out: what one order will be of.
type Panel struct {
	// Test is the lab test that the order shows: the one that was asked for,
	// or one made for this set of markers.
	Test    Test
	Lab     Lab
	Method  Method
	Sample  SampleType
	Markers []*Marker // with their questions and expected results, each once
	Fasting bool
	// CommonTAT and WorstTAT are days until results, as TAT has them.
	CommonTAT, WorstTAT *int
}

// TAT is how long a set of markers takes: as many days as the slowest. Nil when
// a marker does not say, since that one may be the slowest.
//
// Reference 1.14.
func TAT(markers []*Marker) (common, worst *int) {
	return slowest(markers, func(m *Marker) *int { return m.CommonTAT }), slowest(markers, func(m *Marker) *int { return m.WorstTAT })
}

func slowest(markers []*Marker, days func(m *Marker) *int) (most *int) {
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

// Supported reports whether one of an order's diagnoses is among those for
// which Medicare pays for the marker. A marker without such a list is paid for
// whatever the diagnosis.
//
// Medicare's coverage determinations list complete codes and whole categories;
// E11 stands for every code below it.
func (m *Marker) Supported(icd []string) bool {
	if len(m.Covered) == 0 {
		return true
	}
	for _, code := range icd {
		for _, covered := range m.Covered {
			if strings.HasPrefix(undotted(code), undotted(covered)) {
				return true
			}
		}
	}
	return false
}

func undotted(icd string) string {
	return strings.ToUpper(strings.ReplaceAll(strings.TrimSpace(icd), ".", ""))
}
