package inbox

import (
	"context"
	"slices"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
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
	_, err = orders.Advance(ctx, tx, o, orders.Move{To: orders.RequisitionCreated, By: orders.Requisition, Change: changes(a.Report, tx.Now(), nil)})
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

// apply makes the changes that a report asks for. What will not come is on the
// order before it is told of a step.
func (s *Service) apply(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) error {
	know, err := collection(ctx, tx, o, a.Report)
	if err != nil {
		return err
	}
	r, on, err := meant(ctx, tx, o, a.Report)
	if err != nil {
		return err
	}
	if r.Status == string(orders.LabProcessingBlocked) && r.Results != nil {
		set := *r.Results
		set.Partial = true // what a block holds up may still come, whatever the lab marks as missing
		r.Results = &set
	}
	a.Report = r
	first := r.Results != nil && len(r.Results.Results) == 0 && (on || orders.Status(r.Status) == orders.RequisitionCreated)
	if first {
		if err := s.results(ctx, tx, o, a); err != nil {
			return err
		}
	}
	moved, err := s.step(ctx, tx, o, a, know)
	if err != nil {
		return err
	}
	if on && moved {
		_, err := orders.Advance(ctx, tx, o, orders.Move{To: orders.DeliveredToLab, By: orders.Lab, At: r.At, Key: a.Key + ":others"})
		if err != nil {
			return err
		}
	}
	if r.Visit != nil && s.Handlers.Visits != nil {
		if err := s.Handlers.Visits.TakeVisit(ctx, tx, o, a); err != nil {
			return err
		}
	}
	if first {
		return nil
	}
	return s.results(ctx, tx, o, a)
}

// results hands what a report has of them to their keeper.
func (s *Service) results(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) error {
	if a.Report.Results == nil || s.Handlers.Results == nil {
		return nil
	}
	return s.Handlers.Results.TakeResults(ctx, tx, o, a)
}

// step brings an order to the status of a report, with what else the report says
// of it, and reports whether the order moved. know, when there is one, is its time
// of collection.
func (s *Service) step(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival, know func(o *orders.Order)) (moved bool, err error) {
	r := a.Report
	change := changes(r, tx.Now(), know)
	if status := orders.Status(r.Status); slices.Contains(orders.Statuses, status) && !s.follows(status, r) {
		by := from(status)
		if r.Reason != "" && status.Stage(o.Method) == orders.StageCancelled && o.Course().May(o.Status, status, by) {
			if err := orders.Explain(ctx, tx, o, r.Reason); err != nil {
				return false, err
			}
		}
		moved, err = orders.Advance(ctx, tx, o, orders.Move{To: status, By: by, Detail: detail(r.Detail), At: r.At, Key: a.Key, Change: change})
	}
	if err != nil || moved || r.Shipment == nil && know == nil {
		return moved, err
	}
	return false, orders.Amend(ctx, tx, o, aside(r, tx.Now(), know))
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
func changes(r networks.Report, now time.Time, know func(o *orders.Order)) func(o *orders.Order) {
	beside := aside(r, now, know)
	return func(o *orders.Order) {
		if o.SampleID == "" {
			o.SampleID = r.SampleID
		}
		beside(o)
	}
}

// aside is what a report changes of an order whether or not it moves it.
func aside(r networks.Report, now time.Time, know func(o *orders.Order)) func(o *orders.Order) {
	return func(o *orders.Order) {
		if know != nil {
			know(o)
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
