package appointments

import (
	"context"
	"time"

	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/jobs"
	"hale/internal/platform/store"
)

// OrderChanged follows an order: it is a listener of package orders. What has
// to move the order itself is left to a job.
//
// Reference 1.6, 2.5.
func OrderChanged(ctx context.Context, tx *store.Tx, c orders.Change) error {
	if c.New() {
		return nil
	}
	s := step{alone: true}
	switch c.Event.Status {
	case orders.RequisitionCreated, orders.RequisitionBypassed:
		return requisitioned(ctx, tx, c.Order)
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
	a, err := current(ctx, tx, c.Order)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	o := *c.Order // a listener leaves the order alone
	switch {
	case a.Status == Asked:
		return unwant(ctx, tx, &a)
	case s.to == Cancelled:
		_, err = end(ctx, tx, &a, &o, s)
	default:
		_, err = advance(ctx, tx, &a, &o, s)
	}
	return err
}

// unwant has whatever is being booked given back.
func unwant(ctx context.Context, tx *store.Tx, a *Appointment) error {
	a.abandon()
	if err := saveOrForget(ctx, tx, a); err != nil || a.idle() {
		return err
	}
	return later(ctx, tx, a, tx.Now())
}

// requisitioned asks for an appointment to be confirmed that waited for its
// order's requisition.
func requisitioned(ctx context.Context, tx *store.Tx, o *orders.Order) error {
	a, err := current(ctx, tx, o)
	if fault.Is(err, fault.NotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return enqueue(ctx, tx, confirmKind, &a, tx.Now())
}

// confirm takes an order along that got its requisition after its appointment:
// pending, and at once scheduled when the slot was held.
//
// Reference 2.5, requisition made.
func (s *Service) confirm(ctx context.Context, _ *jobs.Run, args jobArgs) error {
	return s.edit(ctx, &Appointment{Team: args.Team, ID: args.Appointment}, func(tx *store.Tx, a *Appointment, o *orders.Order) error {
		if a.Status != Pending && a.Status != Reserved || early(o) || fixed(a.Provider) && !a.Body.Confirmed {
			return nil
		}
		_, err := orders.Advance(ctx, tx, o, orders.Move{To: orders.AppointmentPending, By: orders.Appointment})
		if err != nil || a.Status == Pending || !o.Course().May(o.Status, orders.AppointmentScheduled, orders.Appointment) {
			return err
		}
		_, err = advance(ctx, tx, a, o, step{to: Scheduled})
		return err
	})
}

// lapseLater asks for the job that cancels an appointment which waits in vain.
func lapseLater(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
	at := lapses(a, o)
	if at.IsZero() {
		return nil
	}
	return enqueue(ctx, tx, lapseKind, a, at)
}

// lapse cancels an appointment that waits in vain: for the requisition of its
// order, or for the word of a provider that confirms later.
//
// Reference 2.5, auto-cancel.
func (s *Service) lapse(ctx context.Context, _ *jobs.Run, args jobArgs) error {
	var wait time.Duration
	err := s.edit(ctx, &Appointment{Team: args.Team, ID: args.Appointment}, func(tx *store.Tx, a *Appointment, o *orders.Order) error {
		wait = 0
		over := o.Status.Stage(o.Method) == orders.StageCancelled
		waits := a.Status == Pending || a.Status == Reserved
		if !waits || !early(o) && !over && (!fixed(a.Provider) || a.Body.Confirmed) {
			return nil
		}
		at := lapses(a, o)
		if at.IsZero() && !over {
			return nil
		}
		if wait = at.Sub(tx.Now()); wait > 0 {
			return nil
		}
		_, err := end(ctx, tx, a, o, step{to: Cancelled, data: map[string]any{"origin": byTimer}})
		return err
	})
	if err == nil && wait > 0 {
		return jobs.Later(wait)
	}
	return err
}
