package orders

import (
	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/people/users"
	"hale/internal/platform/civil"
	"hale/internal/platform/teams"
)

// Document is an order on the wire. T is the shape of the lab test: events
// leave out its lab and markers. A text that the specification names is never
// null: it is empty, or left out, when there is none.
//
// Spec: Order. Reference 1.1, ClientFacingOrder.
type Document[T any] struct {
	ID                 ID                           `json:"id" format:"uuid"`
	TeamID             teams.ID                     `json:"team_id" format:"uuid"`
	UserID             users.ID                     `json:"user_id" format:"uuid"`
	Patient            Null[PatientDocument]        `json:"patient_details"`
	Address            Null[PatientAddressDocument] `json:"patient_address"`
	LabTest            T                            `json:"lab_test"`
	Details            DetailsDocument              `json:"details"`
	SampleID           string                       `json:"sample_id"`
	Notes              string                       `json:"notes"`
	ClinicalNotes      *string                      `json:"clinical_notes" nullable:"true"`
	CreatedAt          Instant                      `json:"created_at"`
	UpdatedAt          Instant                      `json:"updated_at"`
	Events             []OrderEventDocument         `json:"events" nullable:"false"`
	Status             Stage                        `json:"status" doc:"First part of the last event's status."`
	LastEvent          OrderEventDocument           `json:"last_event"`
	Physician          Null[PhysicianDocument]      `json:"physician"`
	HealthInsuranceID  NullID                       `json:"health_insurance_id"`
	RequisitionFormURL *string                      `json:"requisition_form_url" nullable:"true"`
	Priority           bool                         `json:"priority"`
	Shipping           Null[ShippingDocument]       `json:"shipping_details"`
	ActivateBy         *civil.Date                  `json:"activate_by" format:"date" nullable:"true"`
	Passthrough        *string                      `json:"passthrough" nullable:"true"`
	BillingType        catalogue.Billing            `json:"billing_type"`
	ICDCodes           []string                     `json:"icd_codes" nullable:"true"`
	HasABN             bool                         `json:"has_abn"`
	Interpretation     *Interpretation              `json:"interpretation" nullable:"true"`
	HasMissingResults  *bool                        `json:"has_missing_results" nullable:"true"`
	ExpectedBy         *civil.Date                  `json:"expected_result_by_date" format:"date" nullable:"true"`
	WorstBy            *civil.Date                  `json:"worst_case_result_by_date" format:"date" nullable:"true"`
	Origin             Origin                       `json:"origin"`
	Transaction        TransactionDocument          `json:"order_transaction"`
}

// Subject returns the user whose data the document holds.
func (d Document[T]) Subject() uuid.UUID { return d.UserID.UUID() }

// PatientDocument is a patient on the wire.
type PatientDocument struct {
	FirstName         *string                 `json:"first_name" nullable:"true"`
	LastName          *string                 `json:"last_name" nullable:"true"`
	BirthDate         civil.Date              `json:"dob" format:"date"`
	Gender            string                  `json:"gender"`
	PhoneNumber       *string                 `json:"phone_number" nullable:"true"`
	Email             *string                 `json:"email" nullable:"true"`
	MedicalProxy      Null[GuarantorDocument] `json:"medical_proxy"`
	Race              *string                 `json:"race" nullable:"true"`
	Ethnicity         *string                 `json:"ethnicity" nullable:"true"`
	SexualOrientation *string                 `json:"sexual_orientation" nullable:"true"`
	GenderIdentity    *string                 `json:"gender_identity" nullable:"true"`
}

// GuarantorDocument is a medical proxy on the wire.
type GuarantorDocument struct {
	FirstName       string                   `json:"first_name"`
	LastName        string                   `json:"last_name"`
	Address         GuarantorAddressDocument `json:"address"`
	PhoneNumber     string                   `json:"phone_number"`
	HouseholdIncome *int64                   `json:"household_income,omitempty"`
	HouseholdSize   *int64                   `json:"household_size,omitempty"`
	Email           string                   `json:"email,omitempty"`
}

// GuarantorAddressDocument is where a medical proxy lives.
type GuarantorAddressDocument struct {
	FirstLine   string `json:"first_line"`
	SecondLine  string `json:"second_line"`
	Country     string `json:"country"`
	Zip         string `json:"zip"`
	City        string `json:"city"`
	State       string `json:"state"`
	AccessNotes string `json:"access_notes,omitempty"`
}

// PatientAddressDocument is a patient's address on the wire.
type PatientAddressDocument struct {
	Receiver    string `json:"receiver_name"`
	FirstLine   string `json:"first_line"`
	SecondLine  string `json:"second_line"`
	City        string `json:"city"`
	State       string `json:"state"`
	Zip         string `json:"zip"`
	Country     string `json:"country"`
	AccessNotes string `json:"access_notes,omitempty"`
	PhoneNumber string `json:"phone_number"`
}

// ShippingDocument is where a kit goes.
type ShippingDocument struct {
	Receiver    string `json:"receiver_name"`
	FirstLine   string `json:"first_line"`
	SecondLine  string `json:"second_line"`
	City        string `json:"city"`
	State       string `json:"state"`
	Zip         string `json:"zip"`
	Country     string `json:"country"`
	PhoneNumber string `json:"phone_number"`
}

// PhysicianDocument is who ordered.
type PhysicianDocument struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	NPI       string `json:"npi"`
}

// DetailsDocument is what only one method has. Shipment is there for test kits,
// AppointmentID for the two methods with appointments.
type DetailsDocument struct {
	Type Method              `json:"type"`
	Data DetailsDataDocument `json:"data"`
}

// DetailsDataDocument is the data of DetailsDocument.
type DetailsDataDocument struct {
	ID            uuid.UUID               `json:"id" format:"uuid"`
	Shipment      *Null[ShipmentDocument] `json:"shipment,omitempty"`
	AppointmentID *NullID                 `json:"appointment_id,omitempty" nullable:"true"`
	CreatedAt     Instant                 `json:"created_at"`
	UpdatedAt     Instant                 `json:"updated_at"`
}

// ShipmentDocument is a kit on its ways.
type ShipmentDocument struct {
	ID                     uuid.UUID `json:"id" format:"uuid"`
	OutboundTrackingNumber string    `json:"outbound_tracking_number"`
	OutboundTrackingURL    string    `json:"outbound_tracking_url"`
	InboundTrackingNumber  string    `json:"inbound_tracking_number"`
	InboundTrackingURL     string    `json:"inbound_tracking_url"`
	OutboundCourier        string    `json:"outbound_courier"`
	InboundCourier         string    `json:"inbound_courier"`
	Notes                  string    `json:"notes"`
	CreatedAt              Instant   `json:"created_at"`
	UpdatedAt              Instant   `json:"updated_at"`
}

// OrderEventDocument is one row of an order's history.
type OrderEventDocument struct {
	ID        int64   `json:"id"`
	CreatedAt Instant `json:"created_at"`
	Status    string  `json:"status" doc:"<status>.<method>.<low-level status>"`
	Detail    *Detail `json:"status_detail" nullable:"true"`
}

// TransactionDocument is a transaction inside an order.
type TransactionDocument struct {
	ID     TransactionID     `json:"id" format:"uuid"`
	Status TransactionStatus `json:"status"`
	Orders []MemberDocument  `json:"orders" nullable:"false"`
}

// MemberDocument is an order inside its transaction.
type MemberDocument struct {
	ID        ID      `json:"id" format:"uuid"`
	Status    Status  `json:"low_level_status"`
	StatusAt  Precise `json:"low_level_status_created_at"`
	Origin    Origin  `json:"origin"`
	Parent    NullID  `json:"parent_id"`
	CreatedAt Precise `json:"created_at"`
	UpdatedAt Precise `json:"updated_at"`
}

// LabTestDocument is a lab test in an event: without its lab and markers.
type LabTestDocument struct {
	ID              catalogue.TestID     `json:"id"`
	Slug            string               `json:"slug"`
	Name            string               `json:"name"`
	Description     string               `json:"description"`
	SampleType      catalogue.SampleType `json:"sample_type"`
	Method          Method               `json:"method"`
	Price           float64              `json:"price"`
	IsActive        bool                 `json:"is_active"`
	Status          catalogue.TestStatus `json:"status"`
	Fasting         bool                 `json:"fasting"`
	Lab             *struct{}            `json:"lab"`
	Markers         *struct{}            `json:"markers"`
	IsDelegated     bool                 `json:"is_delegated"`
	AutoGenerated   bool                 `json:"auto_generated"`
	HasInstructions bool                 `json:"has_collection_instructions"`
	CommonTAT       *int                 `json:"common_tat_days"`
	WorstTAT        *int                 `json:"worst_case_tat_days"`
}
