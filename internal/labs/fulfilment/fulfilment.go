// Package fulfilment records the steps of real orders that no laboratory reports:
// kits that are packed and carried, and visits to patients. Staff of the team
// enter them, or a partner posts them signed; docs/fulfilment.md describes both.
//
// A report is stored in the inbox and applied in one transaction. Orders of the
// simulated laboratory have no such reports: it plays these steps itself.
package fulfilment

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"hale/internal/labs/appointments"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/inbox"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/partners"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// Service records reports.
type Service struct {
	Inbox    *inbox.Service
	Visits   *appointments.Service
	Partners *partners.Network
}

// Report is a report about one order. At least one of SampleID, Status, Shipment
// and Visit is set.
type Report struct {
	// Key names the report. A second report with the same key changes nothing.
	Key string
	// At is the time of the step; zero means now.
	At time.Time
	// SampleID is the number on a kit that the warehouse labelled.
	SampleID string
	// Status is the status of a kit that a carrier observes.
	Status   orders.Status
	Shipment *networks.Shipment
	Visit    *Visit
	// Raw is the report as it arrived.
	Raw []byte
}

// Visit is a visit that was arranged, or its progress.
type Visit struct {
	Status     appointments.Status
	Provider   string
	BookingID  string
	ExternalID string
	Start, End time.Time
	// Site is the code of the service center of a new visit.
	Site  string
	Notes string
}

// KitStatuses are the statuses that a report may set.
var KitStatuses = []orders.Status{
	orders.TransitCustomer, orders.OutForDelivery, orders.WithCustomer, orders.ProblemInTransitCustomer, orders.FailureToDeliverToCustomer,
	orders.TransitLab, orders.ProblemInTransitLab, orders.FailureToDeliverToLab, orders.DeliveredToLab, orders.Lost,
}

// VisitStatuses are the statuses of a visit that a report may set.
var VisitStatuses = []appointments.Status{appointments.Scheduled, appointments.InProgress, appointments.Completed, appointments.Cancelled}

// maxAhead bounds the time of a step in the future: clocks differ.
const maxAhead = 5 * time.Minute

// Record records a report of the team's staff. A step that the order does not
// allow is refused.
func (s *Service) Record(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID, r Report) (orders.Order, error) {
	o, err := orders.Get(ctx, tx, team, id)
	if err != nil {
		return orders.Order{}, err
	}
	if err := r.check(&o, tx.Now()); err != nil {
		return orders.Order{}, err
	}
	if o.Status.Terminal() {
		return orders.Order{}, fault.Newf(fault.Refused, "An order that is %s has no more steps", o.Status).WithType("order_state")
	}
	if r.Status != "" && r.Status != o.Status && !o.Course().Allows(o.Status, r.Status, orders.Carrier) {
		return orders.Order{}, fault.Newf(fault.Refused, "A %s order cannot become %s", o.Status, r.Status).At("body", "status").WithType("order_state")
	}
	if r.Visit != nil {
		if _, err := appointments.CheckReport(ctx, tx, &o, r.Visit.Status); err != nil {
			return orders.Order{}, err
		}
	}
	return o, s.apply(ctx, tx, &o, r, "staff")
}

// RecordFrom records a report of a partner, whose signature is verified. Scans
// arrive late and twice, so a step that the order does not allow is stored and
// changes nothing.
func (s *Service) RecordFrom(ctx context.Context, tx *store.Tx, partner string, id orders.ID, r Report) error {
	o, err := orders.Find(ctx, tx, id)
	if err != nil {
		return err
	}
	stale, err := s.checkPartner(ctx, tx, partner, &o, r)
	if err == nil {
		err = r.check(&o, tx.Now())
	}
	if err != nil {
		return err
	}
	if stale {
		r.Visit = nil
	}
	return s.apply(ctx, tx, &o, r, partner)
}

// errForeign hides whether an order exists from a partner that does not serve it.
var errForeign = fault.New(fault.NotFound, "Order doesn't exist")

// checkPartner refuses a partner that neither ships the order's kit nor makes its
// visits. stale reports a step that the visit cannot make any more.
func (s *Service) checkPartner(ctx context.Context, tx *store.Tx, partner string, o *orders.Order, r Report) (stale bool, err error) {
	if r.Visit != nil {
		provider := r.Visit.Provider
		live, err := appointments.CheckReport(ctx, tx, o, r.Visit.Status)
		if err != nil && !fault.Is(err, fault.Refused) {
			return false, err
		}
		if live != nil {
			provider = live.Provider
			if live.Network != partners.Slug || r.Visit.BookingID != live.Body.Booking.ID {
				return false, errForeign
			}
		}
		if s.Partners.ForVisits(provider) != partner {
			return false, errForeign
		}
		stale = live != nil && err != nil
	}
	if r.Status != "" || r.Shipment != nil || r.SampleID != "" {
		offered, err := catalogue.Load(ctx, tx, o.Team)
		if err != nil {
			return false, err
		}
		lab, _ := offered.Lab(o.Lab)
		if s.Partners.ForKits(lab.Slug) != partner {
			return false, errForeign
		}
	}
	return stale, nil
}

// check refuses a report that has no meaning for an order.
func (r *Report) check(o *orders.Order, now time.Time) error {
	refuse := func(field, text string) error { return fault.New(fault.Refused, text).At("body", field) }
	invalid := func(field, text string) error { return fault.New(fault.Invalid, text).At("body", field) }
	kit := r.SampleID != "" || r.Status != "" || r.Shipment != nil
	switch {
	case !kit && r.Visit == nil:
		return fault.New(fault.Invalid, "needs sample_id, status, shipment or visit").At("body")
	case o.Network == orders.SandboxNetwork:
		return fault.New(fault.Refused, "The sandbox plays the steps of this order: advance its clock").WithType("order_in_sandbox")
	case kit && o.Method != catalogue.TestKit:
		return refuse("status", "Only orders of test kits have sample_id, status and shipment")
	case r.Status != "" && !slices.Contains(KitStatuses, r.Status):
		return invalid("status", "is not a status of a carrier")
	case r.At.After(now.Add(maxAhead)):
		return invalid("at", "must not be in the future")
	}
	if v := r.Visit; v != nil {
		switch {
		case !slices.Contains(VisitStatuses, v.Status):
			return invalid("visit", "has no such status")
		case v.Status == appointments.Scheduled && v.Start.IsZero():
			return invalid("visit", "needs start_at")
		case !v.End.IsZero() && !v.End.After(v.Start):
			return invalid("visit", "must end after it starts")
		}
	}
	return nil
}

// apply stores a report, and changes order and appointment.
func (s *Service) apply(ctx context.Context, tx *store.Tx, o *orders.Order, r Report, from string) error {
	if r.SampleID != "" && r.SampleID != o.SampleID {
		if err := setKitNumber(ctx, tx, o, r.SampleID); err != nil {
			return err
		}
	}
	at := r.At
	if at.IsZero() {
		at = tx.Now()
	}
	report := networks.Report{Placer: o.ID.String(), At: at.UTC(), Status: string(r.Status), Shipment: r.Shipment}
	if v := r.Visit; v != nil {
		arranged, err := s.arrange(ctx, tx, o, *v, from)
		if err != nil {
			return err
		}
		if !arranged {
			report.Visit = &networks.Visit{Status: string(v.Status), Start: v.Start, End: v.End}
		}
	}
	return s.Inbox.TakeAnswer(ctx, tx, o, networks.Message{
		Network: partners.Slug, Key: from + ":" + o.ID.String() + ":" + r.Key, Raw: r.Raw, Reports: []networks.Report{report},
	})
}

// arrange stores a new visit, when the order has no live one.
func (s *Service) arrange(ctx context.Context, tx *store.Tx, o *orders.Order, v Visit, from string) (bool, error) {
	if v.Status != appointments.Scheduled {
		return false, nil
	}
	live, err := appointments.CheckReport(ctx, tx, o, v.Status)
	if err != nil || live != nil {
		return false, err
	}
	booking := networks.Booking{Provider: v.Provider, ID: v.BookingID, ExternalID: v.ExternalID}
	if booking.ID == "" {
		booking.ID = "staff:" + tx.NewUUID().String()
	}
	end := v.End
	if end.IsZero() {
		end = v.Start.Add(time.Hour)
	}
	return true, s.Visits.Arrange(ctx, tx, o, appointments.Arranged{
		Network: partners.Slug, Provider: v.Provider, Booking: booking, Start: v.Start, End: end, Site: v.Site, Notes: v.Notes,
	})
}

// maxKitNumber bounds the characters of the number on a kit.
const maxKitNumber = 50

// setKitNumber sets the number on a kit before its registration. A number of
// another order of the team is refused: its results would be uncertain.
func setKitNumber(ctx context.Context, tx *store.Tx, o *orders.Order, number string) error {
	number = strings.ToUpper(strings.TrimSpace(number))
	refuse := func(text string) error {
		return fault.New(fault.Refused, text).At("body", "sample_id").WithType("sample_id")
	}
	switch {
	case number == o.SampleID:
		return nil
	case number == "" || len(number) > maxKitNumber || strings.ContainsFunc(number, isNoKitLetter):
		return fault.Newf(fault.Invalid, "must be 1 to %d letters, digits and dashes", maxKitNumber).At("body", "sample_id")
	case !o.Registrable || o.Body.Patient != nil:
		return refuse("sample_id is fixed: the laboratory has the number of this order")
	}
	others, err := orders.FindBySample(ctx, tx, number)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.Team == o.Team && other.ID != o.ID {
			return fault.New(fault.Conflict, "Another order has this sample_id").At("body", "sample_id").WithType("sample_id_taken")
		}
	}
	return orders.Amend(ctx, tx, o, func(o *orders.Order) { o.SampleID = number })
}

func isNoKitLetter(r rune) bool {
	return !(r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-')
}

// Verify checks the signature of a partner's report.
func (s *Service) Verify(partner, id, timestamp, signature string, body []byte) error {
	if s.Partners == nil {
		return errors.New("fulfilment: no partners")
	}
	return s.Partners.Verify(partner, id, timestamp, signature, body)
}
