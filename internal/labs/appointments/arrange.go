package appointments

import (
	"context"
	"errors"
	"regexp"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// Arranged is a visit that staff or a partner agreed on with the patient, outside
// of the operations that book visits.
type Arranged struct {
	// Network is the slug of the network that makes the visit.
	Network  string
	Provider string
	// Booking is the provider's own name of the visit.
	Booking    networks.Booking
	Start, End time.Time
	// Site is the code of the service center; visits to patients have none.
	Site  string
	Notes string
}

var providerPattern = regexp.MustCompile(`^[a-z0-9_]{1,40}$`)

// Arrange stores a visit of an order without a live appointment, as scheduled.
func (s *Service) Arrange(ctx context.Context, tx *store.Tx, o *orders.Order, v Arranged) error {
	k, err := kindOf(o)
	if err != nil {
		return err
	}
	settings, err := s.readSettings(ctx, tx, o)
	if err != nil {
		return err
	}
	switch {
	case !providerPattern.MatchString(v.Provider):
		return fault.New(fault.Invalid, "must be lower-case letters, digits and underscores").At("body", "visit", "provider")
	case !v.End.After(v.Start):
		return fault.New(fault.Invalid, "must be after start_at").At("body", "visit", "end_at")
	}
	if err := settings.checkAllowed(v.Provider); err != nil {
		return err
	}
	if err := requireFree(ctx, tx, o, k, v.Provider); err != nil {
		if errors.As(err, new(unsettledError)) {
			err = errBooked
		}
		return err
	}
	a, err := s.draft(ctx, tx, o, k, v.Provider, v.Network, v.Notes)
	if err != nil {
		return err
	}
	if err := s.setArrangedPlace(ctx, tx, a, o, v.Site); err != nil {
		return err
	}
	if k == Phlebotomy {
		if err := checkAge(o, v.Start, a.TimeZone); err != nil {
			return err
		}
	}
	a.Body.Booking, a.Body.Confirmed = v.Booking, true
	slot := networks.Slot{Provider: v.Provider, Site: v.Site, Zone: a.TimeZone, Start: v.Start.UTC(), End: v.End.UTC()}
	a.Body.Booking.Slot = slot
	if err := insert(ctx, tx, a); err != nil {
		return err
	}
	return s.showBooked(ctx, tx, a, o, Call{Slot: slot})
}

// kindOf returns the kind of an order's appointments.
func kindOf(o *orders.Order) (Kind, error) {
	for k, method := range methodOf {
		if o.Method == method {
			return k, nil
		}
	}
	return "", fault.Newf(fault.Refused, "A %s order has no visits", o.Method).At("body", "visit")
}

// setArrangedPlace sets the place of a visit: a service center of the order's lab,
// or the patient's address, with the zone of its ZIP code.
func (s *Service) setArrangedPlace(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, site string) error {
	if a.Kind == AtCenter {
		lab, err := labOf(ctx, tx, o)
		if err != nil {
			return err
		}
		found, err := s.Places.Site(ctx, tx, places.Viewer{Team: o.Team}, lab, site)
		if fault.Is(err, fault.NotFound) {
			return fault.New(fault.Refused, "visit.site must be the code of an active service center of the lab").At("body", "visit", "site").WithType("site_unknown")
		}
		if err != nil {
			return err
		}
		a.TimeZone, a.Body.Place, a.Body.Site = found.TimeZone, found.Point, found.Code
		a.Body.Address = Address{FirstLine: found.FirstLine, SecondLine: found.SecondLine, City: found.City, State: found.State, Zip: found.ZIP}
		return nil
	}
	home := o.Body.Address
	if home == nil {
		return fault.New(fault.Refused, "The order has no address").At("body", "visit")
	}
	place, _ := places.Zip(home.Zip)
	a.TimeZone, a.Body.Place = zoneOr(place.TimeZone, "UTC"), place.Point
	a.Body.Address = Address{FirstLine: home.FirstLine, SecondLine: home.SecondLine, City: home.City, State: home.State, Zip: home.Zip, AccessNotes: home.AccessNotes}
	return nil
}

// CheckReport refuses a report about a visit that would change nothing: the order
// has no appointment for it, or the appointment cannot move there. live is the
// live appointment, also of a refused move; nil when there is none.
func CheckReport(ctx context.Context, tx *store.Tx, o *orders.Order, to Status) (live *Appointment, err error) {
	if _, err := kindOf(o); err != nil {
		return nil, err
	}
	a, err := liveAppointment(ctx, tx, o)
	switch {
	case err == nil && a.Status == Asked:
		return nil, fault.New(fault.Conflict, "The appointment is being booked")
	case err == nil && a.Status != to && !a.Kind.Allows(a.Status, to):
		return &a, fault.Newf(fault.Refused, "A %s appointment cannot become %s", a.Status, to).At("body", "visit", "status")
	case err == nil:
		return &a, nil
	case !fault.Is(err, fault.NotFound):
		return nil, err
	case to == Scheduled:
		return nil, nil
	}
	return nil, fault.New(fault.Refused, "The order has no appointment: schedule it first").At("body", "visit", "status")
}
