package appointments

import (
	"context"
	"time"

	"hale/internal/labs/inbox"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

var _ inbox.Visits = (*Service)(nil)

// TakeVisit follows what a network says of an appointment. What comes late or
// twice changes nothing.
func (s *Service) TakeVisit(ctx context.Context, tx *store.Tx, o *orders.Order, r inbox.Arrival) error {
	v := *r.Report.Visit
	a, err := current(ctx, tx, o)
	switch {
	case fault.Is(err, fault.NotFound):
		return s.unbooked(ctx, tx, o, r)
	case err != nil:
		return err
	case a.Status == Asked: // our own transaction is still to come
		a.Body.Early = &v
		return save(ctx, tx, &a)
	case v.BookingID != "" && a.Body.Booking.ID != "" && v.BookingID != a.Body.Booking.ID:
		return nil // of one that was given back
	}
	to, ok := follows(a.Kind, statusOf(v.Status))
	return heard(ctx, tx, &a, o, v, ok && string(to) == r.Report.Status)
}

// unbooked moves the order alone, after a visit that was not arranged through
// us.
func (s *Service) unbooked(ctx context.Context, tx *store.Tx, o *orders.Order, r inbox.Arrival) error {
	k := AtCenter
	if o.Method == methodOf[Phlebotomy] {
		k = Phlebotomy
	}
	to, moves := follows(k, statusOf(r.Report.Visit.Status))
	moves = moves && o.Status != to && string(to) != r.Report.Status
	drawn := statusOf(r.Report.Visit.Status) == Completed && o.Status.Stage(o.Method) != orders.StageCancelled
	if !moves && !drawn || !o.Status.HasRequisition() {
		return nil
	}
	if a, err := Latest(ctx, tx, o); err == nil && (r.Report.Visit.BookingID == "" || a.Body.Booking.ID == r.Report.Visit.BookingID) {
		return nil // one of ours that has ended
	} else if err != nil && !gone(err) {
		return err
	}
	m := orders.Move{To: to, By: orders.Appointment, At: r.Report.At, Key: r.Key + ":visit"}
	if drawn {
		common, worst, err := orders.Turnaround(ctx, tx, o)
		if err != nil {
			return err
		}
		at := ended(*r.Report.Visit, tx.Now())
		m.Change = func(o *orders.Order) { o.Drawn(at, common, worst) }
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

// ended is when a visit that was completed came to its end; now when that is not
// said or lies ahead.
func ended(v networks.Visit, now time.Time) time.Time {
	if v.End.IsZero() || v.End.After(now) {
		return now
	}
	return v.End
}

// statusOf reads a network's word: the contract has both scheduled and
// confirmed for it.
func statusOf(word string) Status {
	if word == Scheduled.Word() {
		return Scheduled
	}
	return Status(word)
}

// heard makes the step that a network speaks of; alone when the same report
// has moved the order already.
func heard(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, v networks.Visit, alone bool) error {
	s := step{to: statusOf(v.Status), data: map[string]any{"origin": byProvider}, alone: alone}
	switch s.to {
	case Asked, Pending:
		return nil
	case Reserved, Scheduled:
		return arranged(ctx, tx, a, o, v, s)
	case Cancelled: // the slot is gone; another one that was being booked is not wanted any more
		s.change = func(a *Appointment) {
			if a.Body.Call != nil {
				a.Body.Call.Abandoned = true
			}
		}
	case InProgress:
	case Completed:
		s.at = ended(v, tx.Now())
	}
	_, err := advance(ctx, tx, a, o, s)
	return err
}

// arranged is a time that the provider gave or confirmed.
func arranged(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, v networks.Visit, s step) error {
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
	case early(o) && a.Status == Reserved && same, a.Status == Scheduled && same:
		timed(a)
		return save(ctx, tx, a)
	case early(o) && a.Status == Reserved:
		timed(a)
		if err := save(ctx, tx, a); err != nil {
			return err
		}
		return lapseLater(ctx, tx, a, o)
	case early(o):
		s.to = Reserved
		if _, err := advance(ctx, tx, a, o, s); err != nil {
			return err
		}
		return lapseLater(ctx, tx, a, o)
	case fixed(a.Provider) && statusOf(v.Status) == Reserved:
		return nil
	case a.Status == Scheduled:
		s.data["is_reschedule"] = true
	}
	_, err := advance(ctx, tx, a, o, s)
	return err
}
