package inbox

import (
	"context"
	"slices"
	"time"

	"hale/internal/labs/labclock"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
)

// process applies a report to its order, or passes it to the queue of
// unmatched results.
func (s *Service) process(ctx context.Context, tx *store.Tx, q queuedMessage, doc []byte) error {
	o, candidates, why, err := match(ctx, tx, q.Arrival)
	if err != nil {
		return err
	}
	if why == "" && q.Report.Results != nil {
		if err := confirmReceipt(ctx, tx, &o, q.Arrival); err != nil {
			return err
		}
		if why = resultsRefused(&o); why == "" {
			if why, err = contentRefused(ctx, tx, &o, q.Report); err != nil {
				return err
			}
		}
	}
	if why != "" {
		if err := s.takeUnmatched(ctx, tx, q.Arrival, why, candidates); err != nil {
			return err
		}
		return markHandled(ctx, tx, q, doc, "unmatched", why, subjectOf(candidates, q.Report))
	}
	if err := s.apply(ctx, tx, &o, q.Arrival); err != nil {
		return err
	}
	return markHandled(ctx, tx, q, doc, "applied", "", &owner{o.Team.UUID(), o.User.UUID(), o.ID.UUID()})
}

// takeUnmatched passes a report that fits no order to the queue of unmatched results,
// if a person must see it.
func (s *Service) takeUnmatched(ctx context.Context, tx *store.Tx, a Arrival, why Reason, candidates []orders.Order) error {
	switch {
	case s.Handlers.Unmatched == nil:
		return nil
	case IsRejection(a.Report):
		return s.Handlers.Unmatched.TakeUnmatchedStatus(ctx, tx, a, why)
	case a.Report.Results != nil:
		return s.Handlers.Unmatched.TakeUnmatched(ctx, tx, a, why, candidates)
	}
	return nil
}

// IsRejection reports whether a report only says that tests are rejected, cancelled,
// refused or blocked. It has no values, but it may list these tests as missing.
func IsRejection(r networks.Report) bool {
	status := orders.Status(r.Status)
	if len(r.Refused) == 0 && status != orders.LabProcessingBlocked && !slices.Contains(endingStatuses, status) {
		return false
	}
	set := r.Results
	return set == nil || len(set.Results)+len(set.PDF)+len(set.Refused) == 0 &&
		!slices.ContainsFunc(set.Missing, func(m networks.MissingResult) bool { return m.Confirms || m.Flag != "" })
}

// subjectOf returns the owner of a report that is not applied, nil if it is not known. A
// report with results belongs to the queue of unmatched results. Any other report belongs to
// the user whose orders it names, if it does not contradict that user.
func subjectOf(candidates []orders.Order, r networks.Report) *owner {
	if r.Results != nil && !IsRejection(r) || len(candidates) == 0 {
		return nil
	}
	first := &candidates[0]
	for i := range candidates {
		o := &candidates[i]
		if o.User.IsZero() || o.Team != first.Team || o.User != first.User || identityMismatch(o, r) != "" {
			return nil
		}
	}
	return &owner{first.Team.UUID(), first.User.UUID(), first.ID.UUID()}
}

// confirmReceipt records that the lab has an order whose receipt is not recorded
// yet. The lab's answer may still be on its way, or a crash lost it. Results
// under our own number from the network that has the order are as good as that
// answer. The job that places the order then has nothing left to do.
func confirmReceipt(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) error {
	now, err := labclock.TimeOf(ctx, tx, o.Team)
	if err != nil || !namesNumber(o, a.Report) || a.Network != o.Network || !awaitsReceipt(o, now) {
		return err
	}
	_, err = orders.Advance(ctx, tx, o, orders.Move{To: orders.RequisitionCreated, By: orders.Requisition, Change: moveChange(a.Report, now, nil)})
	return err
}

// awaitsReceipt reports whether an order waits for the lab's receipt.
func awaitsReceipt(o *orders.Order, now time.Time) bool {
	waits := o.Status == orders.Registered || o.Status == orders.Ordered && !o.Registrable
	return waits && (o.ActivateBy == nil || !o.ActivateBy.After(orders.Today(now)))
}

// resultsRefused says why an order cannot have results in its present state;
// it is empty when it can. For repeated final results the Results handler
// decides.
//
// Reference 1.17, decision codes.
func resultsRefused(o *orders.Order) Reason {
	switch {
	case o.Status.Stage(o.Method) == orders.StageCancelled:
		return WasCancelled
	case !o.Status.HasRequisition() || o.Body.Patient == nil:
		return WrongMoment
	}
	return ""
}

// contentRefused says why the content of a report needs a person; it is empty if
// it needs none. Such a report has none of the order's tests, doubtful codes, or
// only text that no program can judge. A later document of an order with final
// values is applied.
func contentRefused(ctx context.Context, tx *store.Tx, o *orders.Order, r networks.Report) (Reason, error) {
	set := r.Results
	if len(set.Results)+len(set.Missing) > 0 {
		known, err := namesOrderedTests(ctx, tx, o, set)
		if err != nil {
			return "", err
		}
		if !known {
			return OtherTests, nil
		}
		return checkCodes(ctx, tx, o, set)
	}
	hasValues := hasValues(o) && o.Status != orders.PartialResults
	switch {
	case r.Status != "" || len(r.Refused) > 0: // the status says it
	case (len(set.PDF) > 0 || len(set.Refused) > 0) && !set.Partial && !hasValues, len(set.PDF)+len(set.Refused) == 0 && len(set.Comments) > 0:
		return NoValues, nil
	}
	return "", nil
}

// apply makes the changes that a report asks for. Missing results are stored
// before the order's step, so that the step's event shows them.
func (s *Service) apply(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) error {
	setCollected, err := collectionChange(ctx, tx, o, a.Report)
	if err != nil {
		return err
	}
	r, continues, err := interpretReport(ctx, tx, o, a.Report)
	if err != nil {
		return err
	}
	if r.Status == string(orders.LabProcessingBlocked) && r.Results != nil {
		set := *r.Results
		set.Partial = true // blocked results may still come, even if the lab marks them as missing
		r.Results = &set
	}
	a.Report = r
	first := r.Results != nil && len(r.Results.Results) == 0 && (continues || orders.Status(r.Status) == orders.RequisitionCreated)
	if first {
		if err := s.takeResults(ctx, tx, o, a); err != nil {
			return err
		}
	}
	moved, err := s.moveOrder(ctx, tx, o, a, setCollected)
	if err != nil {
		return err
	}
	if err := orders.AddNumbers(ctx, tx, o, r.SampleID); err != nil { // the order may have another sample id
		return err
	}
	if continues && moved {
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
	return s.takeResults(ctx, tx, o, a)
}

// takeResults passes the results of a report to their handler.
func (s *Service) takeResults(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival) error {
	if a.Report.Results == nil || s.Handlers.Results == nil {
		return nil
	}
	return s.Handlers.Results.TakeResults(ctx, tx, o, a)
}

// moveOrder moves an order to the status of a report, with the other facts of
// the report, and reports whether the order moved. setCollected sets the time
// of collection; nil when the report has none.
func (s *Service) moveOrder(ctx context.Context, tx *store.Tx, o *orders.Order, a Arrival, setCollected func(o *orders.Order)) (moved bool, err error) {
	r := a.Report
	now, err := labclock.TimeOf(ctx, tx, o.Team)
	if err != nil {
		return false, err
	}
	r.At = notAhead(r.At, now)
	change := moveChange(r, now, setCollected)
	if status := orders.Status(r.Status); slices.Contains(orders.Statuses, status) && !s.followsResults(status, r) {
		by := triggerOf(status)
		if r.Reason != "" && status.Stage(o.Method) == orders.StageCancelled && o.Course().Allows(o.Status, status, by) {
			if err := orders.SetReason(ctx, tx, o, r.Reason); err != nil {
				return false, err
			}
		}
		moved, err = orders.Advance(ctx, tx, o, orders.Move{To: status, By: by, Detail: knownDetail(r.Detail), At: r.At, Key: a.Key, Change: change})
	}
	if err != nil || moved || r.Shipment == nil && setCollected == nil {
		return moved, err
	}
	return false, orders.Amend(ctx, tx, o, sideChange(r, now, setCollected))
}

// followsResults reports whether a status follows from the results of the same
// report. The Results handler makes that move, together with the results.
func (s *Service) followsResults(status orders.Status, r networks.Report) bool {
	ofResults := []orders.Status{orders.PartialResults, orders.Completed, orders.Corrected, orders.RedrawAvailable}
	return s.Handlers.Results != nil && r.Results != nil && slices.Contains(ofResults, status)
}

// triggerOf returns the trigger that may set a status.
func triggerOf(s orders.Status) orders.Trigger {
	switch s {
	case orders.RequisitionCreated:
		return orders.Requisition
	case orders.AppointmentPending, orders.AppointmentScheduled, orders.AppointmentCancelled, orders.DrawCompleted:
		return orders.Appointment
	default:
		return orders.Carrier | orders.Lab
	}
}

// knownDetail returns a status_detail that we know; any other word is dropped.
func knownDetail(word string) orders.Detail {
	if d := orders.Detail(word); slices.Contains(orders.Details, d) {
		return d
	}
	return orders.NoDetail
}

// moveChange returns the changes that go with a move.
func moveChange(r networks.Report, now time.Time, setCollected func(o *orders.Order)) func(o *orders.Order) {
	side := sideChange(r, now, setCollected)
	return func(o *orders.Order) {
		if o.SampleID == "" {
			o.SampleID = r.SampleID
		}
		side(o)
	}
}

// sideChange returns the changes that a report makes whether or not the order
// moves.
func sideChange(r networks.Report, now time.Time, setCollected func(o *orders.Order)) func(o *orders.Order) {
	return func(o *orders.Order) {
		if setCollected != nil {
			setCollected(o)
		}
		if r.Shipment != nil {
			setShipment(o, *r.Shipment, now)
		}
	}
}

// setShipment stores the tracking of a kit's outbound or inbound leg.
func setShipment(o *orders.Order, s networks.Shipment, now time.Time) {
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

// collectionChange returns the change that a report makes to an order's time
// of collection; nil when the report says nothing of it. The Results handler
// reads the times of specimens.
func collectionChange(ctx context.Context, tx *store.Tx, o *orders.Order, r networks.Report) (func(o *orders.Order), error) {
	now, err := labclock.TimeOf(ctx, tx, o.Team)
	if err != nil {
		return nil, err
	}
	states := r.Results == nil && !r.Collected.Time.IsZero() && (resultsRefused(o) == "" || awaitsReceipt(o, now))
	drawn := orders.Status(r.Status) == orders.DrawCompleted && o.Course().Allows(o.Status, orders.DrawCompleted, orders.Appointment)
	if !states && !drawn {
		return nil, nil
	}
	common, worst, err := orders.Turnaround(ctx, tx, o)
	if err != nil {
		return nil, err
	}
	at := drawTime(r, now)
	r.At = notAhead(r.At, now)
	return func(o *orders.Order) {
		if states {
			o.SetStatedCollection(r.Collected, r.At, common, worst)
		}
		if drawn {
			o.SetDrawn(at, common, worst)
		}
	}, nil
}

// notAhead returns a time of the lab or, if it has not come yet, the time now.
func notAhead(at, now time.Time) time.Time {
	if at.After(now.Add(clockAhead)) {
		return now
	}
	return at
}

// clockAhead is by how much the clock of a lab may be ahead of ours.
const clockAhead = 5 * time.Minute

// drawTime returns the time at which a draw was completed: the end of its visit, or
// otherwise the time of the report. It is never in the future.
func drawTime(r networks.Report, now time.Time) time.Time {
	at := r.At
	if r.Visit != nil && !r.Visit.End.IsZero() {
		at = r.Visit.End
	}
	if at.IsZero() || at.After(now) {
		return now
	}
	return at
}
