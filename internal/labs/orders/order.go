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

// Origin says why an order was made.
type Origin string

// The origins. A redraw takes over markers that a lab could not measure; a
// recreation replaces an order that went wrong.
const (
	Initial    Origin = "initial"
	RedrawOf   Origin = "redraw"
	Recreation Origin = "recreation"
)

// Interpretation sums up results.
type Interpretation string

// The interpretations.
const (
	Normal   Interpretation = "normal"
	Abnormal Interpretation = "abnormal"
	Critical Interpretation = "critical"
	Unknown  Interpretation = "unknown"
)

// Interpretations lists them all.
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
	Network     string // slug of who it is placed with
	Method      Method
	Registrable bool

	Status    Status
	StatusAt  time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
	// ActivateBy is the day before which nothing is done, in the sense of Today.
	ActivateBy *civil.Date
	Scheduled  bool // it had an ActivateBy when it was created

	SampleID    string // empty before there is one
	Priority    bool
	Billing     catalogue.Billing
	Insurance   *uuid.UUID
	HasABN      bool
	SMSEnabled  bool
	Details     uuid.UUID
	Appointment *uuid.UUID
	CollectedAt *time.Time

	Interpretation Interpretation // empty before there are results
	IsCritical     bool
	HasMissing     *bool
	ExpectedBy     *civil.Date
	WorstBy        *civil.Date

	Body     Body
	Shipment *Shipment

	rev int64 // counts changes
}

// LogValue names the order and nothing else.
func (o Order) LogValue() slog.Value { return slog.StringValue(o.ID.String()) }

// Course is the way the order goes.
func (o *Order) Course() Course { return CourseOf(o.Method, o.Registrable) }

// Full is the event string of the order's status.
func (o *Order) Full() string { return o.Status.Full(o.Method) }

// Body is what is personal of an order, kept sealed as JSON.
type Body struct {
	Patient       *Patient             `json:"patient,omitempty"` // nil for a kit that is not registered
	Address       *Address             `json:"address,omitempty"`
	Shipping      *Address             `json:"shipping,omitempty"` // where a registrable kit goes
	Physician     *catalogue.Physician `json:"physician,omitempty"`
	ClinicalNotes string               `json:"clinical_notes,omitempty"`
	Notes         string               `json:"notes,omitempty"` // operators'
	Passthrough   *string              `json:"passthrough,omitempty"`
	ICDCodes      []string             `json:"icd_codes,omitempty"`
	Answers       []Answer             `json:"aoe_answers,omitempty"`
	Consents      []Consent            `json:"consents,omitempty"`
	Creator       *uuid.UUID           `json:"creator_member_id,omitempty"`
}

// LogValue keeps a person out of logs.
func (Body) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Patient is the person a sample is from, as known when the order was made.
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

// LogValue keeps a person out of logs.
func (Patient) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Name is the patient's full name.
func (p Patient) Name() string { return p.FirstName + " " + p.LastName }

// Age is in whole years on a day.
func (p Patient) Age(on civil.Date) int {
	age := on.Year - p.BirthDate.Year
	if on.Month < p.BirthDate.Month || on.Month == p.BirthDate.Month && on.Day < p.BirthDate.Day {
		age--
	}
	return age
}

// Address is where a patient lives or a kit goes.
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

// Shipment is a kit on its ways.
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

// Leg is one way of a shipment.
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

// TransactionStatus sums up the orders of a transaction.
type TransactionStatus string

// The transaction statuses.
const (
	TransactionActive    TransactionStatus = "active"
	TransactionCompleted TransactionStatus = "completed"
	TransactionCancelled TransactionStatus = "cancelled"
)

// Transaction is a need for a test and the orders made for it, oldest first.
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

// Member is an order as its transaction shows it.
type Member struct {
	ID        ID
	Parent    *ID
	Origin    Origin
	Method    Method
	Status    Status
	StatusAt  time.Time
	CreatedAt time.Time
	UpdatedAt time.Time
}
