package inbox

import (
	"context"
	"slices"
	"time"

	"hale/internal/ids"
	"hale/internal/networks"
	"hale/internal/orders"
	"hale/internal/store"
)

// take brings a report to its order, or to the queue of unmatched results.
func (s *Service) take(ctx context.Context, tx *store.Tx, q queued, doc []byte) error {
	o, candidates, why, err := match(ctx, tx, q.Report)
	if err != nil {
		return err
	}
	if why == "" && q.Report.Results != nil {
		if err := confirm(ctx, tx, &o, q.Arrival); err != nil {
			return err
		}
		why = misplaced(&o)
	}
	if why != "" {
		if q.Report.Results != nil && s.Handlers.Unmatched != nil {
			if err := s.Handlers.Unmatched.TakeUnmatched(ctx, tx, q.Arrival, why, candidates); err != nil {
				return err
			}
		}
		return handled(ctx, tx, q, doc, "unmatched", nil)
	}
	if err := s.apply(ctx, tx, &o, q.Arrival); err != nil {
		return err
	}
	return handled(ctx, tx, q, doc, "applied", &owner{o.Team.UUID(), o.User.UUID(), o.ID.UUID()})
}

// confirm records that a lab has an order whose receipt is not recorded yet:
// the lab's answer is under way, or a crash took it. Results under our own
// number, from where the order was sent, are as good as that answer; the job
// that places the order then finds nothing left to do.
func confirm(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) error {
	placed, err := ids.Parse[orders.Order](a.Report.Placer)
	if err != nil || placed != o.ID || a.Network != o.Network || !sent(o, tx.Now()) {
		return nil //nolint:nilerr // a report that does not bear our number confirms nothing
	}
	_, err = orders.Advance(ctx, tx, o, orders.Move{To: orders.RequisitionCreated, By: orders.Requisition, Change: changes(a.Report, tx.Now())})
	return err
}

// sent reports whether an order waits for the lab's receipt.
func sent(o *orders.Order, now time.Time) bool {
	waits := o.Status == orders.Registered || o.Status == orders.Ordered && !o.Registrable
	return waits && (o.ActivateBy == nil || !o.ActivateBy.After(orders.Today(now)))
}

// misplaced says why results cannot be those of an order, for its state. Final
// results that come once more are for the keeper of results to judge.
//
// Reference 1.17, decision codes.
func misplaced(o *orders.Order) Reason {
	switch {
	case o.Status.Stage(o.Method) == orders.StageCancelled:
		return WasCancelled
	case !o.Status.HasRequisition() || o.Registrable && o.Body.Patient == nil:
		return WrongMoment
	}
	return ""
}

// apply makes the changes that a report asks for.
func (s *Service) apply(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) error {
	r, err := meant(ctx, tx, o, a.Report)
	if err != nil {
		return err
	}
	if r.Status == string(orders.LabProcessingBlocked) && r.Results != nil {
		set := *r.Results
		set.Partial = true // what a block holds up may still come, whatever the lab marks as missing
		r.Results = &set
	}
	a.Report = r
	moved := false
	if status := orders.Status(r.Status); slices.Contains(orders.Statuses, status) && !s.follows(status, r) {
		by := from(status)
		if r.Reason != "" && status.Stage(o.Method) == orders.StageCancelled && o.Course().May(o.Status, status, by) {
			if err := orders.Explain(ctx, tx, o, r.Reason); err != nil {
				return err
			}
		}
		moved, err = orders.Advance(ctx, tx, o, orders.Move{
			To: status, By: by, Detail: detail(r.Detail), At: r.At, Key: a.Key, Change: changes(r, tx.Now()),
		})
		if err != nil {
			return err
		}
	}
	if !moved && r.Shipment != nil {
		if err := orders.Amend(ctx, tx, o, func(o *orders.Order) { shipped(o, *r.Shipment, tx.Now()) }); err != nil {
			return err
		}
	}
	if r.Visit != nil && s.Handlers.Visits != nil {
		if err := s.Handlers.Visits.TakeVisit(ctx, tx, o, a); err != nil {
			return err
		}
	}
	if r.Results != nil && s.Handlers.Results != nil {
		return s.Handlers.Results.TakeResults(ctx, tx, o, a)
	}
	return nil
}

// follows reports whether a status follows from the results of the same
// report. Whoever stores those makes the move, with what they say.
func (s *Service) follows(status orders.Status, r networks.Report) bool {
	ofResults := []orders.Status{orders.PartialResults, orders.Completed, orders.Corrected, orders.RedrawAvailable}
	return s.Handlers.Results != nil && r.Results != nil && slices.Contains(ofResults, status)
}

// from is who may say that an order is in a status.
func from(s orders.Status) orders.Trigger {
	switch s {
	case orders.RequisitionCreated:
		return orders.Requisition
	case orders.AppointmentPending, orders.AppointmentScheduled, orders.AppointmentCancelled, orders.DrawCompleted:
		return orders.Appointment
	default:
		return orders.Carrier | orders.Lab
	}
}

// detail is a status_detail that we know; another word is left out.
func detail(word string) orders.Detail {
	if d := orders.Detail(word); slices.Contains(orders.Details, d) {
		return d
	}
	return orders.NoDetail
}

// changes are what goes with a move.
func changes(r networks.Report, now time.Time) func(o *orders.Order) {
	return func(o *orders.Order) {
		if o.SampleID == "" {
			o.SampleID = r.SampleID
		}
		if r.Shipment != nil {
			shipped(o, *r.Shipment, now)
		}
	}
}

// shipped notes how a kit travels.
func shipped(o *orders.Order, s networks.Shipment, now time.Time) {
	next := orders.Shipment{ID: o.Details, CreatedAt: now}
	if o.Shipment != nil {
		next = *o.Shipment
	}
	leg := &next.Outbound
	if s.Inbound {
		leg = &next.Inbound
	}
	*leg = orders.Leg{Courier: s.Courier, TrackingNumber: s.TrackingNumber, TrackingURL: s.TrackingURL}
	next.UpdatedAt = now
	o.Shipment = &next
}
