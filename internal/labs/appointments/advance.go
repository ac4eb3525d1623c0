package appointments

import (
	"context"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/labclock"
	"hale/internal/labs/orders"
	"hale/internal/people/messages"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// The causes of a move: the "origin" of an event's data.
const (
	byPatient  = "patient"
	byProvider = "provider"
	byLab      = "lab"
	byOrder    = "order"
	byTimer    = "timer"
)

// move is a move of an appointment.
type move struct {
	to   Status
	data map[string]any
	// change, when set, changes other fields with the status.
	change func(a *Appointment)
	// transient moves are followed by another move in the same transaction.
	// The order and the patient see only that one.
	transient bool
	// keepOrder leaves the order as it is, because the move comes from the
	// order.
	keepOrder bool
	at        time.Time // time of the move; zero means now
}

// advance makes a move that the table allows, and reports whether it did. The
// row, its history, the order's own move, the event and the message to the
// patient are one transaction. o is the appointment's order; it is updated.
func advance(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, s move) (bool, error) {
	if !a.Kind.Allows(a.Status, s.to) {
		return false, nil
	}
	before := a.Status
	if s.change != nil {
		s.change(a)
	}
	a.Status = s.to
	if err := save(ctx, tx, a); err != nil {
		return false, err
	}
	if err := addEvent(ctx, tx, a, s.data); err != nil {
		return false, err
	}
	if err := moveOrder(ctx, tx, a, o, s); err != nil {
		return false, err
	}
	if err := announce(ctx, tx, a, o, before == Asked); err != nil {
		return false, err
	}
	if s.transient {
		return true, nil
	}
	return true, messagePatient(ctx, tx, a, o)
}

// orderStatusOf returns the order's status for a status of the appointment.
//
// Reference 2.5, coupling to the order.
func orderStatusOf(k Kind, s Status) (orders.Status, bool) {
	switch {
	case s == Pending:
		return orders.AppointmentPending, true
	case s == Scheduled:
		return orders.AppointmentScheduled, true
	case s == Cancelled:
		return orders.AppointmentCancelled, true
	case s == Completed && k == Phlebotomy:
		return orders.DrawCompleted, true
	}
	return "", false
}

// moveOrder moves the order, when it has its requisition, and links it to the
// appointment.
func moveOrder(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, s move) error {
	if s.keepOrder {
		return nil
	}
	change, err := orderChange(ctx, tx, a, o, s)
	if err != nil {
		return err
	}
	to, ok := orderStatusOf(a.Kind, s.to)
	if ok && !s.transient && o.Status.HasRequisition() {
		moved, err := orders.Advance(ctx, tx, o, orders.Move{To: to, By: orders.Appointment, At: s.at, Change: change})
		if moved || err != nil {
			return err
		}
	}
	if o.Appointment != nil && *o.Appointment == a.ID.UUID() {
		return nil
	}
	return orders.Amend(ctx, tx, o, change)
}

// orderChange returns the change that a move makes to the order. It sets the
// link to the appointment. For a completed visit it also sets the time of
// collection and the dates of results.
func orderChange(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, s move) (func(o *orders.Order), error) {
	id := a.ID.UUID()
	if s.to != Completed {
		return func(o *orders.Order) { o.Appointment = &id }, nil
	}
	at := s.at
	if at.IsZero() {
		var err error
		if at, err = labclock.TimeOf(ctx, tx, o.Team); err != nil {
			return nil, err
		}
	}
	facts, err := orders.ReadFacts(ctx, tx, o.Team, []orders.Order{*o})
	if err != nil {
		return nil, err
	}
	common, worst := catalogue.TAT(facts[0].Markers)
	return func(o *orders.Order) {
		o.Appointment = &id
		o.SetDrawn(at, common, worst)
	}, nil
}

// messagePatient queues messages to the patient and plans the reminders again.
//
// Reference 1.19.
func messagePatient(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
	e := messages.AppointmentEvent{
		Team: a.Team, User: a.User, Order: a.Order.UUID(), Appointment: a.ID.UUID(), Method: string(o.Method),
		Status: a.Status.Word(), SMSEnabled: o.SMSEnabled,
	}
	if a.Start != nil {
		e.Start = *a.Start
	}
	if p := o.Body.Patient; p != nil {
		e.Contact = messages.Contact{FirstName: p.FirstName, Phone: p.PhoneNumber, Email: p.Email}
	}
	return messages.AppointmentMoved(ctx, tx, e)
}

// orderOf reads an appointment's order.
func orderOf(ctx context.Context, tx *store.Tx, a *Appointment) (orders.Order, error) {
	return orders.Get(ctx, tx, a.Team, a.Order)
}

// isErased reports that an appointment or its order was erased meanwhile.
func isErased(err error) bool { return fault.Is(err, fault.NotFound) }
