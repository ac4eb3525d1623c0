package appointments

import (
	"context"
	"errors"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/places"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// errTaken returns the error for a slot that another caller has booked.
//
// Reference 2.7: 404, and 400 in sandbox.
func errTaken(sandbox bool) error {
	kind := fault.NotFound
	if sandbox {
		kind = fault.Refused
	}
	return fault.New(kind, "The slot was taken; ask for availability again").At("body", "booking_key").WithType("slot_taken")
}

// errInProgress is the error for a request to reschedule a visit that has begun in the
// meantime.
var errInProgress = fault.New(fault.Refused, "The appointment is under way and can no longer be rescheduled").WithType("not_reschedulable")

var errRefused = fault.New(fault.Refused, "The provider does not take this appointment").WithType("provider_refused")

// isFinal reports whether the network's refusal is final.
func isFinal(err error) bool {
	return errors.Is(err, networks.ErrSlotTaken) || errors.Is(err, networks.ErrUnsupported)
}

// askAndStore sends an appointment's call to the network, for as long as its
// caller waits, and stores the answer. The answer is stored even if the caller
// disconnects.
func (s *Service) askAndStore(ctx context.Context, a *Appointment, wait time.Duration) (Document, error) {
	ctx = context.WithoutCancel(ctx)
	call := *a.Body.Call
	var whole networks.Order
	err := s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		whole, err = forNetwork(ctx, tx, a)
		return err
	})
	if err != nil {
		return Document{}, err
	}
	waiting, stop := context.WithTimeout(ctx, wait)
	booking, err := s.askNetwork(waiting, a, whole)
	stop()
	return s.storeAnswer(ctx, a, call, booking, err, whole.Sandbox)
}

// storeAnswer stores a network's answer and returns the answer for the caller.
func (s *Service) storeAnswer(ctx context.Context, asked *Appointment, call Call, booking networks.Booking, answer error, sandbox bool) (doc Document, err error) {
	var refusal error
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		doc, refusal = Document{}, nil
		a, err := get(ctx, tx, asked.Team, asked.ID)
		if err != nil {
			return err
		}
		o, err := orderOf(ctx, tx, &a)
		if err != nil {
			return err
		}
		switch c := a.Body.Call; {
		case c != nil && c.ID == call.ID:
			refusal, err = s.applyAnswer(ctx, tx, &a, &o, booking, answer, sandbox)
		case !a.hasOutcome(call): // the job was faster and got another answer
			refusal, err = errNoAnswer, releaseLate(ctx, tx, &a, booking)
		}
		if err != nil || refusal != nil {
			return err
		}
		doc, err = document(ctx, tx, &a, &o)
		return err
	})
	switch {
	case isErased(err):
		s.unbookErased(ctx, asked, booking)
		return Document{}, errNoAnswer
	case err == nil:
		err = refusal
	}
	return doc, err
}

// releaseLate releases a booking that a network granted to a caller after it had refused
// the job, which was faster. Between the two requests, the slot of another order had
// become free.
func releaseLate(ctx context.Context, tx *store.Tx, a *Appointment, late networks.Booking) error {
	if late.ID == "" || late.ID == a.Body.Booking.ID {
		return nil
	}
	a.release(late)
	if err := save(ctx, tx, a); err != nil {
		return err
	}
	return settleLater(ctx, tx, a, tx.Now())
}

// unbookErased releases a late booking, as releaseLate does, for an appointment that was
// erased. It has no row, so no job can retry: a failure is logged.
func (s *Service) unbookErased(ctx context.Context, a *Appointment, late networks.Booking) {
	if late.ID == "" {
		return
	}
	if err := s.booker(a.Network).Unbook(ctx, late); err != nil {
		s.Log.WarnContext(ctx, "the slot of an erased appointment cannot be released", "appointment", a.ID, "network", a.Network, "error", err)
	}
}

// hasOutcome reports whether the appointment already has the state that a call asks for.
func (a *Appointment) hasOutcome(call Call) bool {
	return a.Status != Asked && a.Status.Live() && (call.Verb == AskVisit || a.Start != nil && a.Start.Equal(call.Slot.Start))
}

// applyAnswer stores the outcome of a request to the network: a booking, a refusal or no
// answer.
func (s *Service) applyAnswer(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, booking networks.Booking, answer error, sandbox bool) (refusal, err error) {
	switch {
	case answer == nil:
		return s.applyYes(ctx, tx, a, o, booking)
	case errors.Is(answer, networks.ErrSlotTaken):
		s.siteCache.forgetSiteOf(a, sandbox)
		return errTaken(sandbox), s.applyRefusal(ctx, tx, a, o)
	case isFinal(answer):
		return errRefused, s.applyRefusal(ctx, tx, a, o)
	}
	s.Log.WarnContext(ctx, "a network did not answer for an appointment", "appointment", a.ID, "network", a.Network, "error", answer)
	async := a.Body.Call.Async
	if err := s.applySilence(ctx, tx, a, o); err != nil || async && a.Status != Asked {
		return nil, err
	}
	return errNoAnswer, nil
}

// forNetwork returns the order of an appointment as its network needs it: at
// the visit's address, with the notes for the phlebotomist.
func forNetwork(ctx context.Context, tx *store.Tx, a *Appointment) (networks.Order, error) {
	o, err := orderOf(ctx, tx, a)
	if err != nil {
		return networks.Order{}, err
	}
	whole, err := orders.ForNetwork(ctx, tx, &o)
	if a.Kind == Phlebotomy {
		whole.Patient.Address = a.visitAddress()
	}
	return whole, err
}

// visitAddress returns the address of a visit as a network needs it.
func (a *Appointment) visitAddress() networks.Address {
	at := a.Body.Address
	if c := a.Body.Call; c != nil && c.To != nil {
		at = c.To.Address
	}
	notes := a.Body.Notes
	if c := a.Body.Call; c != nil && c.Notes != nil {
		notes = *c.Notes
	}
	if at.AccessNotes != "" && notes != "" {
		notes = at.AccessNotes + "\n" + notes
	} else {
		notes += at.AccessNotes
	}
	return networks.Address{FirstLine: at.FirstLine, SecondLine: at.SecondLine, City: at.City, State: at.State, Zip: at.Zip, Country: "US", AccessNotes: notes}
}

// askNetwork sends the call to the network. It is safe to repeat.
func (s *Service) askNetwork(ctx context.Context, a *Appointment, whole networks.Order) (networks.Booking, error) {
	booker, c := s.booker(a.Network), a.Body.Call
	if c.Verb == AskVisit {
		return booker.Request(ctx, c.ID, whole, a.Provider, a.visitAddress(), a.Body.Notes)
	}
	return booker.Book(ctx, c.ID, whole, c.Slot)
}

// applyYes stores that the network agreed. When the appointment is no longer
// wanted, the booking is released and the caller gets the reason.
func (s *Service) applyYes(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, b networks.Booking) (refusal, err error) {
	c := *a.Body.Call
	a.Body.Call = nil
	b.Slot = c.Slot
	refusal = whyUnwanted(a, o)
	if c.Verb == ChangeSlot && !a.Kind.Allows(a.Status, Scheduled) && refusal == nil {
		refusal = errInProgress
	}
	if c.Abandoned && refusal == nil {
		refusal = errNoAnswer
	}
	if refusal != nil {
		if b.ID != a.Body.Booking.ID {
			a.release(b)
		}
		if err := saveOrDelete(ctx, tx, a); err != nil || a.idle() {
			return refusal, err
		}
		return refusal, settleLater(ctx, tx, a, tx.Now())
	}
	if c.Verb == ChangeSlot {
		return nil, s.applyReschedule(ctx, tx, a, o, c, b)
	}
	a.Body.Booking = b
	if c.Verb == AskVisit {
		err = s.showRequested(ctx, tx, a, o)
	} else {
		err = s.showBooked(ctx, tx, a, o, c)
	}
	if visit := a.Body.Early; err == nil && visit != nil {
		a.Body.Early = nil
		err = applyVisit(ctx, tx, a, o, *visit, false)
	}
	return nil, err
}

// whyUnwanted returns the reason why an appointment is no longer wanted: its order moved
// during the request. It returns nil if the appointment is wanted.
func whyUnwanted(a *Appointment, o *orders.Order) error {
	if !a.Status.Live() {
		return errNotFound
	}
	if awaitsRequisition(o) && a.Status != Scheduled {
		return nil // it was allowed before the requisition
	}
	return checkOrder(o, Settings{})
}

// showBooked shows a booked appointment: pending as a transient move, then
// scheduled, or reserved without a requisition.
func (s *Service) showBooked(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, c Call) error {
	waits := awaitsRequisition(o) || confirmsLater(a.Provider)
	to := Scheduled
	if waits {
		to = Reserved
	}
	if a.Status != Asked && !a.Kind.Allows(a.Status, to) { // the provider reported this status, or a later one
		return save(ctx, tx, a)
	}
	a.Start, a.End = &c.Slot.Start, &c.Slot.End
	if a.Status == Asked && !(waits && a.Kind == AtCenter) {
		if _, err := advance(ctx, tx, a, o, move{to: Pending, transient: true}); err != nil {
			return err
		}
	}
	if _, err := advance(ctx, tx, a, o, move{to: to}); err != nil || !waits {
		return err
	}
	return lapseLater(ctx, tx, a, o)
}

// showRequested shows an appointment without a time, or stores the provider's
// number of one that is shown.
func (s *Service) showRequested(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
	if a.Status != Asked {
		return save(ctx, tx, a)
	}
	if _, err := advance(ctx, tx, a, o, move{to: Pending}); err != nil || !awaitsRequisition(o) {
		return err
	}
	return lapseLater(ctx, tx, a, o)
}

// applyReschedule moves an appointment to its new slot, and releases the old
// one.
func (s *Service) applyReschedule(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, c Call, b networks.Booking) error {
	_, err := advance(ctx, tx, a, o, move{to: Scheduled, data: map[string]any{"origin": byPatient, "is_reschedule": true}, change: func(a *Appointment) {
		if a.Body.Booking.ID != b.ID {
			a.release(a.Body.Booking)
		}
		a.Body.Booking, a.Start, a.End, a.TimeZone = b, &c.Slot.Start, &c.Slot.End, zoneOr(c.Slot.Zone, a.TimeZone)
		if c.To != nil {
			a.Body.Address, a.Body.Place, a.Body.Site = c.To.Address, c.To.Place, c.To.Site
		}
		if c.Notes != nil {
			a.Body.Notes = *c.Notes
		}
	}})
	if err != nil || a.idle() {
		return err
	}
	return settleLater(ctx, tx, a, tx.Now())
}

func zoneOr(zone, other string) string {
	if zone == "" {
		return other
	}
	return zone
}

// applyRefusal stores a final refusal of the network.
func (s *Service) applyRefusal(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
	verb := a.Body.Call.Verb
	a.Body.Call = nil
	if a.Status == Asked || verb == ChangeSlot || !a.Status.Live() {
		return saveOrDelete(ctx, tx, a)
	}
	_, err := cancel(ctx, tx, a, o, move{to: Cancelled, data: map[string]any{"origin": byProvider}})
	return err
}

// applySilence stores that the network did not answer in time. Async calls
// continue and are shown as pending. For other calls, a booking that may exist
// is released.
func (s *Service) applySilence(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
	c := a.Body.Call
	c.Until = tx.Now()
	if !c.Async {
		c.Abandoned = true
		if err := save(ctx, tx, a); err != nil {
			return err
		}
		return settleLater(ctx, tx, a, tx.Now())
	}
	c.Until = tx.Now().Add(askInterval)
	if err := s.showPending(ctx, tx, a, o); err != nil {
		return err
	}
	return settleLater(ctx, tx, a, c.Until)
}

// showPending shows an appointment that waits for its answer.
func (s *Service) showPending(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
	if a.Status != Asked {
		return save(ctx, tx, a)
	}
	if whyUnwanted(a, o) != nil {
		a.Body.Call.Abandoned = true
		return save(ctx, tx, a)
	}
	if a.Body.Call.Verb != AskVisit {
		a.Start, a.End = &a.Body.Call.Slot.Start, &a.Body.Call.Slot.End
	}
	if _, err := advance(ctx, tx, a, o, move{to: Pending}); err != nil || !awaitsRequisition(o) {
		return err
	}
	return lapseLater(ctx, tx, a, o)
}

// askInterval is the interval at which the job asks a network that does not
// answer.
const askInterval = 15 * time.Second

// errNotBooked ends a booking whose caller was cut off and that left no
// appointment: the provider refused, or did not answer in time.
var errNotBooked = fault.New(fault.Refused, "The provider did not take the appointment; ask for availability again").WithType("not_booked")

// Resume continues a booking or a request whose caller was cut off. It sends
// the call to the network, unless the job was faster, and returns the
// appointment.
func (s *Service) Resume(ctx context.Context, who places.Viewer, id ID) (Document, error) {
	var a Appointment
	var doc Document
	err := s.DB.Read(ctx, func(tx *store.Tx) (err error) {
		if a, err = get(ctx, tx, who.Team, id); err != nil || a.Status == Asked {
			return err
		}
		o, err := orderOf(ctx, tx, &a)
		if err != nil {
			return err
		}
		doc, err = document(ctx, tx, &a, &o)
		return err
	})
	switch {
	case isErased(err):
		return Document{}, errNotBooked
	case err != nil:
		return Document{}, err
	case a.Status != Asked:
		return doc, nil
	case a.Body.Call == nil || a.Body.Call.Abandoned:
		return Document{}, errNotBooked
	}
	return s.askAndStore(ctx, &a, defaultSyncWait)
}
