package appointments

import (
	"log/slog"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/secrets"
	"hale/internal/platform/teams"
)

// ID identifies an appointment.
type ID = ids.Of[Appointment]

// Appointment is one visit.
//
// Reference 2.5.
type Appointment struct {
	ID       ID
	Team     teams.ID
	User     users.ID
	Order    orders.ID
	Kind     Kind
	Provider string // slug of who draws the sample
	Network  string // slug of who it is booked with
	Status   Status
	// Start and End are nil while there is no time.
	Start, End *time.Time
	TimeZone   string // IANA name, of the place
	ReasonID   *uuid.UUID
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Body       Body

	rev int64 // counts changes
}

// LogValue names the appointment and nothing else.
func (a Appointment) LogValue() slog.Value { return slog.StringValue(a.ID.String()) }

// CanReschedule reports whether another time may be booked in place of this
// one. When not, it must be cancelled and booked anew.
func (a *Appointment) CanReschedule() bool {
	p := providers[a.Provider]
	return a.Status == Scheduled && !p.confirmsLater && p.tier != places.AppointmentRequest
}

// Body is what is personal of an appointment, and what is to be asked of its
// network; kept sealed as JSON.
type Body struct {
	Address  Address          `json:"address"`
	Place    places.Point     `json:"place"` // of the site, or the middle of the ZIP code
	Site     string           `json:"site,omitempty"`
	Notes    string           `json:"notes,omitempty"`
	Canceled string           `json:"canceled,omitempty"` // what was said about the reason
	Booking  networks.Booking `json:"booking"`            // zero before there is one
	// Confirmed is set when a provider that confirms later has done so.
	Confirmed bool `json:"confirmed,omitempty"`
	// Call is what is asked of the network now, and Release what is to be given back.
	Call    *Call              `json:"call,omitempty"`
	Release []networks.Booking `json:"release,omitempty"`
	// Early is what the network said before the answer to our call was written.
	Early *networks.Visit `json:"early,omitempty"`
}

// LogValue keeps a person out of logs.
func (Body) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Address is where a visit takes place.
//
// Reference 2.3, USAddress.
type Address struct {
	FirstLine   string `json:"first_line"`
	SecondLine  string `json:"second_line,omitempty"`
	City        string `json:"city"`
	State       string `json:"state"`
	Zip         string `json:"zip_code"` // 5 digits, or 5 and 4
	AccessNotes string `json:"access_notes,omitempty"`
}

// LogValue keeps an address out of logs.
func (Address) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Verb is what a network can be asked for.
type Verb string

// The verbs: a first slot, another slot, or a visit at a time to be agreed.
const (
	TakeSlot   Verb = "take"
	ChangeSlot Verb = "change"
	AskVisit   Verb = "ask"
)

// Call is something asked of a network whose answer is not written yet.
type Call struct {
	ID   uuid.UUID     `json:"id"`
	Verb Verb          `json:"verb"`
	Slot networks.Slot `json:"slot"`
	// Notes and To replace those of the appointment when the call succeeds.
	Notes *string      `json:"notes,omitempty"`
	To    *Destination `json:"to,omitempty"`
	// Until is how long the caller that began it waits; the job keeps away
	// until then. Deadline is when the job gives up.
	Until    time.Time `json:"until"`
	Deadline time.Time `json:"deadline"`
	// Async calls show the appointment as pending while they last.
	Async bool `json:"async,omitempty"`
	// Abandoned calls are wanted no more: whatever they booked is given back.
	Abandoned bool `json:"abandoned,omitempty"`
}

// Destination is the place of another slot.
type Destination struct {
	Address Address      `json:"address"`
	Place   places.Point `json:"place"`
	Site    string       `json:"site,omitempty"`
}

// Event is one row of an appointment's history.
type Event struct {
	Status    Status
	Data      map[string]any
	CreatedAt time.Time
}

// idle reports that nothing is to be asked of the network.
func (a *Appointment) idle() bool { return a.Body.Call == nil && len(a.Body.Release) == 0 }

// release gives the booking back, when there is one.
func (a *Appointment) release(b networks.Booking) {
	if b.ID != "" {
		a.Body.Release = append(a.Body.Release, b)
	}
}

// abandon gives back what is booked, and what is being booked.
func (a *Appointment) abandon() {
	a.release(a.Body.Booking)
	if a.Body.Call != nil {
		a.Body.Call.Abandoned = true
	}
}
