package appointments

import (
	"context"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// adult is the least age of a patient whom a phlebotomist visits.
const adult = 18

// methodOf is the collection method that goes with a kind.
var methodOf = map[Kind]orders.Method{Phlebotomy: catalogue.AtHome, AtCenter: catalogue.WalkIn}

var errBooked = fault.New(fault.Refused, "This order, or this patient with the same provider, has an appointment already").WithType("appointment_exists")

// orderFor reads an order whose sample is drawn in the way of a kind. An order
// of another way is not found.
//
// Reference 2.7.
func orderFor(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID, k Kind) (orders.Order, error) {
	o, err := orders.Get(ctx, tx, team, id)
	if err == nil && o.Method != methodOf[k] {
		err = fault.Newf(fault.NotFound, "This order is not a %s order", methodOf[k])
	}
	return o, err
}

// early reports that the order has no requisition yet, and may get one.
func early(o *orders.Order) bool { return o.Status == orders.Ordered }

// ready refuses an order whose state allows no appointment.
func ready(o *orders.Order, s Settings) error {
	switch {
	case early(o) && s.BeforeRequisition:
		return nil
	case !o.Status.HasRequisition():
		return fault.Newf(fault.Refused, "The order has no requisition yet: it is %s", o.Status).WithType("requisition_missing")
	case !o.Course().May(o.Status, orders.AppointmentScheduled, orders.Appointment):
		return fault.Newf(fault.Refused, "An order that is %s can have no appointment", o.Status).WithType("order_state")
	}
	return nil
}

// grown refuses a patient who is under age on the day of a visit, on the clock
// of its place.
func grown(o *orders.Order, at time.Time, zone string) error {
	loc, err := civil.Zone(zone)
	if err != nil {
		return err
	}
	if p := o.Body.Patient; p == nil || p.Age(civil.DateOf(at.In(loc))) < adult {
		return fault.Newf(fault.Refused, "Phlebotomy appointments are for patients of %d years and older", adult).WithType("patient_under_age")
	}
	return nil
}

// labOf is the slug of the lab that an order is with.
func labOf(ctx context.Context, tx *store.Tx, o *orders.Order) (string, error) {
	offered, err := catalogue.For(ctx, tx, o.Team)
	if err != nil {
		return "", err
	}
	lab, _ := offered.Lab(o.Lab)
	return lab.Slug, nil
}

// Before an order's requisition an appointment can wait only so long.
//
// Reference 2.5, auto-cancel.
const (
	longestWait  = 8 * time.Hour // after the order, unless it was scheduled for a day
	closestStart = 2 * time.Hour
)

// lapses is when an appointment is cancelled unless what it waits for has come
// by then: the order's requisition, or the word of a provider that confirms
// later. Zero for never.
func lapses(a *Appointment, o *orders.Order) time.Time {
	var at time.Time
	if early(o) && !o.Scheduled {
		at = o.CreatedAt.Add(longestWait)
	}
	if a.Start != nil {
		if close := a.Start.Add(-closestStart); at.IsZero() || close.Before(at) {
			at = close
		}
	}
	return at
}
