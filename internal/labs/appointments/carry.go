package appointments

import (
	"context"
	"errors"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// errTaken is what a caller hears of a slot that somebody else has by now.
//
// Reference 2.7: 404, and 400 in sandbox.
func errTaken(sandbox bool) error {
	kind := fault.NotFound
	if sandbox {
		kind = fault.Refused
	}
	return fault.New(kind, "The slot was taken; ask for availability again").At("body", "booking_key").WithType("slot_taken")
}

// errUnderWay is what a caller hears who moved a visit that began meanwhile.
var errUnderWay = fault.New(fault.Refused, "The appointment is under way and can no longer be rescheduled").WithType("not_reschedulable")

var errCannot = fault.New(fault.Refused, "The provider does not take this appointment").WithType("provider_refused")

// final reports that the network's no is its last word.
func final(err error) bool {
	return errors.Is(err, networks.ErrSlotTaken) || errors.Is(err, networks.ErrUnsupported)
}

// carry asks the network for what an appointment's call says, as long as its
// caller waits, and writes the answer. Once it was asked, the answer is written even
// if the caller goes away.
func (s *Service) carry(ctx context.Context, a *Appointment, wait time.Duration) (Document, error) {
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
	booking, err := s.call(waiting, a, whole)
	stop()
	return s.write(ctx, a, call, booking, err, whole.Sandbox)
}

// write writes what a network answered, and returns what the caller hears.
func (s *Service) write(ctx context.Context, asked *Appointment, call Call, booking networks.Booking, answer error, sandbox bool) (doc Document, err error) {
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
			refusal, err = s.reply(ctx, tx, &a, &o, booking, answer, sandbox)
		case !a.has(call): // the job was faster, and it did not come to that
			refusal, err = errSilent, returnLate(ctx, tx, &a, booking)
		}
		if err != nil || refusal != nil {
			return err
		}
		doc, err = document(ctx, tx, &a, &o)
		return err
	})
	switch {
	case gone(err):
		s.returnOrphan(ctx, asked, booking)
		return Document{}, errSilent
	case err == nil:
		err = refusal
	}
	return doc, err
}

// returnLate gives back what a network granted to a caller after it had told
// the job no: another order's slot had become free in between.
func returnLate(ctx context.Context, tx *store.Tx, a *Appointment, late networks.Booking) error {
	if late.ID == "" || late.ID == a.Body.Booking.ID {
		return nil
	}
	a.release(late)
	if err := save(ctx, tx, a); err != nil {
		return err
	}
	return later(ctx, tx, a, tx.Now())
}

// returnOrphan is returnLate for an appointment that is there no more.
func (s *Service) returnOrphan(ctx context.Context, a *Appointment, late networks.Booking) {
	if late.ID == "" {
		return
	}
	if err := s.booker(a.Network).Unbook(ctx, late); err != nil {
		s.Log.WarnContext(ctx, "giving back the slot of an appointment that is gone", "appointment", a.ID, "network", a.Network, "error", err)
	}
}

// has reports that what a call asked for has come about.
func (a *Appointment) has(call Call) bool {
	return a.Status != Asked && a.Status.Live() && (call.Verb == AskVisit || a.Start != nil && a.Start.Equal(call.Slot.Start))
}

// reply writes a yes, a no or a silence.
func (s *Service) reply(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, booking networks.Booking, answer error, sandbox bool) (refusal, err error) {
	switch {
	case answer == nil:
		return s.answered(ctx, tx, a, o, booking)
	case errors.Is(answer, networks.ErrSlotTaken):
		s.stale.forgetOf(a, sandbox)
		return errTaken(sandbox), s.denied(ctx, tx, a, o)
	case final(answer):
		return errCannot, s.denied(ctx, tx, a, o)
	}
	s.Log.WarnContext(ctx, "a network did not answer for an appointment", "appointment", a.ID, "network", a.Network, "error", answer)
	async := a.Body.Call.Async
	if err := s.unanswered(ctx, tx, a, o); err != nil || async && a.Status != Asked {
		return nil, err
	}
	return errSilent, nil
}

// forNetwork is the order of an appointment as its network needs it: at the
// visit's address, with what the phlebotomist should know.
func forNetwork(ctx context.Context, tx *store.Tx, a *Appointment) (networks.Order, error) {
	o, err := orderOf(ctx, tx, a)
	if err != nil {
		return networks.Order{}, err
	}
	whole, err := orders.ForNetwork(ctx, tx, &o)
	if a.Kind == Phlebotomy {
		whole.Patient.Address = a.visited()
	}
	return whole, err
}

// visited is where a visit takes place, as a network needs it.
func (a *Appointment) visited() networks.Address {
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

// call asks the network. It is safe to repeat.
func (s *Service) call(ctx context.Context, a *Appointment, whole networks.Order) (networks.Booking, error) {
	booker, c := s.booker(a.Network), a.Body.Call
	if c.Verb == AskVisit {
		return booker.Request(ctx, c.ID, whole, a.Provider, a.visited(), a.Body.Notes)
	}
	return booker.Book(ctx, c.ID, whole, c.Slot)
}

// answered writes that the network said yes. When the appointment is wanted no
// more the booking is given back, and the caller hears why.
func (s *Service) answered(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, b networks.Booking) (refusal, err error) {
	c := *a.Body.Call
	a.Body.Call = nil
	b.Slot = c.Slot
	unwanted := unwanted(a, o)
	if c.Verb == ChangeSlot && !a.Kind.May(a.Status, Scheduled) && unwanted == nil {
		unwanted = errUnderWay
	}
	if c.Abandoned && unwanted == nil {
		unwanted = errSilent
	}
	if unwanted != nil {
		if b.ID != a.Body.Booking.ID {
			a.release(b)
		}
		if err := saveOrForget(ctx, tx, a); err != nil || a.idle() {
			return unwanted, err
		}
		return unwanted, later(ctx, tx, a, tx.Now())
	}
	if c.Verb == ChangeSlot {
		return nil, s.moved(ctx, tx, a, o, c, b)
	}
	a.Body.Booking = b
	if c.Verb == AskVisit {
		err = s.asked(ctx, tx, a, o)
	} else {
		err = s.taken(ctx, tx, a, o, c)
	}
	if visit := a.Body.Early; err == nil && visit != nil {
		a.Body.Early = nil
		err = heard(ctx, tx, a, o, *visit, false)
	}
	return nil, err
}

// unwanted says why an appointment is not to be made any more: its order went
// another way while the network was asked.
func unwanted(a *Appointment, o *orders.Order) error {
	if !a.Status.Live() {
		return errNone
	}
	if early(o) && a.Status != Scheduled {
		return nil // it was let in before the requisition
	}
	return ready(o, Settings{})
}

// taken shows a booked appointment: as pending in passing, and then as what it
// is with or without a requisition.
func (s *Service) taken(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, c Call) error {
	held := early(o) || fixed(a.Provider)
	to := Scheduled
	if held {
		to = Reserved
	}
	if a.Status != Asked && !a.Kind.May(a.Status, to) { // the provider has said as much, or more, by itself
		return save(ctx, tx, a)
	}
	a.Start, a.End = &c.Slot.Start, &c.Slot.End
	if a.Status == Asked && !(held && a.Kind == AtCenter) {
		if _, err := advance(ctx, tx, a, o, step{to: Pending, passing: true}); err != nil {
			return err
		}
	}
	if _, err := advance(ctx, tx, a, o, step{to: to}); err != nil || !held {
		return err
	}
	return lapseLater(ctx, tx, a, o)
}

// asked shows an appointment that has no time yet, or notes the provider's
// number of one that is shown.
func (s *Service) asked(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
	if a.Status != Asked {
		return save(ctx, tx, a)
	}
	if _, err := advance(ctx, tx, a, o, step{to: Pending}); err != nil || !early(o) {
		return err
	}
	return lapseLater(ctx, tx, a, o)
}

// moved gives an appointment its other slot, and the first one back.
func (s *Service) moved(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order, c Call, b networks.Booking) error {
	_, err := advance(ctx, tx, a, o, step{to: Scheduled, data: map[string]any{"origin": byPatient, "is_reschedule": true}, change: func(a *Appointment) {
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
	return later(ctx, tx, a, tx.Now())
}

func zoneOr(zone, other string) string {
	if zone == "" {
		return other
	}
	return zone
}

// denied writes that the network said no for good.
func (s *Service) denied(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
	verb := a.Body.Call.Verb
	a.Body.Call = nil
	if a.Status == Asked || verb == ChangeSlot || !a.Status.Live() {
		return saveOrForget(ctx, tx, a)
	}
	_, err := end(ctx, tx, a, o, step{to: Cancelled, data: map[string]any{"origin": byProvider}})
	return err
}

// unanswered writes that the network did not answer in time. Async calls go on
// and are shown as pending; what others booked, if anything, is given back.
func (s *Service) unanswered(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
	c := a.Body.Call
	c.Until = tx.Now()
	if !c.Async {
		c.Abandoned = true
		if err := save(ctx, tx, a); err != nil {
			return err
		}
		return later(ctx, tx, a, tx.Now())
	}
	c.Until = tx.Now().Add(again)
	if err := s.shown(ctx, tx, a, o); err != nil {
		return err
	}
	return later(ctx, tx, a, c.Until)
}

// shown shows an appointment whose answer is still to come.
func (s *Service) shown(ctx context.Context, tx *store.Tx, a *Appointment, o *orders.Order) error {
	if a.Status != Asked {
		return save(ctx, tx, a)
	}
	if unwanted(a, o) != nil {
		a.Body.Call.Abandoned = true
		return save(ctx, tx, a)
	}
	if a.Body.Call.Verb != AskVisit {
		a.Start, a.End = &a.Body.Call.Slot.Start, &a.Body.Call.Slot.End
	}
	if _, err := advance(ctx, tx, a, o, step{to: Pending}); err != nil || !early(o) {
		return err
	}
	return lapseLater(ctx, tx, a, o)
}

// again is how often the job asks a network that does not answer.
const again = 15 * time.Second
