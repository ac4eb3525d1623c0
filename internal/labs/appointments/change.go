package appointments

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Get returns the newest appointment of an order: the live one when there is
// one, else how the last one ended.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, order orders.ID, k Kind) (Document, error) {
	o, err := orderFor(ctx, tx, team, order, k)
	if err != nil {
		return Document{}, err
	}
	a, err := Latest(ctx, tx, &o)
	if err != nil {
		return Document{}, err
	}
	return document(ctx, tx, &a, &o)
}

// Change asks for another slot.
//
// Reference 2.4, AppointmentRescheduleRequest.
type Change struct {
	Order orders.ID
	Kind  Kind
	Key   string
	Notes *string // nil leaves them
}

// Reschedule books another slot and gives the old one back.
func (s *Service) Reschedule(ctx context.Context, who places.Viewer, c Change) (Document, error) {
	return s.begin(ctx, who, nil, func(tx *store.Tx) (*Appointment, error) { return s.reschedule(ctx, tx, who, c) })
}

func (s *Service) reschedule(ctx context.Context, tx *store.Tx, who places.Viewer, c Change) (*Appointment, error) {
	o, err := orderFor(ctx, tx, who.Team, c.Order, c.Kind)
	if err != nil {
		return nil, err
	}
	a, err := current(ctx, tx, &o)
	switch {
	case err != nil:
		return nil, err
	case a.Status == Asked:
		return nil, errNone
	case !a.CanReschedule():
		return nil, fault.Newf(fault.Refused, "A %s appointment with %s cannot be rescheduled; cancel it and book anew", a.Status, a.Provider).WithType("not_reschedulable")
	case a.Body.Call != nil && a.waited(tx.Now()):
		return nil, fault.New(fault.Conflict, "The appointment is being rescheduled")
	case a.Body.Call != nil:
		return nil, unfinished{a.ID}
	}
	settings, err := SettingsOf(ctx, tx, who.Team)
	if err != nil {
		return nil, err
	}
	t, err := s.open(ctx, tx, &o, c.Kind, c.Key, settings)
	if err != nil {
		return nil, err
	}
	if t.Slot.Provider != a.Provider || t.Network != a.Network {
		return nil, errOtherKey
	}
	if err := t.spend(ctx, tx, who.Team, c.Key); err != nil {
		return nil, err
	}
	moved := a // where to, for the network and for later
	if err := s.locate(ctx, tx, who, &moved, t); err != nil {
		return nil, err
	}
	a.Body.Call = newCall(tx, ChangeSlot, t.Slot, 0, false, 0)
	a.Body.Call.Notes = c.Notes
	a.Body.Call.To = &Destination{moved.Body.Address, moved.Body.Place, moved.Body.Site}
	if err := save(ctx, tx, &a); err != nil {
		return nil, err
	}
	return &a, later(ctx, tx, &a, a.Body.Call.Until)
}

// Cancellation ends an appointment.
//
// Reference 2.6.
type Cancellation struct {
	Order  orders.ID
	Kind   Kind
	Reason uuid.UUID
	Notes  string
	// ReasonField and NotesField are how the caller's body calls them.
	ReasonField, NotesField string
}

// refundable is how long before a visit cancelling it costs nothing.
const refundable = 24 * time.Hour

// Cancel ends an appointment. The network hears of it from a job. One that is
// cancelled already is answered as it is.
//
// Reference 2.7: clients must treat that as done.
func Cancel(ctx context.Context, tx *store.Tx, team teams.ID, c Cancellation) (Document, error) {
	o, err := orderFor(ctx, tx, team, c.Order, c.Kind)
	if err != nil {
		return Document{}, err
	}
	a, err := Latest(ctx, tx, &o)
	if err != nil {
		return Document{}, err
	}
	reason, known := reasonOf(c.Kind, c.Reason)
	switch {
	case a.Status == Cancelled:
		return document(ctx, tx, &a, &o)
	case !known:
		return Document{}, fault.Newf(fault.Refused, "%s is not one of the cancellation reasons", c.ReasonField).At("body", c.ReasonField).WithType("reason_unknown")
	case c.Kind == Phlebotomy && reason.Name == other && c.Notes == "":
		return Document{}, fault.Newf(fault.Invalid, "%s must be given with the reason Other", c.NotesField).At("body", c.NotesField).WithType("missing")
	case fixed(a.Provider) || a.Status == InProgress || a.Status == Completed:
		return Document{}, fault.Newf(fault.Refused, "A %s appointment with %s cannot be cancelled", a.Status, a.Provider).WithType("not_cancellable")
	}
	refund := reason.Refundable && (a.Start == nil || a.Start.Sub(tx.Now()) > refundable)
	data := map[string]any{"origin": byPatient, "cancellation_reason": reason.Name}
	if c.Kind == Phlebotomy {
		data["is_refundable"] = refund
	}
	_, err = end(ctx, tx, &a, &o, step{to: Cancelled, data: data, change: func(a *Appointment) { a.ReasonID, a.Body.Canceled = &reason.ID, c.Notes }})
	if err != nil {
		return Document{}, err
	}
	return document(ctx, tx, &a, &o)
}

// end cancels an appointment and has its slot given back.
func end(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, s step) (bool, error) {
	note := s.change
	s.change = func(a *Appointment) {
		if note != nil {
			note(a)
		}
		a.abandon()
	}
	moved, err := advance(ctx, tx, a, o, s)
	if err != nil || !moved || a.idle() {
		return moved, err
	}
	return true, later(ctx, tx, a, tx.Now())
}
