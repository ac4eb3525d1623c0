package appointments

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// ID identifies an appointment.
type ID = ids.ID[Appointment]

// Appointment is one visit.
//
// Reference 2.5.
type Appointment struct {
	ID       ID
	Team     teams.ID
	User     users.ID
	Order    orders.ID
	Kind     Kind
	Provider string // slug of the provider that draws the sample
	Network  string // slug of the network that booked it
	Status   Status
	// Start and End are nil while no time is set.
	Start, End *time.Time
	TimeZone   string // IANA name of the zone at the place
	ReasonID   *uuid.UUID
	CreatedAt  time.Time
	UpdatedAt  time.Time
	Body       Body

	rev int64 // counts changes
}

// LogValue names only the appointment.
func (a Appointment) LogValue() slog.Value { return slog.StringValue(a.ID.String()) }

// CanReschedule reports whether the appointment can be moved to another slot.
// Otherwise it must be cancelled and booked again.
func (a *Appointment) CanReschedule() bool {
	p := providers[a.Provider]
	return a.Status == Scheduled && !p.confirmsLater && p.tier != places.AppointmentRequest
}

// Body holds an appointment's personal fields and its open requests to the
// network; it is stored sealed, as JSON.
type Body struct {
	Address  Address          `json:"address"`
	Place    places.Point     `json:"place"` // of the site, or the center of the ZIP code
	Site     string           `json:"site,omitempty"`
	Notes    string           `json:"notes,omitempty"`
	Canceled string           `json:"canceled,omitempty"` // notes about the reason
	Booking  networks.Booking `json:"booking"`            // zero before there is one
	// Confirmed is set when a provider that confirms later has confirmed.
	Confirmed bool `json:"confirmed,omitempty"`
	// Call is the open request to the network. Release has the bookings to
	// release.
	Call    *Call              `json:"call,omitempty"`
	Release []networks.Booking `json:"release,omitempty"`
	// Early is a report that the network sent before the answer to our call
	// was stored.
	Early *networks.Visit `json:"early,omitempty"`
}

// LogValue keeps a person out of logs.
func (Body) LogValue() slog.Value { return slog.StringValue(secrets.Withheld) }

// Address is the address of a visit.
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

// Verb is a request to a network.
type Verb string

// The verbs: a first slot, another slot, or a visit without a time.
const (
	TakeSlot   Verb = "take"
	ChangeSlot Verb = "change"
	AskVisit   Verb = "ask"
)

// Call is a request to a network whose answer is not stored yet.
type Call struct {
	ID   uuid.UUID     `json:"id"`
	Verb Verb          `json:"verb"`
	Slot networks.Slot `json:"slot"`
	// Notes and To replace those of the appointment when the call succeeds.
	Notes *string      `json:"notes,omitempty"`
	To    *Destination `json:"to,omitempty"`
	// Until is the time until which the caller waits; the job does not run
	// before. Deadline is when the job stops retrying.
	Until    time.Time `json:"until"`
	Deadline time.Time `json:"deadline"`
	// Async calls show the appointment as pending while they last.
	Async bool `json:"async,omitempty"`
	// Abandoned calls are no longer wanted: their booking is released.
	Abandoned bool `json:"abandoned,omitempty"`
}

// Destination is the place of the new slot.
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

// idle reports that no request to the network is open.
func (a *Appointment) idle() bool { return a.Body.Call == nil && len(a.Body.Release) == 0 }

// release marks a booking for release, when there is one.
func (a *Appointment) release(b networks.Booking) {
	if b.ID != "" {
		a.Body.Release = append(a.Body.Release, b)
	}
}

// abandon releases the booking, and the one that the open call may make.
func (a *Appointment) abandon() {
	a.release(a.Body.Booking)
	if a.Body.Call != nil {
		a.Body.Call.Abandoned = true
	}
}

// Kind is the place of the draw.
//
// Reference 2.5, AppointmentType.
type Kind string

// The kinds: at the patient's home, or at a patient service center.
const (
	Phlebotomy Kind = "phlebotomy"
	AtCenter   Kind = "patient_service_center"
)

// Status is the state of an appointment: the event_status of the wire.
//
// Reference 2.5.
type Status string

// The statuses. transitions lists their order.
const (
	// Asked is the status before the network has answered. It is never shown.
	Asked Status = ""
	// Pending means not acknowledged, or without a time.
	Pending Status = "pending"
	// Reserved holds a slot until the order has its requisition.
	Reserved   Status = "reserved"
	Scheduled  Status = "scheduled"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Cancelled  Status = "cancelled"
)

// endStatuses lists the statuses of appointments that have ended.
var endStatuses = []Status{Completed, Cancelled}

// Statuses lists the statuses that are shown.
var Statuses = []Status{Pending, Reserved, Scheduled, InProgress, Completed, Cancelled}

// Word returns the status field of the wire: confirmed for scheduled,
// otherwise the event_status.
func (s Status) Word() string {
	if s == Scheduled {
		return "confirmed"
	}
	return string(s)
}

// Live reports that the appointment has not ended, or is being booked.
func (s Status) Live() bool { return !slices.Contains(endStatuses, s) }

// Transition is a move that an appointment may make.
type Transition struct {
	From, To Status
	// Skips marks a move over steps that were not reported.
	Skips bool
}

// transitions lists all moves. Reference 2.5; the moves that it leaves out are
// marked with Skips. Scheduled to scheduled is a new time.
var transitions = map[Kind][]Transition{
	Phlebotomy: {
		{From: Asked, To: Pending},
		{From: Pending, To: Reserved},
		{From: Pending, To: Scheduled},
		{From: Pending, To: Cancelled},
		{From: Reserved, To: Scheduled},
		{From: Reserved, To: Cancelled},
		{From: Scheduled, To: Scheduled},
		{From: Scheduled, To: InProgress},
		{From: Scheduled, To: Cancelled},
		{From: InProgress, To: Completed},
		{From: InProgress, To: Cancelled},
		{From: Pending, To: InProgress, Skips: true},
		{From: Pending, To: Completed, Skips: true},
		{From: Reserved, To: Completed, Skips: true},
		{From: Scheduled, To: Completed, Skips: true},
	},
	AtCenter: {
		{From: Asked, To: Pending},
		{From: Asked, To: Reserved},
		{From: Pending, To: Reserved},
		{From: Pending, To: Scheduled},
		{From: Pending, To: Cancelled},
		{From: Reserved, To: Scheduled},
		{From: Reserved, To: Cancelled},
		{From: Scheduled, To: Scheduled},
		{From: Scheduled, To: Completed},
		{From: Scheduled, To: Cancelled},
		{From: Pending, To: Completed, Skips: true},
		{From: Reserved, To: Completed, Skips: true},
	},
}

// Allows reports whether an appointment of the kind can move between two statuses.
func (k Kind) Allows(from, to Status) bool {
	for _, a := range transitions[k] {
		if a.From == from && a.To == to {
			return true
		}
	}
	return false
}

// provider holds the facts about a provider of draws.
//
// Reference 2.1.
type provider struct {
	kind Kind
	// tier of phlebotomy; empty for labs with service centers.
	tier places.Tier
	// confirmsLater means that a booking is reserved until the provider
	// confirms it, and cannot be changed through us after that.
	confirmsLater bool
}

// providers are those that the contract names. A network may have other
// phlebotomy providers; for these the tier of the coverage counts.
var providers = map[string]provider{
	"getlabs":      {kind: Phlebotomy, tier: places.AppointmentReady},
	"phlebfinders": {kind: Phlebotomy, tier: places.AppointmentRequest},
	"quest":        {kind: AtCenter},
	sonoraQuest:    {kind: AtCenter, confirmsLater: true},
}

// sonoraQuest works in Arizona only, for teams that asked for it.
const sonoraQuest = "sonora_quest"

// Centers are the labs whose service centers offer appointments.
//
// Reference: AppointmentPSCLabs.
var Centers = []string{"quest", sonoraQuest}

// Providers are all provider names of appointments.
var Providers = []string{"getlabs", "phlebfinders", "quest", sonoraQuest}

// confirmsLater reports that an appointment with the provider cannot be
// changed or cancelled through the API.
func confirmsLater(name string) bool { return providers[name].confirmsLater }

// Reason is a reason for a cancellation.
//
// Reference 2.6.
type Reason struct {
	ID         uuid.UUID `json:"id" format:"uuid"`
	Name       string    `json:"name"`
	Refundable bool      `json:"is_refundable"`
}

// otherReason needs notes.
const otherReason = "Other"

func reason(id, name string) Reason { return Reason{uuid.MustParse(id), name, true} }

// The reference publishes the first eight digits of its ids; the other digits are ours.
var (
	phlebotomyReasons = []Reason{
		reason("5c0257ef-6fea-4c0e-8a4d-5f1c1f1a0001", "Did not fast"),
		reason("448c519c-6fea-4c0e-8a4d-5f1c1f1a0002", "Do not trust company"),
		reason("d378e152-6fea-4c0e-8a4d-5f1c1f1a0003", "Getlabs cannot deliver to my preferred lab"),
		reason("5330c863-6fea-4c0e-8a4d-5f1c1f1a0004", "No longer interested"),
		reason("2b9f23fd-6fea-4c0e-8a4d-5f1c1f1a0005", otherReason),
		reason("98f861dd-6fea-4c0e-8a4d-5f1c1f1a0006", "Provider asked me to cancel"),
		reason("7dfd7da5-6fea-4c0e-8a4d-5f1c1f1a0007", "Scheduled for wrong patient"),
		reason("796da8c8-6fea-4c0e-8a4d-5f1c1f1a0008", "Scheduled time no longer works"),
		reason("ba02af35-6fea-4c0e-8a4d-5f1c1f1a0009", "Unable to get lab order from provider"),
		reason("0c9425db-6fea-4c0e-8a4d-5f1c1f1a000a", "Wanted to book in-person appointment"),
		reason("2599a0ea-6fea-4c0e-8a4d-5f1c1f1a000b", "Went to lab for appointment"),
		reason("e1d60b52-6fea-4c0e-8a4d-5f1c1f1a000c", "Phlebotomist was late"),
		reason("e1d60b53-6fea-4c0e-8a4d-5f1c1f1a000d", "Phlebotomist was ill"),
		reason("e1d60b54-6fea-4c0e-8a4d-5f1c1f1a000e", "Rescheduled time does not work"),
	}
	centerReasons = []Reason{reason("226a6520-6fea-4c0e-8a4d-5f1c1f1a0101", otherReason)}
)

// Reasons lists the cancellation reasons of a kind.
func Reasons(k Kind) []Reason {
	if k == AtCenter {
		return slices.Clone(centerReasons)
	}
	return slices.Clone(phlebotomyReasons)
}

func reasonOf(k Kind, id uuid.UUID) (Reason, bool) {
	for _, r := range Reasons(k) {
		if r.ID == id {
			return r, true
		}
	}
	return Reason{}, false
}

// Settings are a team's settings.
//
// Reference 2.4, 2.5: the reference enables each of these for a team.
type Settings struct {
	// Scheduling is off for a team that books no appointments through us.
	Scheduling bool
	// BeforeRequisition lets orders without a requisition have appointments.
	BeforeRequisition bool
	// AsyncConfirmation lets callers of service centers continue before the
	// answer.
	AsyncConfirmation bool
	// SonoraQuest allows the Arizona laboratory.
	SonoraQuest bool
}

// SettingsOf reads a team's settings: scheduling is on and the rest off,
// unless the team changed them.
func SettingsOf(ctx context.Context, tx *store.Tx, team teams.ID) (Settings, error) {
	s := Settings{Scheduling: true}
	err := tx.QueryRow(ctx, `SELECT scheduling, before_requisition, async_confirmation, sonora_quest FROM appointment_settings WHERE team_id = $1`, team).
		Scan(&s.Scheduling, &s.BeforeRequisition, &s.AsyncConfirmation, &s.SonoraQuest)
	if err != nil && !errors.Is(err, store.ErrNoRows) {
		return s, fmt.Errorf("appointments: reading settings: %w", err)
	}
	return s, nil
}

// ChangeSettings replaces a team's settings.
func ChangeSettings(ctx context.Context, tx *store.Tx, team teams.ID, s Settings) error {
	_, err := tx.Exec(ctx, `INSERT INTO appointment_settings (team_id, scheduling, before_requisition, async_confirmation, sonora_quest)
		VALUES ($1, $2, $3, $4, $5) ON CONFLICT (team_id) DO UPDATE SET scheduling = excluded.scheduling,
		before_requisition = excluded.before_requisition, async_confirmation = excluded.async_confirmation, sonora_quest = excluded.sonora_quest`,
		team, s.Scheduling, s.BeforeRequisition, s.AsyncConfirmation, s.SonoraQuest)
	if err != nil {
		return fmt.Errorf("appointments: storing settings: %w", err)
	}
	return nil
}

// checkAllowed refuses a provider that the team has not enabled.
//
// Reference 2.7.
func (s Settings) checkAllowed(provider string) error {
	switch {
	case !s.Scheduling:
		return fault.New(fault.Unavailable, "Appointment scheduling is disabled for this team: set scheduling_enabled with PATCH /v2/team/appointment_settings").WithType("scheduling_disabled")
	case provider == sonoraQuest && !s.SonoraQuest:
		return fault.New(fault.Forbidden, "This team may not schedule with sonora_quest")
	}
	return nil
}
