package orders

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/people/users"
	"hale/internal/people/users/person"
	"hale/internal/platform/civil"
	"hale/internal/platform/teams"
)

// Document is an order on the wire. T is the type of the lab test: events omit
// its lab and markers. A text field of the specification is never null: without
// a value it is empty or omitted.
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

	linkGeneration int64 // of RequisitionFormURL
}

// Subject returns the user whose data the document contains.
func (d Document[T]) Subject() uuid.UUID { return d.UserID.UUID() }

// Version returns the document without the token of its link, which differs between
// answers. The generation of the link counts: after a revocation, a caller that asks
// with If-None-Match gets a new link.
func (d Document[T]) Version() any {
	if d.RequisitionFormURL != nil {
		var generation string
		if d.linkGeneration > 0 {
			generation = strconv.FormatInt(d.linkGeneration, 10)
		}
		d.RequisitionFormURL = &generation
	}
	return d
}

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

// GuarantorAddressDocument is the address of a medical proxy.
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

// ShippingDocument is the address for a kit.
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

// PhysicianDocument is the ordering physician.
type PhysicianDocument struct {
	FirstName string `json:"first_name"`
	LastName  string `json:"last_name"`
	NPI       string `json:"npi"`
}

// DetailsDocument holds fields that depend on the method: Shipment for test
// kits, AppointmentID for the two methods with appointments.
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

// ShipmentDocument holds both shipments of a kit.
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
	Status    string  `json:"status" doc:"Status such as collecting_sample.testkit.delivered: status, method and low-level status."`
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
	StatusAt  Instant `json:"low_level_status_created_at"`
	Origin    Origin  `json:"origin"`
	Parent    NullID  `json:"parent_id"`
	CreatedAt Instant `json:"created_at"`
	UpdatedAt Instant `json:"updated_at"`
}

// LabTestDocument is a lab test in an event, without its lab and markers.
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

// DocumentOf returns an order for the wire. now is the creation time of the
// links in it.
func DocumentOf[T any](o *Order, f Facts, test T, now time.Time) Document[T] {
	d := Document[T]{
		ID: o.ID, TeamID: o.Team, UserID: o.User, LabTest: test, Details: detailsOf(o),
		SampleID: o.SampleID, Notes: o.Body.Notes, ClinicalNotes: optionalText(o.Body.ClinicalNotes),
		CreatedAt: Instant(o.CreatedAt), UpdatedAt: Instant(o.UpdatedAt), Events: make([]OrderEventDocument, len(f.Events)),
		Status: o.Status.Stage(o.Method), HealthInsuranceID: NullID{o.Insurance}, RequisitionFormURL: f.requisitionLink(o, now),
		Priority: o.Priority, ActivateBy: o.ActivateBy, Passthrough: o.Body.Passthrough, BillingType: o.Billing,
		ICDCodes: o.Body.ICDCodes, HasABN: o.HasABN, HasMissingResults: o.HasMissing, ExpectedBy: o.ExpectedBy, WorstBy: o.WorstBy,
		Origin: o.Origin, Transaction: transactionOf(f.Transaction), linkGeneration: o.LinkGeneration,
	}
	for i, e := range f.Events {
		d.Events[i] = OrderEventDocument{ID: e.ID, CreatedAt: Instant(e.CreatedAt), Status: e.Status.Full(o.Method), Detail: optionalText(e.Detail)}
		d.LastEvent = d.Events[i]
	}
	if o.Interpretation != "" {
		d.Interpretation = &o.Interpretation
	}
	if p := o.Body.Patient; p != nil {
		d.Patient.Value = patientOf(*p)
	}
	if a := o.Body.Address; a != nil {
		d.Address.Value = &PatientAddressDocument{
			a.Receiver, a.FirstLine, a.SecondLine, a.City, a.State, a.Zip, a.Country, a.AccessNotes, a.PhoneNumber,
		}
	}
	if a := o.Body.Shipping; a != nil {
		d.Shipping.Value = &ShippingDocument{a.Receiver, a.FirstLine, a.SecondLine, a.City, a.State, a.Zip, a.Country, a.PhoneNumber}
	}
	if p := o.Body.Physician; p != nil {
		d.Physician.Value = &PhysicianDocument{p.FirstName, p.LastName, p.NPI}
	}
	return d
}

// optionalText returns nil for an empty text.
func optionalText[S ~string](s S) *S {
	if s == "" {
		return nil
	}
	return &s
}

func patientOf(p Patient) *PatientDocument {
	d := &PatientDocument{
		FirstName: optionalText(p.FirstName), LastName: optionalText(p.LastName), BirthDate: p.BirthDate, Gender: p.Gender,
		PhoneNumber: optionalText(p.PhoneNumber), Email: optionalText(p.Email), Race: optionalText(p.Race), Ethnicity: optionalText(p.Ethnicity),
		SexualOrientation: optionalText(p.SexualOrientation), GenderIdentity: optionalText(p.GenderIdentity),
	}
	if g := p.MedicalProxy; g != nil {
		d.MedicalProxy.Value = guarantorOf(*g)
	}
	return d
}

func guarantorOf(g person.Guarantor) *GuarantorDocument {
	a := g.Address
	return &GuarantorDocument{
		FirstName: g.FirstName, LastName: g.LastName, PhoneNumber: g.PhoneNumber, Email: g.Email,
		HouseholdIncome: g.HouseholdIncome, HouseholdSize: g.HouseholdSize,
		Address: GuarantorAddressDocument{a.FirstLine, a.SecondLine, a.Country, a.Zip, a.City, a.State, a.AccessNotes},
	}
}

func detailsOf(o *Order) DetailsDocument {
	data := DetailsDataDocument{ID: o.Details, CreatedAt: Instant(o.CreatedAt), UpdatedAt: Instant(o.UpdatedAt)}
	switch o.Method {
	case catalogue.TestKit:
		data.Shipment = &Null[ShipmentDocument]{}
		if s := o.Shipment; s != nil {
			data.Shipment.Value = &ShipmentDocument{
				s.ID, s.Outbound.TrackingNumber, s.Outbound.TrackingURL, s.Inbound.TrackingNumber, s.Inbound.TrackingURL,
				s.Outbound.Courier, s.Inbound.Courier, s.Notes, Instant(s.CreatedAt), Instant(s.UpdatedAt),
			}
		}
	case catalogue.WalkIn, catalogue.AtHome:
		data.AppointmentID = &NullID{o.Appointment}
	case catalogue.OnSite:
	}
	return DetailsDocument{o.Method, data}
}

func transactionOf(t Transaction) TransactionDocument {
	d := TransactionDocument{ID: t.ID, Status: t.Status, Orders: make([]MemberDocument, len(t.Members))}
	for i, m := range t.Members {
		d.Orders[i] = MemberDocument{m.ID, m.Status, Instant(m.StatusAt), m.Origin, NullIDOf(m.Parent), Instant(m.CreatedAt), Instant(m.UpdatedAt)}
	}
	return d
}

// Document returns the transaction for the wire, as in results and orders.
func (t Transaction) Document() TransactionDocument { return transactionOf(t) }

func labTestOf(t catalogue.Test, markers []*catalogue.Marker) LabTestDocument {
	d := LabTestDocument{
		ID: t.ID, Slug: t.Slug, Name: t.Name, Description: t.Description, SampleType: t.SampleType, Method: t.Method,
		Price: float64(t.PriceMinor) / 100, IsActive: t.Status() == catalogue.Active, Status: t.Status(), Fasting: t.Fasting,
		AutoGenerated: t.AutoGenerated, HasInstructions: true,
	}
	d.CommonTAT, d.WorstTAT = catalogue.TAT(markers)
	return d
}

// Null is an object that may be null.
type Null[T any] struct{ Value *T }

// MarshalJSON writes the object or null.
func (n Null[T]) MarshalJSON() ([]byte, error) { return json.Marshal(n.Value) }

// UnmarshalJSON reads the object or null.
func (n *Null[T]) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &n.Value) }

// NullID is an identifier that may be null.
type NullID struct{ Value *uuid.UUID }

// NullIDOf returns an order's identifier, or null.
func NullIDOf(id *ID) NullID {
	if id == nil {
		return NullID{}
	}
	plain := id.UUID()
	return NullID{&plain}
}

// MarshalJSON writes the identifier or null.
func (n NullID) MarshalJSON() ([]byte, error) { return json.Marshal(n.Value) }

// UnmarshalJSON reads the identifier or null.
func (n *NullID) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &n.Value) }

// Instant is an instant in JSON.
type Instant = civil.Instant
