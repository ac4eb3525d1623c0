package appointments

import (
	"context"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/people/messages"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Who caused a step: the "origin" of an event's data.
const (
	byPatient  = "patient"
	byProvider = "provider"
	byLab      = "lab"
	byOrder    = "order"
	byTimer    = "timer"
)

// step is a move that an appointment is to make.
type step struct {
	to   Status
	data map[string]any
	// change, when set, changes what goes with the step.
	change func(a *Appointment)
	// passing steps are followed by another one in the same transaction: the
	// order and the patient only hear of that one.
	passing bool
	// alone leaves the order as it is: it is where the step comes from.
	alone bool
	at    time.Time // when it was so; zero means now
}

// advance makes a step when the table has it, and reports whether it did: the
// row, its history, the order's own move, the event and the patient's message
// are one transaction. o is the appointment's order; it is brought up to date.
func advance(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, s step) (bool, error) {
	if !a.Kind.May(a.Status, s.to) {
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
	if err := couple(ctx, tx, a, o, s); err != nil {
		return false, err
	}
	if err := announce(ctx, tx, a, o, before == Asked); err != nil {
		return false, err
	}
	if s.passing {
		return true, nil
	}
	return true, tellPatient(ctx, tx, a, o)
}

// follows says which status of the order goes with one of the appointment.
//
// Reference 2.5, coupling to the order.
func follows(k Kind, s Status) (orders.Status, bool) {
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

// couple takes the order along, when it has its requisition, and lets it know
// its appointment.
func couple(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, s step) error {
	if s.alone {
		return nil
	}
	know, err := knowledge(ctx, tx, a, o, s)
	if err != nil {
		return err
	}
	to, ok := follows(a.Kind, s.to)
	if ok && !s.passing && o.Status.HasRequisition() {
		moved, err := orders.Advance(ctx, tx, o, orders.Move{To: to, By: orders.Appointment, At: s.at, Change: know})
		if moved || err != nil {
			return err
		}
	}
	if o.Appointment != nil && *o.Appointment == a.ID.UUID() {
		return nil
	}
	return orders.Amend(ctx, tx, o, know)
}

// knowledge is what a step changes of the order: it knows its appointment, and
// from a visit that was completed when the sample was taken and its results are
// due.
func knowledge(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, s step) (func(o *orders.Order), error) {
	id := a.ID.UUID()
	if s.to != Completed {
		return func(o *orders.Order) { o.Appointment = &id }, nil
	}
	at := s.at
	if at.IsZero() {
		at = tx.Now()
	}
	facts, err := orders.Around(ctx, tx, o.Team, []orders.Order{*o})
	if err != nil {
		return nil, err
	}
	common, worst := catalogue.TAT(facts[0].Markers)
	return func(o *orders.Order) {
		o.Appointment = &id
		o.Drawn(at, common, worst)
	}, nil
}

// tellPatient lets the patient know, and plans reminders anew.
//
// Reference 1.19.
func tellPatient(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
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

// gone reports that an appointment or its order was erased in the meantime.
func gone(err error) bool { return fault.Is(err, fault.NotFound) }
