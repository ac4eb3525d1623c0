package orders

import (
	"log/slog"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/ids"
	"hale/internal/platform/secrets"
	"hale/internal/platform/teams"
)

// ID identifies an order; it is the placer order number that labs repeat.
type ID = ids.ID[Order]

// TransactionID identifies a transaction.
type TransactionID = ids.ID[Transaction]

// Origin is the reason for creating an order.
type Origin string

// The origins. A redraw repeats the markers that a lab could not measure; a
// recreation replaces a wrong order.
const (
	Initial    Origin = "initial"
	RedrawOf   Origin = "redraw"
	Recreation Origin = "recreation"
)

// Interpretation summarizes results.
type Interpretation string

// The interpretations.
const (
	Normal   Interpretation = "normal"
	Abnormal Interpretation = "abnormal"
	Critical Interpretation = "critical"
	Unknown  Interpretation = "unknown"
)

// Interpretations lists all interpretations.
var Interpretations = []Interpretation{Normal, Abnormal, Critical, Unknown}

// Order is one order.
//
// Spec: Order.
type Order struct {
	ID          ID
	Team        teams.ID
	User        users.ID
	Transaction TransactionID
	Parent      *ID
	Origin      Origin

	Lab         catalogue.LabID
	LabTest     catalogue.TestID
	Account     catalogue.AccountID
	Network     string // slug of the network that it is placed with
	Method      Method
	Registrable bool

	Status    Status
	StatusAt  time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
	// ActivateBy is the day before which the order is not placed, in the sense
	// of Today.
	ActivateBy *civil.Date
	Scheduled  bool // it was created with an ActivateBy

	SampleID    string // empty until assigned
	Priority    bool
	Billing     catalogue.Billing
	Insurance   *uuid.UUID
	HasABN      bool
	SMSEnabled  bool
	Details     uuid.UUID
	Appointment *uuid.UUID
	CollectedAt *time.Time

	Interpretation Interpretation // empty until there are results
	IsCritical     bool
	HasMissing     *bool
	ExpectedBy     *civil.Date
	WorstBy        *civil.Date

	Body     Body
	Shipment *Shipment

	// LinkGeneration counts the revocations of links to the requisition. A link
	// works while it names the current number.
	LinkGeneration int64

	rev int64 // counts changes
}

// LogValue logs only the id of the order.
func (o Order) LogValue() slog.Value { return slog.StringValue(o.ID.String()) }

// Course returns the course of the order.
func (o *Order) Course() Course { return CourseOf(o.Method, o.Registrable) }

// Full returns the event string of the order's status.
func (o *Order) Full() string { return o.Status.Full(o.Method) }

// Body holds the personal data of an order, stored as sealed JSON.
type Body struct {
	Patient       *Patient             `json:"patient,omitempty"` // nil for a kit that is not registered
	Address       *Address             `json:"address,omitempty"`
	Shipping      *Address             `json:"shipping,omitempty"` // destination of a registrable kit
	Physician     *catalogue.Physician `json:"physician,omitempty"`
	ClinicalNotes string               `json:"clinical_notes,omitempty"`
	Notes         string               `json:"notes,omitempty"` // notes of operators
	Passthrough   *string              `json:"passthrough,omitempty"`
	ICDCodes      []string             `json:"icd_codes,omitempty"`
	Answers       []Answer             `json:"aoe_answers,omitempty"`
	Consents      []Consent            `json:"consents,omitempty"`
	Creator       *uuid.UUID           `json:"creator_member_id,omitempty"`
}

// LogValue keeps personal data out of logs.
func (Body) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Patient is the person whose sample is tested, as known when the order was
// created.
//
// Reference 1.1, ClientFacingPatientDetailsCompatible.
type Patient struct {
	FirstName         string            `json:"first_name"`
	LastName          string            `json:"last_name"`
	BirthDate         civil.Date        `json:"dob"`
	Gender            string            `json:"gender"`       // female, male, other, unknown
	PhoneNumber       string            `json:"phone_number"` // E.164
	Email             string            `json:"email"`
	MedicalProxy      *person.Guarantor `json:"medical_proxy,omitempty"`
	Race              string            `json:"race,omitempty"`
	Ethnicity         string            `json:"ethnicity,omitempty"`
	SexualOrientation string            `json:"sexual_orientation,omitempty"`
	GenderIdentity    string            `json:"gender_identity,omitempty"`
	HouseholdIncome   *int64            `json:"household_income,omitempty"` // US dollars a year
	HouseholdSize     *int64            `json:"household_size,omitempty"`
}

// LogValue keeps personal data out of logs.
func (Patient) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Name returns the patient's full name.
func (p Patient) Name() string { return p.FirstName + " " + p.LastName }

// Age returns the age on a day, in whole years.
func (p Patient) Age(on civil.Date) int {
	age := on.Year - p.BirthDate.Year
	if on.Month < p.BirthDate.Month || on.Month == p.BirthDate.Month && on.Day < p.BirthDate.Day {
		age--
	}
	return age
}

// Address is the address of a patient or of a kit.
type Address struct {
	person.Address
	Receiver    string `json:"receiver_name"`
	PhoneNumber string `json:"phone_number,omitempty"`
}

// Answer answers a question of a marker.
//
// Reference 1.9, AoEAnswer.
type Answer struct {
	MarkerID   catalogue.MarkerID `json:"marker_id"`
	QuestionID int64              `json:"question_id"`
	Answer     string             `json:"answer"`
}

// Consent is a patient's agreement.
type Consent struct {
	Type    string     `json:"consentType"`
	Version string     `json:"version"`
	At      *time.Time `json:"timeOfConsent,omitempty"`
}

// Consents are the types of consent. Reference 1.9.
var Consents = []string{
	"terms-of-use", "telehealth-informed-consent", "mobile-terms-and-conditions",
	"notice-of-privacy-practices", "privacy-policy", "hipaa-authorization",
}

// Shipment holds both shipments of a kit.
//
// Reference 1.1, ClientFacingShipment.
type Shipment struct {
	ID        uuid.UUID `json:"id"`
	Outbound  Leg       `json:"outbound"`
	Inbound   Leg       `json:"inbound"`
	Notes     string    `json:"notes,omitempty"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Leg is the shipment of a kit in one direction.
type Leg struct {
	Courier        string `json:"courier,omitempty"`
	TrackingNumber string `json:"tracking_number,omitempty"`
	TrackingURL    string `json:"tracking_url,omitempty"`
}

// Event is one row of an order's history.
type Event struct {
	ID        int64
	Status    Status
	Detail    Detail
	CreatedAt time.Time
}

// TransactionStatus summarizes the orders of a transaction.
type TransactionStatus string

// The transaction statuses.
const (
	TransactionActive    TransactionStatus = "active"
	TransactionCompleted TransactionStatus = "completed"
	TransactionCancelled TransactionStatus = "cancelled"
)

// Transaction holds the orders for one need for a test, oldest first.
//
// Reference 1.7.
type Transaction struct {
	ID        TransactionID
	Team      teams.ID
	Status    TransactionStatus
	CreatedAt time.Time
	UpdatedAt time.Time
	Members   []Member
}

// Member is an order as shown in its transaction.
type Member struct {
	ID        ID
	User      users.ID
	Parent    *ID
	Origin    Origin
	Method    Method
	Status    Status
	StatusAt  time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
}
