package appointments

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/people/users"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Document is an appointment on the wire, in answers and in events.
//
// Reference 2.5, ClientFacingAppointment.
type Document struct {
	ID          ID                   `json:"id" format:"uuid"`
	UserID      users.ID             `json:"user_id" format:"uuid"`
	OrderID     orders.ID            `json:"order_id" format:"uuid"`
	Transaction orders.TransactionID `json:"order_transaction_id" format:"uuid"`
	Address     AddressDocument      `json:"address"`
	Location    PointDocument        `json:"location"`
	Start       *orders.Instant      `json:"start_at" nullable:"true" doc:"Start of the appointment. It is null while there is no time."`
	End         *orders.Instant      `json:"end_at" nullable:"true"`
	TimeZone    *string              `json:"iana_timezone" nullable:"true" doc:"IANA time zone of the place."`
	Kind        Kind                 `json:"type" doc:"phlebotomy, patient_service_center. The list may grow."`
	Provider    string               `json:"provider" doc:"getlabs, phlebfinders, quest, sonora_quest. The list may grow."`
	Status      string               `json:"status" doc:"pending, reserved, confirmed, in_progress, completed, cancelled. The list may grow."`
	ProviderID  string               `json:"provider_id" doc:"The provider's own id of the appointment. It is empty before the provider answers."`
	ExternalID  *string              `json:"external_id" nullable:"true" doc:"The number to tell the patient."`
	Reschedules bool                 `json:"can_reschedule" doc:"Whether the appointment can be moved. If false, cancel it and book again."`
	Notes       *string              `json:"appointment_notes" nullable:"true"`
	EventStatus Status               `json:"event_status" doc:"pending, reserved, scheduled, in_progress, completed, cancelled. The list may grow."`
	EventData   DataDocument         `json:"event_data"`
	Events      []EventDocument      `json:"events" nullable:"false"`
	Warnings    []WarningDocument    `json:"warnings,omitempty" doc:"Problems that do not block the appointment; absent when there are none."`
}

// WarningDocument is a problem that does not block an appointment.
type WarningDocument struct {
	Code string   `json:"code" doc:"Code for programs: visit_far_from_patient. The list may grow."`
	Loc  []string `json:"loc"`
	Msg  string   `json:"msg"`
}

// AddressDocument is the address of a visit on the wire.
type AddressDocument struct {
	FirstLine   string  `json:"first_line"`
	SecondLine  *string `json:"second_line" nullable:"true"`
	City        string  `json:"city"`
	State       string  `json:"state"`
	Zip         string  `json:"zip_code"`
	Unit        *string `json:"unit" nullable:"true" deprecated:"true" doc:"Always null; see second_line."`
	AccessNotes *string `json:"access_notes" nullable:"true"`
}

// PointDocument is a point on the wire.
type PointDocument struct {
	Lng float64 `json:"lng"`
	Lat float64 `json:"lat"`
}

// EventDocument is one row of an appointment's history.
type EventDocument struct {
	CreatedAt orders.Instant `json:"created_at"`
	Status    Status         `json:"status"`
	Data      DataDocument   `json:"data"`
}

// DataDocument is an object with more facts about an event, or null.
type DataDocument map[string]any

// AddressDocumentOf returns the wire form of an address.
func AddressDocumentOf(a Address) AddressDocument {
	return AddressDocument{
		FirstLine: a.FirstLine, SecondLine: nullableText(a.SecondLine), City: a.City, State: a.State, Zip: a.Zip, AccessNotes: nullableText(a.AccessNotes),
	}
}

func nullableText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func instant(t *time.Time) *orders.Instant {
	if t == nil {
		return nil
	}
	i := orders.Instant(*t)
	return &i
}

// DocumentOf returns the wire form of an appointment.
func DocumentOf(a *Appointment, o *orders.Order, history []Event) Document {
	d := Document{
		ID: a.ID, UserID: a.User, OrderID: a.Order, Transaction: o.Transaction, Address: AddressDocumentOf(a.Body.Address),
		Location: PointDocument{Lng: a.Body.Place.Lng, Lat: a.Body.Place.Lat}, Start: instant(a.Start), End: instant(a.End),
		TimeZone: nullableText(a.TimeZone), Kind: a.Kind, Provider: a.Provider, Status: a.Status.Word(), ProviderID: a.Body.Booking.ID,
		ExternalID: nullableText(a.Body.Booking.ExternalID), Reschedules: a.CanReschedule(), Notes: nullableText(a.Body.Notes), EventStatus: a.Status,
		Events: make([]EventDocument, len(history)),
	}
	for i, e := range history {
		d.Events[i] = EventDocument{CreatedAt: orders.Instant(e.CreatedAt), Status: e.Status, Data: e.Data}
		d.EventData = e.Data
	}
	if miles := milesFromPatient(a, o); a.Kind == Phlebotomy && miles > farMiles {
		d.Warnings = []WarningDocument{{"visit_far_from_patient", []string{"address", "zip_code"}, fmt.Sprintf("The visit is about %.0f miles from the address of the order", miles)}}
	}
	return d
}

// farMiles is the distance between the ZIP codes of a visit and of its order
// above which one of them is probably wrong.
const farMiles = 50

// milesFromPatient returns the distance from the visit to the address of the
// order; 0 if it is unknown.
func milesFromPatient(a *Appointment, o *orders.Order) float64 {
	if o.Body.Address == nil || a.Body.Place == (places.Point{}) {
		return 0
	}
	home, known := places.Zip(o.Body.Address.Zip)
	if !known || !home.Located {
		return 0
	}
	return home.Miles(a.Body.Place)
}

func document(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) (Document, error) {
	history, err := History(ctx, tx, a)
	return DocumentOf(a, o, history), err
}

// The types of appointment events.
//
// Reference 8.1.
const (
	CreatedEvent = "labtest.appointment.created"
	UpdatedEvent = "labtest.appointment.updated"
)

// announce emits the event of a move: the whole appointment as it is now.
// Events about a deleted user are sent until the grace period ends.
func announce(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, first bool) error {
	name, err := users.ClientUserID(ctx, tx, a.Team, a.User)
	if fault.Is(err, fault.NotFound) {
		return nil // the grace period is over: the user is being erased
	}
	if err != nil {
		return err
	}
	doc, err := document(ctx, tx, a, o)
	if err != nil {
		return err
	}
	data, err := json.Marshal(doc)
	if err != nil {
		return fmt.Errorf("appointments: marshalling an event: %w", err)
	}
	kind := UpdatedEvent
	if first {
		kind = CreatedEvent
	}
	_, err = events.Emit(ctx, tx, events.New{Team: a.Team.UUID(), User: a.User.UUID(), ClientUserID: name, Type: kind, Data: data})
	return err
}

// EventTypes returns the types of events that this package emits.
func EventTypes() []events.Type {
	example := func(status Status) func(user uuid.UUID) json.RawMessage {
		return func(user uuid.UUID) json.RawMessage {
			doc, err := json.Marshal(exampleOf(users.ID(user), status))
			if err != nil {
				panic(err) // plain structs
			}
			return doc
		}
	}
	return []events.Type{
		{Name: CreatedEvent, Sentence: "An appointment was made.", Example: example(Pending)},
		{Name: UpdatedEvent, Sentence: "An appointment changed.", Example: example(Scheduled)},
	}
}

// exampleOf returns an invented appointment for the documentation of events.
func exampleOf(user users.ID, status Status) Document {
	id := func(n byte) uuid.UUID {
		u := uuid.MustParse("00000000-0000-4000-8000-000000000000")
		u[15] = n
		return u
	}
	at := time.Date(2026, 3, 5, 8, 0, 0, 0, time.UTC)
	start, end := at.Add(49*time.Hour), at.Add(49*time.Hour+20*time.Minute)
	a := Appointment{
		ID: ID(id(4)), User: user, Order: orders.ID(id(5)), Kind: AtCenter, Provider: "quest", Status: status,
		Start: &start, End: &end, TimeZone: "America/New_York",
		Body: Body{
			Address: Address{FirstLine: "1 Example Street", City: "Newark", State: "NJ", Zip: "07102"}, Place: places.Point{Lat: 40.74, Lng: -74.17},
			Booking: networks.Booking{ID: "B-1", ExternalID: "100001"},
		},
	}
	history := []Event{{Status: Pending, CreatedAt: at}}
	if status != Pending {
		history = append(history, Event{Status: status, CreatedAt: at})
	}
	return DocumentOf(&a, &orders.Order{Transaction: orders.TransactionID(id(7))}, history)
}
