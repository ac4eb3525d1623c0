package appointments

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/labclock"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// A caller waits this long for a provider. The job continues this long after a
// caller that does not wait or has disconnected. Reference 2.4.
const (
	defaultSyncWait  = 10 * time.Second
	defaultAsyncWait = 48 * time.Hour
	abandonedWait    = 15 * time.Minute
	// answerTime is left to a caller after its wait to write the answer.
	answerTime = 5 * time.Second
)

// Booking asks for a slot.
//
// Reference 2.4, AppointmentBookingRequest.
type Booking struct {
	Order orders.ID
	Kind  Kind
	Key   string
	Notes string
	// Async answers pending when the provider has not answered within
	// SyncWait, and continues until AsyncWait is over. Zero waits mean the
	// defaults.
	Async               bool
	SyncWait, AsyncWait time.Duration
	OnStored            OnStored
}

// OnStored runs in the transaction that stores the call, so that a caller that
// was cut off can resume; nil for callers that cannot resume.
type OnStored func(tx *store.Tx, a *Appointment) error

// Book creates an appointment from a booking key.
func (s *Service) Book(ctx context.Context, who places.Viewer, b Booking) (Document, error) {
	return s.callNetwork(ctx, who, b.OnStored, func(tx *store.Tx) (*Appointment, error) { return s.book(ctx, tx, who, b) })
}

// Request asks for a visit at a time that provider and patient will agree on.
//
// Reference 2.3, RequestAppointmentRequest.
type Request struct {
	Order    orders.ID
	Provider string
	Address  Address
	Notes    string
	OnStored OnStored
}

// RequestVisit creates an appointment without a time.
func (s *Service) RequestVisit(ctx context.Context, who places.Viewer, r Request) (Document, error) {
	return s.callNetwork(ctx, who, r.OnStored, func(tx *store.Tx) (*Appointment, error) { return s.request(ctx, tx, who, r) })
}

// unsettledError reports an appointment without a known outcome that blocks a
// new one. It is settled first.
type unsettledError struct{ id ID }

func (unsettledError) Error() string {
	return "appointments: another appointment must be settled first"
}

// callNetwork stores a call and carries it out.
func (s *Service) callNetwork(ctx context.Context, who places.Viewer, began OnStored, write func(tx *store.Tx) (*Appointment, error)) (Document, error) {
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
	if unsettled := (unsettledError{}); errors.As(err, &unsettled) {
		if err := s.settle(context.WithoutCancel(ctx), who.Team, unsettled.id); err != nil {
			s.Log.WarnContext(ctx, "an appointment that blocks a new one cannot be settled", "appointment", unsettled.id, "error", err)
			return Document{}, errNoAnswer
		}
		err = try()
	}
	if unsettled := (unsettledError{}); errors.As(err, &unsettled) {
		return Document{}, errNoAnswer
	}
	if err != nil {
		return Document{}, err
	}
	return s.askAndStore(ctx, a, a.Body.Call.Until.Sub(s.DB.Now())-answerTime)
}

func (s *Service) book(ctx context.Context, tx *store.Tx, who places.Viewer, b Booking) (*Appointment, error) {
	o, err := orderFor(ctx, tx, who.Team, b.Order, b.Kind)
	if err != nil {
		return nil, err
	}
	settings, err := s.readSettings(ctx, tx, &o)
	if err != nil {
		return nil, err
	}
	t, err := s.openBookingKey(ctx, tx, &o, b.Kind, b.Key, settings)
	if err != nil {
		return nil, err
	}
	if b.Async && (b.Kind != AtCenter || !settings.AsyncConfirmation) {
		return nil, fault.New(fault.Refused, "async_confirmation is not enabled for this team and kind of appointment").
			At("body", "async_confirmation").WithType("async_confirmation_disabled")
	}
	if err := requireFree(ctx, tx, &o, b.Kind, t.Slot.Provider); err != nil {
		return nil, err
	}
	a, err := s.draft(ctx, tx, &o, b.Kind, t.Slot.Provider, t.Network, b.Notes)
	if err != nil {
		return nil, err
	}
	a.Body.Call = newCall(tx, TakeSlot, t.Slot, b.SyncWait, b.Async, b.AsyncWait)
	if err := s.setPlace(ctx, tx, who, a, &o, t); err != nil {
		return nil, err
	}
	if err := t.use(ctx, tx, who.Team, b.Key); err != nil {
		return nil, err
	}
	return a, s.storeDraft(ctx, tx, a)
}

func (s *Service) request(ctx context.Context, tx *store.Tx, who places.Viewer, r Request) (*Appointment, error) {
	o, err := orderFor(ctx, tx, who.Team, r.Order, Phlebotomy)
	if err != nil {
		return nil, err
	}
	settings, err := s.readSettings(ctx, tx, &o)
	if err != nil {
		return nil, err
	}
	if err := settings.checkAllowed(""); err != nil {
		return nil, err
	}
	if err := r.Address.check("address"); err != nil {
		return nil, err
	}
	place, err := s.checkCoverage(ctx, tx, who, r)
	if err != nil {
		return nil, err
	}
	now, err := labclock.TimeOf(ctx, tx, who.Team)
	if err != nil {
		return nil, err
	}
	if err := checkAge(&o, now, place.TimeZone); err != nil {
		return nil, err
	}
	if err := requireFree(ctx, tx, &o, Phlebotomy, r.Provider); err != nil {
		return nil, err
	}
	offering := s.bookers(who.Sandbox)
	if len(offering) == 0 {
		return nil, errNoAnswer
	}
	a, err := s.draft(ctx, tx, &o, Phlebotomy, r.Provider, offering[0], r.Notes)
	if err != nil {
		return nil, err
	}
	a.TimeZone, a.Body.Address, a.Body.Place = place.TimeZone, r.Address.withNotesOf(&o), place.Point
	a.Body.Call = newCall(tx, AskVisit, networks.Slot{Provider: r.Provider, Zone: place.TimeZone}, 0, true, 0)
	return a, s.storeDraft(ctx, tx, a)
}

// withNotesOf returns the address with the access notes of the order's address,
// if it has none and is in the same ZIP code. In another ZIP code the notes
// describe another place.
func (a Address) withNotesOf(o *orders.Order) Address {
	home := o.Body.Address
	if a.AccessNotes == "" && home != nil && strings.HasPrefix(home.Zip, a.Zip[:min(len(a.Zip), 5)]) {
		a.AccessNotes = home.AccessNotes
	}
	return a
}

// check refuses an address whose ZIP code is in another state.
func (a Address) check(at ...string) error {
	if state := strings.ToUpper(strings.TrimSpace(a.State)); len(state) == 2 && !places.IsInState(a.Zip, state) {
		return fault.New(fault.Refused, "The zip code is in another state: "+strings.Join(append(at, "zip_code"), ".")).At(append(append([]string{"body"}, at...), "zip_code")...).WithType("zip_state")
	}
	return nil
}

// checkCoverage checks that a provider accepts requests for an address.
func (s *Service) checkCoverage(ctx context.Context, tx *store.Tx, who places.Viewer, r Request) (places.Place, error) {
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

// readSettings reads the settings and refuses an order whose state allows no
// appointment.
func (s *Service) readSettings(ctx context.Context, tx *store.Tx, o *orders.Order) (Settings, error) {
	settings, err := SettingsOf(ctx, tx, o.Team)
	if err == nil {
		err = checkOrder(o, settings)
	}
	if err == nil {
		err = orders.RefuseHeld(ctx, tx, o)
	}
	return settings, err
}

// openBookingKey opens a booking key and refuses one that does not fit the
// order.
func (s *Service) openBookingKey(ctx context.Context, tx *store.Tx, o *orders.Order, k Kind, key string, settings Settings) (bookingKey, error) {
	t, err := openKey(ctx, tx, o.Team, key)
	if err != nil {
		return t, err
	}
	now, err := labclock.TimeOf(ctx, tx, o.Team)
	if err != nil {
		return t, err
	}
	if !t.Slot.Start.After(now) {
		return t, errKeyExpired
	}
	if err := settings.checkAllowed(t.Slot.Provider); err != nil {
		return t, err
	}
	if t.Kind != k {
		return t, errOtherKey
	}
	if k == Phlebotomy {
		return t, checkAge(o, t.Slot.Start, t.Slot.Zone)
	}
	lab, err := labOf(ctx, tx, o)
	if err == nil && lab != t.Slot.Provider {
		err = errOtherKey
	}
	return t, err
}

// requireFree refuses when another appointment blocks a new one. An
// appointment that no caller waits for is settled first.
func requireFree(ctx context.Context, tx *store.Tx, o *orders.Order, k Kind, provider string) error {
	a, err := conflictingAppointment(ctx, tx, o, k, provider)
	switch {
	case fault.Is(err, fault.NotFound):
		return nil
	case err != nil:
		return err
	case a.Status == Asked && !a.callerWaits(tx.Now()):
		return unsettledError{a.ID}
	}
	return errBooked
}

// callerWaits reports that a caller still waits for the appointment's call.
func (a *Appointment) callerWaits(now time.Time) bool {
	c := a.Body.Call
	return c != nil && !c.Abandoned && now.Before(c.Until)
}

// draft returns an appointment before its call.
func (s *Service) draft(ctx context.Context, tx *store.Tx, o *orders.Order, k Kind, provider, network, notes string) (*Appointment, error) {
	now, err := labclock.TimeOf(ctx, tx, o.Team)
	return &Appointment{
		ID: ids.FromUUID[Appointment](tx.NewUUID()), Team: o.Team, User: o.User, Order: o.ID, Kind: k, Provider: provider, Network: network,
		Status: Asked, CreatedAt: now, UpdatedAt: now, Body: Body{Notes: notes},
	}, err
}

func newCall(tx *store.Tx, verb Verb, slot networks.Slot, wait time.Duration, async bool, asyncWait time.Duration) *Call {
	if wait == 0 {
		wait = defaultSyncWait
	}
	c := &Call{ID: tx.NewUUID(), Verb: verb, Slot: slot, Until: tx.Now().Add(wait + answerTime), Async: async}
	c.Deadline = c.Until.Add(abandonedWait)
	if async {
		if asyncWait == 0 {
			asyncWait = defaultAsyncWait
		}
		c.Deadline = tx.Now().Add(asyncWait)
	}
	return c
}

// setPlace sets the place of an appointment's slot.
func (s *Service) setPlace(ctx context.Context, tx *store.Tx, who places.Viewer, a *Appointment, o *orders.Order, t bookingKey) error {
	b := &a.Body
	if a.Kind == Phlebotomy {
		if t.Address == nil {
			return errBadKey
		}
		place, _ := places.Zip(t.Address.Zip)
		a.TimeZone, b.Address, b.Place = t.Slot.Zone, t.Address.withNotesOf(o), place.Point
		return nil
	}
	site, err := s.Places.Site(ctx, tx, who, t.Slot.Provider, t.Slot.Site)
	if fault.Is(err, fault.NotFound) {
		return fault.New(fault.Refused, "The site "+shorten(t.Slot.Site)+" is unknown or inactive").At("body", "booking_key").WithType("site_unknown")
	}
	if err != nil {
		return err
	}
	a.TimeZone, b.Place, b.Site = ZoneOf(who, site), site.Point, site.Code
	b.Address = Address{FirstLine: site.FirstLine, SecondLine: site.SecondLine, City: site.City, State: site.State, Zip: site.ZIP}
	return nil
}

// storeDraft stores a draft, and enqueues the job that continues if this
// process dies.
func (s *Service) storeDraft(ctx context.Context, tx *store.Tx, a *Appointment) error {
	if err := insert(ctx, tx, a); err != nil {
		return err
	}
	return settleLater(ctx, tx, a, a.Body.Call.Until)
}

// Get returns the newest appointment of an order: the live one, or otherwise the last one
// that ended.
func Get(ctx context.Context, tx *store.Tx, team teams.ID, order orders.ID, k Kind) (Document, error) {
	o, err := orderFor(ctx, tx, team, order, k)
	if err != nil {
		return Document{}, err
	}
	a, err := GetLatest(ctx, tx, &o)
	if err != nil {
		return Document{}, err
	}
	return document(ctx, tx, &a, &o)
}

// Change asks for another slot.
//
// Reference 2.4, AppointmentRescheduleRequest.
type Change struct {
	Order orders.ID
	Kind  Kind
	Key   string
	Notes *string // nil keeps them
}

// Reschedule books another slot and releases the old one.
func (s *Service) Reschedule(ctx context.Context, who places.Viewer, c Change) (Document, error) {
	return s.callNetwork(ctx, who, nil, func(tx *store.Tx) (*Appointment, error) { return s.reschedule(ctx, tx, who, c) })
}

func (s *Service) reschedule(ctx context.Context, tx *store.Tx, who places.Viewer, c Change) (*Appointment, error) {
	o, err := orderFor(ctx, tx, who.Team, c.Order, c.Kind)
	if err != nil {
		return nil, err
	}
	a, err := liveAppointment(ctx, tx, &o)
	switch {
	case err != nil:
		return nil, err
	case a.Status == Asked:
		return nil, errNotFound
	case !a.CanReschedule():
		return nil, fault.Newf(fault.Refused, "A %s appointment with %s cannot be rescheduled; cancel it and book again", a.Status, a.Provider).WithType("not_reschedulable")
	case a.Body.Call != nil && a.callerWaits(tx.Now()):
		return nil, fault.New(fault.Conflict, "The appointment is being rescheduled")
	case a.Body.Call != nil:
		return nil, unsettledError{a.ID}
	}
	settings, err := SettingsOf(ctx, tx, who.Team)
	if err != nil {
		return nil, err
	}
	t, err := s.openBookingKey(ctx, tx, &o, c.Kind, c.Key, settings)
	if err != nil {
		return nil, err
	}
	if t.Slot.Provider != a.Provider || t.Network != a.Network {
		return nil, errOtherKey
	}
	if err := t.use(ctx, tx, who.Team, c.Key); err != nil {
		return nil, err
	}
	moved := a // with the new place
	if err := s.setPlace(ctx, tx, who, &moved, &o, t); err != nil {
		return nil, err
	}
	a.Body.Call = newCall(tx, ChangeSlot, t.Slot, 0, false, 0)
	a.Body.Call.Notes = c.Notes
	a.Body.Call.To = &Destination{moved.Body.Address, moved.Body.Place, moved.Body.Site}
	if err := save(ctx, tx, &a); err != nil {
		return nil, err
	}
	return &a, settleLater(ctx, tx, &a, a.Body.Call.Until)
}

// Cancellation ends an appointment.
//
// Reference 2.6.
type Cancellation struct {
	Order  orders.ID
	Kind   Kind
	Reason uuid.UUID
	Notes  string
	// ReasonField and NotesField are the names of the fields in the caller's
	// body.
	ReasonField, NotesField string
}

// refundNotice is the time before a visit until which cancelling it is free.
const refundNotice = 24 * time.Hour

// Cancel ends an appointment. A job informs the network. An appointment that
// is cancelled already is returned as it is.
//
// Reference 2.7: clients must treat that as done.
func Cancel(ctx context.Context, tx *store.Tx, team teams.ID, c Cancellation) (Document, error) {
	o, err := orderFor(ctx, tx, team, c.Order, c.Kind)
	if err != nil {
		return Document{}, err
	}
	a, err := GetLatest(ctx, tx, &o)
	if err != nil {
		return Document{}, err
	}
	reason, known := reasonOf(c.Kind, c.Reason)
	switch {
	case a.Status == Cancelled:
		return document(ctx, tx, &a, &o)
	case !known:
		return Document{}, fault.Newf(fault.Refused, "%s is not one of the cancellation reasons", c.ReasonField).At("body", c.ReasonField).WithType("reason_unknown")
	case c.Kind == Phlebotomy && reason.Name == otherReason && c.Notes == "":
		return Document{}, fault.Newf(fault.Invalid, "%s must be given with the reason Other", c.NotesField).At("body", c.NotesField).WithType("missing")
	case confirmsLater(a.Provider) || a.Status == InProgress || a.Status == Completed:
		return Document{}, fault.Newf(fault.Refused, "A %s appointment with %s cannot be cancelled", a.Status, a.Provider).WithType("not_cancellable")
	}
	now, err := labclock.TimeOf(ctx, tx, team)
	if err != nil {
		return Document{}, err
	}
	refund := reason.Refundable && (a.Start == nil || a.Start.Sub(now) > refundNotice)
	data := map[string]any{"origin": byPatient, "cancellation_reason": reason.Name}
	if c.Kind == Phlebotomy {
		data["is_refundable"] = refund
	}
	_, err = cancel(ctx, tx, &a, &o, move{to: Cancelled, data: data, change: func(a *Appointment) { a.ReasonID, a.Body.Canceled = &reason.ID, c.Notes }})
	if err != nil {
		return Document{}, err
	}
	return document(ctx, tx, &a, &o)
}

// cancel cancels an appointment and releases its slot.
func cancel(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, s move) (bool, error) {
	note := s.change
	s.change = func(a *Appointment) {
		if note != nil {
			note(a)
		}
		a.abandon()
	}
	moved, err := advance(ctx, tx, a, o, s)
	if err != nil || !moved || a.idle() {
		return moved, err
	}
	return true, settleLater(ctx, tx, a, tx.Now())
}

// adultAge is the lowest age of a patient for a phlebotomist's visit.
const adultAge = 18

// methodOf maps a kind to its collection method.
var methodOf = map[Kind]orders.Method{Phlebotomy: catalogue.AtHome, AtCenter: catalogue.WalkIn}

var errBooked = fault.New(fault.Refused, "This order, or this patient with the same provider, has an appointment already").WithType("appointment_exists")

// orderFor reads an order with the collection method of a kind. An order with
// another method is not found.
//
// Reference 2.7.
func orderFor(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID, k Kind) (orders.Order, error) {
	o, err := orders.Get(ctx, tx, team, id)
	if err == nil && o.Method != methodOf[k] {
		err = fault.Newf(fault.NotFound, "This order is not a %s order", methodOf[k])
	}
	return o, err
}

// awaitsRequisition reports that the order has no requisition yet, and may get
// one.
func awaitsRequisition(o *orders.Order) bool { return o.Status == orders.Ordered }

// checkOrder refuses an order whose state allows no appointment.
func checkOrder(o *orders.Order, s Settings) error {
	switch {
	case awaitsRequisition(o) && s.BeforeRequisition:
		return nil
	case !o.Status.HasRequisition():
		return fault.Newf(fault.Refused, "The order has no requisition yet: it is %s", o.Status).WithType("requisition_missing")
	case !o.Course().Allows(o.Status, orders.AppointmentScheduled, orders.Appointment):
		return fault.Newf(fault.Refused, "An order that is %s can have no appointment", o.Status).WithType("order_state")
	}
	return nil
}

// checkAge refuses a patient who is under age on the day of a visit, in the
// zone of its place.
func checkAge(o *orders.Order, at time.Time, zone string) error {
	loc, err := civil.Zone(zone)
	if err != nil {
		return err
	}
	if p := o.Body.Patient; p == nil || p.Age(civil.DateOf(at.In(loc))) < adultAge {
		return fault.Newf(fault.Refused, "Phlebotomy appointments are for patients of %d years and older", adultAge).WithType("patient_under_age")
	}
	return nil
}

// labOf returns the slug of an order's lab.
func labOf(ctx context.Context, tx *store.Tx, o *orders.Order) (string, error) {
	offered, err := catalogue.Load(ctx, tx, o.Team)
	if err != nil {
		return "", err
	}
	lab, _ := offered.Lab(o.Lab)
	return lab.Slug, nil
}

// The longest wait of an appointment for its order's requisition.
//
// Reference 2.5, auto-cancel.
const (
	maxWait   = 8 * time.Hour // after the order, unless it was scheduled for a day
	minNotice = 2 * time.Hour
)

// lapseTime returns when an appointment is cancelled, unless the requisition
// or the confirmation that it waits for has come. It is zero for never.
func lapseTime(a *Appointment, o *orders.Order) time.Time {
	var at time.Time
	if awaitsRequisition(o) && !o.Scheduled {
		at = o.CreatedAt.Add(maxWait)
	}
	if a.Start != nil {
		if close := a.Start.Add(-minNotice); at.IsZero() || close.Before(at) {
			at = close
		}
	}
	return at
}
