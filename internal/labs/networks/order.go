package networks

import (
	"cmp"
	"time"

	"github.com/google/uuid"

	"hale/internal/platform/civil"
)

// Order is an order as a lab needs it: complete, checked, and with the lab's
// own codes.
type Order struct {
	// ID is the placer order number. Placing one ID twice places one order.
	ID          uuid.UUID
	Transaction uuid.UUID
	Team        uuid.UUID
	// Sandbox orders must never reach a real lab.
	Sandbox bool
	// Lab is the slug of the lab that tests the sample.
	Lab     string
	Account Account
	// Method is a collection method of the specification.
	Method string
	// SampleID is set when the kit or the import has one; otherwise the
	// network assigns it.
	SampleID  string
	Priority  bool
	Patient   Patient
	Physician Physician
	Practice  Practice
	Tests     []Test
	Answers   []Answer
	Billing   string
	ICDCodes  []string
	Insurance *Insurance
	// Notice means that the patient must be informed that the insurance may
	// not pay: a test lacks a diagnosis that supports it.
	Notice bool
	// Notes are the clinical notes, at most 1,000 characters, and the
	// account's own notes after a line break.
	Notes    string
	Fasting  bool
	PlacedAt time.Time
	// ShipTo is the address for a kit; nil for other methods.
	ShipTo *Address
}

// Account is the customer number that a lab bills and answers to.
type Account struct {
	Number, Name string
}

// Practice is the clinic that orders. Zero fields are not known.
type Practice struct {
	Name    string
	Address Address
	// Phone, Fax and AfterHours are telephone numbers. AfterHours is for critical
	// results when the clinic is closed.
	Phone, Fax, AfterHours string
}

// Callback returns the number that a laboratory calls about a result.
func (p Practice) Callback() string { return cmp.Or(p.AfterHours, p.Phone) }

// Patient is the person of a sample. Personal: never log it.
type Patient struct {
	// ID is the user id, the lab's external patient number.
	ID                  uuid.UUID
	FirstName, LastName string
	DOB                 civil.Date
	// Gender is female, male, other or unknown.
	Gender       string
	Phone, Email string
	Address      Address
	Race         string
	Ethnicity    string
}

// Address is an address in the United States.
type Address struct {
	Receiver                  string
	FirstLine, SecondLine     string
	City, State, Zip, Country string
	Phone                     string
	AccessNotes               string
}

// Physician signs the order.
type Physician struct {
	FirstName, LastName, NPI string
}

// Test is one marker of the order under the lab's own code, with the results
// that it requires.
type Test struct {
	MarkerID   int64
	ProviderID string
	Name, Slug string
	LOINC      string // of the test itself, such as a panel; empty when the lab never mapped it
	Specimen   SpecimenNeeded
	Expected   []ExpectedResult
}

// SpecimenNeeded is the specimen that a test needs.
type SpecimenNeeded struct {
	// Name is the material in words. SNOMED and HL7 are its codes of SNOMED CT and
	// of HL7 table 0487, with their names; empty without one.
	Name, SNOMED, SNOMEDName, HL7, HL7Name string
	// Container, MinVolume, Temperature, Stability and Notes describe the
	// collection, as far as the lab's list has them.
	Container, MinVolume, Temperature, Stability, Notes string
}

// ExpectedResult is one result that a test must have.
type ExpectedResult struct {
	ProviderID string
	Name, Slug string
	// LOINC is the code, LOINCSlug and Unit (UCUM) belong to it; empty when
	// the lab never mapped it.
	LOINC, LOINCSlug, Unit string
	Required               bool
}

// Answer answers a question that the lab asks at order entry.
type Answer struct {
	MarkerID                       int64
	ProviderID                     string
	QuestionCode, Question, Answer string
}

// Insurance is the payor that the lab bills.
type Insurance struct {
	PayorCode, Company string // the code is the lab's own, if it has one
	CompanyAddress     Address
	MemberID, GroupID  string
	// Relationship is Self, Spouse or Other.
	Relationship string
	Insured      Patient
	Guarantor    *Patient
}
