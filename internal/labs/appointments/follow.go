package appointments

import (
	"context"
	"time"

	"hale/internal/labs/inbox"
	"hale/internal/labs/labclock"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
)

// OrderChanged changes the appointment of an order after a change of the order. It
// is a listener of package orders, so it must not change the order. A job makes
// changes of the order that follow.
//
// Reference 1.6, 2.5.
func OrderChanged(ctx context.Context, tx *store.Tx, c orders.Change) error {
	if c.New() {
		return nil
	}
	s := move{keepOrder: true}
	switch c.Event.Status {
	case orders.RequisitionCreated, orders.RequisitionBypassed:
		return confirmLater(ctx, tx, c.Order)
	case orders.Cancelled, orders.DoNotProcess:
		if c.Order.Method != methodOf[Phlebotomy] {
			return nil // the patient may still arrive
		}
		s.to, s.data = Cancelled, map[string]any{"origin": byOrder}
	case orders.AppointmentCancelled:
		s.to, s.data = Cancelled, map[string]any{"origin": byProvider}
	case orders.DrawCompleted, orders.PartialResults, orders.Completed, orders.SampleError, orders.RedrawAvailable:
		s.to, s.data = Completed, map[string]any{"origin": byLab}
	default:
		return nil
	}
	a, err := liveAppointment(ctx, tx, c.Order)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	o := *c.Order // a listener must not change the order
	switch {
	case a.Status == Asked:
		return abandonCall(ctx, tx, &a)
	case s.to == Cancelled:
		_, err = cancel(ctx, tx, &a, &o, s)
	default:
		_, err = advance(ctx, tx, &a, &o, s)
	}
	return err
}

// abandonCall releases the booking that is being made.
func abandonCall(ctx context.Context, tx *store.Tx, a *Appointment) error {
	a.abandon()
	if err := saveOrDelete(ctx, tx, a); err != nil || a.idle() {
		return err
	}
	return settleLater(ctx, tx, a, tx.Now())
}

// confirmLater enqueues the confirmation of an appointment that waited for its
// order's requisition.
func confirmLater(ctx context.Context, tx *store.Tx, o *orders.Order) error {
	a, err := liveAppointment(ctx, tx, o)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return enqueue(ctx, tx, confirmKind, &a, tx.Now())
}

// confirm moves an order that got its requisition after its appointment: to
// pending, and to scheduled when the slot was reserved.
//
// Reference 2.5, requisition made.
func (s *Service) confirm(ctx context.Context, _ *jobs.Run, args jobArgs) error {
	return s.edit(ctx, &Appointment{Team: args.Team, ID: args.Appointment}, func(tx *store.Tx, a *Appointment, o *orders.Order) error {
		if a.Status != Pending && a.Status != Reserved || awaitsRequisition(o) || confirmsLater(a.Provider) && !a.Body.Confirmed {
			return nil
		}
		_, err := orders.Advance(ctx, tx, o, orders.Move{To: orders.AppointmentPending, By: orders.Appointment})
		if err != nil || a.Status == Pending || !o.Course().Allows(o.Status, orders.AppointmentScheduled, orders.Appointment) {
			return err
		}
		_, err = advance(ctx, tx, a, o, move{to: Scheduled})
		return err
	})
}

// lapseLater enqueues the job that cancels an appointment whose condition is
// not met in time.
func lapseLater(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
	at := lapseTime(a, o)
	if at.IsZero() {
		return nil
	}
	ahead, err := labclock.Offset(ctx, tx, a.Team)
	if err != nil {
		return err
	}
	return enqueue(ctx, tx, lapseKind, a, at.Add(-ahead))
}

// advanceWait is the time between two checks whether the sandbox laboratory's clock has advanced.
const advanceWait = time.Second

// lapse cancels an appointment that waited too long for the requisition of its
// order, or for the confirmation of a provider.
//
// Reference 2.5, auto-cancel.
func (s *Service) lapse(ctx context.Context, _ *jobs.Run, args jobArgs) error {
	var wait time.Duration
	err := s.edit(ctx, &Appointment{Team: args.Team, ID: args.Appointment}, func(tx *store.Tx, a *Appointment, o *orders.Order) error {
		wait = 0
		over := o.Status.Stage(o.Method) == orders.StageCancelled
		waits := a.Status == Pending || a.Status == Reserved
		if !waits || !awaitsRequisition(o) && !over && (!confirmsLater(a.Provider) || a.Body.Confirmed) {
			return nil
		}
		at := lapseTime(a, o)
		if at.IsZero() && !over {
			return nil
		}
		clock, err := labclock.Read(ctx, tx, o.Team)
		if err != nil {
			return err
		}
		wait = at.Sub(tx.Now().Add(clock.Ahead))
		if !clock.StepAt.IsZero() && clock.StepAt.Before(at) { // the laboratory's turn is not there yet
			wait = max(wait, advanceWait)
		}
		if wait > 0 {
			return nil
		}
		_, err = cancel(ctx, tx, a, o, move{to: Cancelled, data: map[string]any{"origin": byTimer}})
		return err
	})
	if err == nil && wait > 0 {
		return jobs.RetryLater(wait)
	}
	return err
}

var _ inbox.Visits = (*Service)(nil)

// TakeVisit applies a network's report of a visit. A late or repeated report
// changes nothing.
func (s *Service) TakeVisit(ctx context.Context, tx *store.Tx, o *orders.Order, r inbox.Arrival) error {
	v := *r.Report.Visit
	a, err := liveAppointment(ctx, tx, o)
	switch {
	case fault.Is(err, fault.NotFound):
		return s.applyForeignVisit(ctx, tx, o, r)
	case err != nil:
		return err
	case a.Status == Asked: // the answer to our call is not stored yet
		a.Body.Early = &v
		return save(ctx, tx, &a)
	case v.BookingID != "" && a.Body.Booking.ID != "" && v.BookingID != a.Body.Booking.ID:
		return nil // of a booking that was released
	}
	to, ok := orderStatusOf(a.Kind, statusOf(v.Status))
	return applyVisit(ctx, tx, &a, o, v, ok && string(to) == r.Report.Status)
}

// applyForeignVisit moves only the order, after a visit that was not booked
// through us.
func (s *Service) applyForeignVisit(ctx context.Context, tx *store.Tx, o *orders.Order, r inbox.Arrival) error {
	k := AtCenter
	if o.Method == methodOf[Phlebotomy] {
		k = Phlebotomy
	}
	to, moves := orderStatusOf(k, statusOf(r.Report.Visit.Status))
	moves = moves && o.Status != to && string(to) != r.Report.Status
	drawn := statusOf(r.Report.Visit.Status) == Completed && o.Status.Stage(o.Method) != orders.StageCancelled
	if !moves && !drawn || !o.Status.HasRequisition() {
		return nil
	}
	if a, err := GetLatest(ctx, tx, o); err == nil && (r.Report.Visit.BookingID == "" || a.Body.Booking.ID == r.Report.Visit.BookingID) {
		return nil // an appointment of ours that has ended
	} else if err != nil && !isErased(err) {
		return err
	}
	m := orders.Move{To: to, By: orders.Appointment, At: r.Report.At, Key: r.Key + ":visit"}
	if drawn {
		common, worst, err := orders.Turnaround(ctx, tx, o)
		if err != nil {
			return err
		}
		now, err := labclock.TimeOf(ctx, tx, o.Team)
		if err != nil {
			return err
		}
		at := visitEnd(*r.Report.Visit, now)
		m.Change = func(o *orders.Order) { o.SetDrawn(at, common, worst) }
	}
	if moves {
		moved, err := orders.Advance(ctx, tx, o, m)
		if err != nil || moved {
			return err
		}
	}
	if !drawn {
		return nil
	}
	return orders.Amend(ctx, tx, o, m.Change)
}

// visitEnd returns the end of a completed visit; now when the end is unknown
// or in the future.
func visitEnd(v networks.Visit, now time.Time) time.Time {
	if v.End.IsZero() || v.End.After(now) {
		return now
	}
	return v.End
}

// statusOf reads a network's word: the contract has both scheduled and
// confirmed for one status.
func statusOf(word string) Status {
	if word == Scheduled.Word() {
		return Scheduled
	}
	return Status(word)
}

// applyVisit applies the status that a network reports. keepOrder is true if the
// same report has already changed the order.
func applyVisit(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, v networks.Visit, keepOrder bool) error {
	s := move{to: statusOf(v.Status), data: map[string]any{"origin": byProvider}, keepOrder: keepOrder}
	switch s.to {
	case Asked, Pending:
		return nil
	case Reserved, Scheduled:
		return applyTime(ctx, tx, a, o, v, s)
	case Cancelled: // the slot is released; a new slot that is being booked is no longer wanted
		s.change = func(a *Appointment) {
			if a.Body.Call != nil {
				a.Body.Call.Abandoned = true
			}
		}
	case InProgress:
	case Completed:
		now, err := labclock.TimeOf(ctx, tx, o.Team)
		if err != nil {
			return err
		}
		s.at = visitEnd(v, now)
	}
	_, err := advance(ctx, tx, a, o, s)
	return err
}

// applyTime applies a time that the provider set or confirmed.
func applyTime(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, v networks.Visit, s move) error {
	timed := func(a *Appointment) {
		if !v.Start.IsZero() {
			start, end := v.Start.UTC(), v.End.UTC()
			if !v.End.After(v.Start) {
				end = start.Add(time.Hour)
			}
			a.Start, a.End = &start, &end
		}
		if v.BookingID != "" {
			a.Body.Booking.ID = v.BookingID
		}
		a.Body.Confirmed = statusOf(v.Status) == Scheduled
	}
	same := v.Start.IsZero() || a.Start != nil && a.Start.Equal(v.Start)
	s.to, s.change = Scheduled, timed
	switch {
	case awaitsRequisition(o) && a.Status == Reserved && same, a.Status == Scheduled && same:
		timed(a)
		return save(ctx, tx, a)
	case awaitsRequisition(o) && a.Status == Reserved:
		timed(a)
		if err := save(ctx, tx, a); err != nil {
			return err
		}
		return lapseLater(ctx, tx, a, o)
	case awaitsRequisition(o):
		s.to = Reserved
		if _, err := advance(ctx, tx, a, o, s); err != nil {
			return err
		}
		return lapseLater(ctx, tx, a, o)
	case confirmsLater(a.Provider) && statusOf(v.Status) == Reserved:
		return nil
	case a.Status == Scheduled:
		s.data["is_reschedule"] = true
	}
	_, err := advance(ctx, tx, a, o, s)
	return err
}
