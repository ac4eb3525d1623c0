package appointments

import (
	"context"
	"errors"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

// How long a caller waits for a provider, and how long a job goes on after a
// caller who does not wait or is there no more. Reference 2.4.
const (
	defaultSyncWait  = 10 * time.Second
	defaultAsyncWait = 48 * time.Hour
	orphanWait       = 15 * time.Minute
	// grace is left to a caller after its wait to write the answer.
	grace = 5 * time.Second
)

// Booking asks for a slot.
//
// Reference 2.4, AppointmentBookingRequest.
type Booking struct {
	Order orders.ID
	Kind  Kind
	Key   string
	Notes string
	// Async answers pending when the provider has not within SyncWait, and goes
	// on until AsyncWait is over. Zero waits mean the defaults.
	Async               bool
	SyncWait, AsyncWait time.Duration
	Began               Began
}

// Began is called in the transaction that writes what the network is to be
// asked, so that a caller who is cut off can resume; nil when nobody will.
type Began func(tx *store.Tx, a *Appointment) error

// Book makes an appointment of a booking key.
func (s *Service) Book(ctx context.Context, who places.Viewer, b Booking) (Document, error) {
	return s.begin(ctx, who, b.Began, func(tx *store.Tx) (*Appointment, error) { return s.book(ctx, tx, who, b) })
}

// Request asks for a visit at a time that provider and patient will agree.
//
// Reference 2.3, RequestAppointmentRequest.
type Request struct {
	Order    orders.ID
	Provider string
	Address  Address
	Notes    string
	Began    Began
}

// RequestVisit makes an appointment without a time.
func (s *Service) RequestVisit(ctx context.Context, who places.Viewer, r Request) (Document, error) {
	return s.begin(ctx, who, r.Began, func(tx *store.Tx) (*Appointment, error) { return s.request(ctx, tx, who, r) })
}

// unfinished is what keeps an order from a new appointment: one whose caller
// never heard how it ended. It is settled first.
type unfinished struct{ id ID }

func (unfinished) Error() string { return "appointments: another appointment must be settled first" }

// begin writes a call and carries it out.
func (s *Service) begin(ctx context.Context, who places.Viewer, began Began, write func(tx *store.Tx) (*Appointment, error)) (Document, error) {
	var a *Appointment
	try := func() error {
		return s.DB.Write(ctx, func(tx *store.Tx) (err error) {
			if a, err = write(tx); err == nil && began != nil {
				err = began(tx, a)
			}
			return err
		})
	}
	err := try()
	if left := (unfinished{}); errors.As(err, &left) {
		if err := s.settle(context.WithoutCancel(ctx), who.Team, left.id); err != nil {
			s.Log.WarnContext(ctx, "settling an appointment that is in the way", "appointment", left.id, "error", err)
			return Document{}, errSilent
		}
		err = try()
	}
	if left := (unfinished{}); errors.As(err, &left) {
		return Document{}, errSilent
	}
	if err != nil {
		return Document{}, err
	}
	return s.carry(ctx, a, a.Body.Call.Until.Sub(a.UpdatedAt)-grace)
}

func (s *Service) book(ctx context.Context, tx *store.Tx, who places.Viewer, b Booking) (*Appointment, error) {
	o, err := orderFor(ctx, tx, who.Team, b.Order, b.Kind)
	if err != nil {
		return nil, err
	}
	settings, err := s.may(ctx, tx, &o)
	if err != nil {
		return nil, err
	}
	t, err := s.open(ctx, tx, &o, b.Kind, b.Key, settings)
	if err != nil {
		return nil, err
	}
	if b.Async && (b.Kind != AtCenter || !settings.AsyncConfirmation) {
		return nil, fault.New(fault.Refused, "async_confirmation is not enabled for this team and kind of appointment").
			At("body", "async_confirmation").WithType("async_confirmation_disabled")
	}
	if err := free(ctx, tx, &o, b.Kind, t.Slot.Provider); err != nil {
		return nil, err
	}
	a := s.draft(tx, &o, b.Kind, t.Slot.Provider, t.Network, b.Notes)
	a.Body.Call = newCall(tx, TakeSlot, t.Slot, b.SyncWait, b.Async, b.AsyncWait)
	if err := s.locate(ctx, tx, who, a, t); err != nil {
		return nil, err
	}
	if err := t.spend(ctx, tx, who.Team, b.Key); err != nil {
		return nil, err
	}
	return a, s.ordered(ctx, tx, a)
}

func (s *Service) request(ctx context.Context, tx *store.Tx, who places.Viewer, r Request) (*Appointment, error) {
	o, err := orderFor(ctx, tx, who.Team, r.Order, Phlebotomy)
	if err != nil {
		return nil, err
	}
	settings, err := s.may(ctx, tx, &o)
	if err != nil {
		return nil, err
	}
	if err := settings.open(""); err != nil {
		return nil, err
	}
	place, err := s.serves(ctx, tx, who, r)
	if err != nil {
		return nil, err
	}
	if err := grown(&o, tx.Now(), place.TimeZone); err != nil {
		return nil, err
	}
	if err := free(ctx, tx, &o, Phlebotomy, r.Provider); err != nil {
		return nil, err
	}
	offering := s.bookers(who.Sandbox)
	if len(offering) == 0 {
		return nil, errSilent
	}
	a := s.draft(tx, &o, Phlebotomy, r.Provider, offering[0], r.Notes)
	a.TimeZone, a.Body.Address, a.Body.Place = place.TimeZone, r.Address, place.Point
	a.Body.Call = newCall(tx, AskVisit, networks.Slot{Provider: r.Provider, Zone: place.TimeZone}, 0, true, 0)
	return a, s.ordered(ctx, tx, a)
}

// serves finds out that a provider takes requests for an address.
func (s *Service) serves(ctx context.Context, tx *store.Tx, who places.Viewer, r Request) (places.Place, error) {
	offers, err := places.Coverage(ctx, tx, who, r.Address.Zip)
	if err != nil {
		return places.Place{}, err
	}
	for _, o := range offers {
		if o.Provider == r.Provider && o.Tier == places.AppointmentRequest {
			place, _ := places.Zip(r.Address.Zip)
			return place, nil
		}
	}
	return places.Place{}, fault.New(fault.NotFound, "The provider takes no appointment requests in this zip_code").At("body", "address", "zip_code").WithType("not_served")
}

// may reads the switches and refuses an order whose state allows nothing.
func (s *Service) may(ctx context.Context, tx *store.Tx, o *orders.Order) (Settings, error) {
	settings, err := SettingsOf(ctx, tx, o.Team)
	if err == nil {
		err = ready(o, settings)
	}
	return settings, err
}

// open reads a booking key and refuses one that does not fit the order.
func (s *Service) open(ctx context.Context, tx *store.Tx, o *orders.Order, k Kind, key string, settings Settings) (ticket, error) {
	t, err := openKey(ctx, tx, o.Team, key)
	if err != nil {
		return t, err
	}
	if err := settings.open(t.Slot.Provider); err != nil {
		return t, err
	}
	if t.Kind != k {
		return t, errOtherKey
	}
	if k == Phlebotomy {
		return t, grown(o, t.Slot.Start, t.Slot.Zone)
	}
	lab, err := labOf(ctx, tx, o)
	if err == nil && lab != t.Slot.Provider {
		err = errOtherKey
	}
	return t, err
}

// free refuses when another appointment is in the way. One that nobody waits
// for any more is settled first.
func free(ctx context.Context, tx *store.Tx, o *orders.Order, k Kind, provider string) error {
	a, err := inTheWay(ctx, tx, o, k, provider)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	case a.Status == Asked && !a.waited(tx.Now()):
		return unfinished{a.ID}
	}
	return errBooked
}

// waited reports that a caller still waits for the appointment's call.
func (a *Appointment) waited(now time.Time) bool {
	c := a.Body.Call
	return c != nil && !c.Abandoned && now.Before(c.Until)
}

// draft is an appointment before it is asked for.
func (s *Service) draft(tx *store.Tx, o *orders.Order, k Kind, provider, network, notes string) *Appointment {
	return &Appointment{
		ID: ids.From[Appointment](tx.NewUUID()), Team: o.Team, User: o.User, Order: o.ID, Kind: k, Provider: provider, Network: network,
		Status: Asked, CreatedAt: tx.Now(), UpdatedAt: tx.Now(), Body: Body{Notes: notes},
	}
}

func newCall(tx *store.Tx, verb Verb, slot networks.Slot, wait time.Duration, async bool, asyncWait time.Duration) *Call {
	if wait == 0 {
		wait = defaultSyncWait
	}
	c := &Call{ID: tx.NewUUID(), Verb: verb, Slot: slot, Until: tx.Now().Add(wait + grace), Async: async}
	c.Deadline = c.Until.Add(orphanWait)
	if async {
		if asyncWait == 0 {
			asyncWait = defaultAsyncWait
		}
		c.Deadline = tx.Now().Add(asyncWait)
	}
	return c
}

// locate gives an appointment the place of its slot.
func (s *Service) locate(ctx context.Context, tx *store.Tx, who places.Viewer, a *Appointment, t ticket) error {
	b := &a.Body
	if a.Kind == Phlebotomy {
		if t.Address == nil {
			return errBadKey
		}
		place, _ := places.Zip(t.Address.Zip)
		a.TimeZone, b.Address, b.Place = t.Slot.Zone, *t.Address, place.Point
		return nil
	}
	site, err := s.Places.Site(ctx, tx, who, t.Slot.Provider, t.Slot.Site)
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Refused, "The site "+short(t.Slot.Site)+" is unknown or inactive").At("body", "booking_key").WithType("site_unknown")
	}
	if err != nil {
		return err
	}
	a.TimeZone, b.Place, b.Site = ZoneOf(who, site), site.Point, site.Code
	b.Address = Address{FirstLine: site.FirstLine, SecondLine: site.SecondLine, City: site.City, State: site.State, Zip: site.ZIP}
	return nil
}

// ordered stores a draft, and asks for the job that carries on should this
// process die.
func (s *Service) ordered(ctx context.Context, tx *store.Tx, a *Appointment) error {
	if err := insert(ctx, tx, a); err != nil {
		return err
	}
	return later(ctx, tx, a, a.Body.Call.Until)
}
