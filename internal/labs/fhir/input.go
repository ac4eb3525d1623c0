package fhir

import (
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
)

// Order is an order with its results as far as they are known. Zero fields are
// left out of the bundle.
type Order struct {
	ID uuid.UUID
	// SampleID is the requisition or control number.
	SampleID string
	// Status is received, collecting_sample, sample_with_lab, completed, cancelled
	// or failed.
	Status   string
	PlacedAt time.Time
	Priority bool
	Notes    string
	ICDCodes []string
	Tests    []Test
	Patient  Patient
	// Physician signs the order; nil while no physician has signed.
	Physician *Practitioner
	Lab       Organization
	// Coverage is set when an insurance pays.
	Coverage *Coverage
	// Report is nil until the lab reports.
	Report *Report
}

// Test is one ordered test, by the lab's own code.
type Test struct {
	Code, Name, LOINC string
	// Answers are the answers at order entry.
	Answers []Answer
	// Specimen is the material that the test needs.
	Specimen Material
}

// Material is the kind of a specimen. It has the codes of SNOMED CT and of HL7
// table 0487, and their names. Empty codes are not known.
type Material struct {
	Name, SNOMED, SNOMEDName, HL7, HL7Name string
}

// Answer answers a question, by the lab's code of the question.
type Answer struct {
	Code, Question string
	Values         []AnswerValue // several for a multiple choice
}

// AnswerValue is one value of an answer. Code is the lab's code of an offered answer.
// Without a code, Text is free text. Numeric marks a number.
type AnswerValue struct {
	Code, Text string
	Numeric    bool
}

// Patient is the person of the sample. Personal: never log it.
type Patient struct {
	ID                  uuid.UUID
	FirstName, LastName string
	DOB                 civil.Date
	// Gender is female, male, other or unknown.
	Gender       string
	Phone, Email string
	Address      Address
	// Race and Ethnicity are the words of the specification; empty when unknown.
	Race, Ethnicity string
}

// Address is a postal address.
type Address struct {
	FirstLine, SecondLine, City, State, Zip, Country string
}

// Practitioner is a physician.
type Practitioner struct {
	FirstName, LastName, NPI string
}

// Organization is a laboratory. Key names it in the order; results refer to
// the performing laboratory by it.
type Organization struct {
	Key, Name, CLIA, Phone string
	Address                Address
}

// Coverage is an insurance policy.
type Coverage struct {
	PayorCode, Payor, MemberID, GroupID string
	PayorAddress                        Address
	// Relationship of the patient to the insured person is Self, Spouse or
	// Other.
	Relationship string
	// Insured is the insured person where that is not the patient.
	Insured Insured
}

// Insured is the person who has an insurance policy. Personal: never log it.
type Insured struct {
	FirstName, LastName string
	DOB                 civil.Date
	Gender              string
	Address             Address
}

// Report is the current version of the results.
type Report struct {
	// Status is partial, final or corrected.
	Status   string
	Issued   time.Time
	Specimen Specimen
	// Specimens are further specimens, which results name.
	Specimens []Specimen
	Results   []Result
	Missing   []MissingResult
	// Laboratories performed tests, beside the order's own.
	Laboratories []Organization
	Comments     []string
	// PDF is the lab's own report.
	PDF []byte
}

// Specimen is the sample. Key names a further one in its report; Type is its
// material in words.
type Specimen struct {
	Key, Number, Type   string
	Collected, Received Moment
	Fasting             *bool
	Information         string
}

// Moment is an instant with its written offset, in seconds east of UTC.
// Without an offset the hour is uncertain, and only the day is exported.
type Moment struct {
	Time   time.Time
	Offset *int
}

// ParsedReport is a report that was uploaded as a file and read by the service.
type ParsedReport struct {
	ID     uuid.UUID
	Lab    string // name, as printed
	Report Report
}

// Result is one value.
type Result struct {
	// Key names the result in its report. Empty means its place in the list.
	Key string
	// Code is the lab's own, TestCode the code of the test that it was ordered
	// under.
	Code, TestCode, Name, LOINC string
	// Value is text, such as 91, <5, 10-20 or Not detected. Type is numeric,
	// range, comment or coded_value.
	Value, Type string
	// Unit is as printed; UCUM is the same unit in that system, empty when it
	// is unknown.
	Unit, UCUM string
	// Range is the reference range as printed; Low and High are its bounds
	// when they could be read.
	Range     string
	Low, High *float64
	// Interpretation is normal, abnormal, critical or unknown; Flag is the lab's.
	Interpretation, Flag string
	// Above and Below report that the value is outside its range.
	Above, Below bool
	// Status is a letter of HL7 table 0085: F, P, C …; empty means final, or
	// preliminary in a partial report.
	Status     string
	At         Moment
	Notes      []string
	Laboratory string
	// Specimen is the key of a further specimen; empty for the first.
	Specimen string
}

// MissingResult is a result that will not come.
type MissingResult struct {
	Code, TestCode, Name, LOINC string
	// Reason is a failure type of the reference, such as internal_lab_failure.
	Reason, Note string
	// Specimen is the key of a further specimen; empty for the first.
	Specimen string
	// Withdrawn is the value that the lab reported and then withdrew; nil for none.
	Withdrawn *Result
}
