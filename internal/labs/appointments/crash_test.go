package appointments

import (
	"context"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// A provider that does not answer leaves no booking, whether it had booked or
// not. Until that is known, the order can have no other appointment.
func TestNoAnswer(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		for i, deaf := range []bool{false, true} {
			o := r.order(catalogue.AtHome, false)
			slots := r.slots(Phlebotomy)[2*i:]
			fail := func(n int) {
				if r.agency.silent = n; deaf {
					r.agency.silent, r.agency.deaf = 0, n
				}
			}
			fail(1)
			if _, err := r.book(o, Phlebotomy, slots[0].Key); !fault.Is(err, fault.Unavailable) {
				r.t.Fatalf("without an answer: %v", err)
			}
			if _, err := r.get(o, Phlebotomy); !fault.Is(err, fault.NotFound) {
				r.t.Errorf("an unconfirmed appointment is shown: %v", err)
			}
			fail(2) // the job fails once, and the next caller settles it
			r.work()
			if _, err := r.book(o, Phlebotomy, slots[1].Key); !fault.Is(err, fault.Unavailable) {
				r.t.Errorf("before the outcome is known: %v", err)
			}
			d := r.booked(o, Phlebotomy, slots[1].Key)
			r.clock.Advance(time.Hour)
			r.work()
			if r.agency.holds(o.ID) != 1 || !time.Time(*d.Start).Equal(slots[1].Start) {
				r.t.Errorf("deaf %v: %d slots are held, at %v", deaf, r.agency.holds(o.ID), d.Start)
			}
			wantEqual(r.t, "order", r.path(o), []orders.Status{orders.Ordered, orders.RequisitionCreated, orders.AppointmentScheduled})
			r.check(o, Phlebotomy)
		}
	})
}

// A process may die after storing the call, or after the network's answer. The
// job continues and books once.
func TestKilledWhileBooking(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		for _, asked := range []bool{false, true} {
			o := r.order(catalogue.AtHome, false)
			slot := r.slots(Phlebotomy)[0]
			a := r.drafted(o, Phlebotomy, slot)
			if asked {
				if _, err := r.askNetwork(r.ctx, a, r.whole(a)); err != nil {
					r.t.Fatal(err)
				}
			}
			if _, err := r.book(o, Phlebotomy, r.slots(Phlebotomy)[1].Key); !fault.Is(err, fault.Refused) {
				r.t.Errorf("a second booking meanwhile: %v", err)
			}
			r.clock.Advance(time.Minute)
			r.work()
			d, err := r.get(o, Phlebotomy)
			if err != nil || d.Status != "confirmed" || r.agency.holds(o.ID) != 1 {
				r.t.Fatalf("after the crash: %+v, %v, %d held", d, err, r.agency.holds(o.ID))
			}
			wantEqual(r.t, "order", r.path(o), []orders.Status{orders.Ordered, orders.RequisitionCreated, orders.AppointmentScheduled})
			if d, err = r.cancel(o, Phlebotomy, phlebotomyReasons[0], ""); err != nil || d.Status != "cancelled" {
				r.t.Fatal(err)
			}
			r.work()
			if r.agency.holds(o.ID) != 0 {
				r.t.Error("the slot was not released")
			}
		}
	})
}

// The network refuses the request of the job, because the slot is taken. The slot
// becomes free, and the network grants it to the late request of the caller. The
// service refuses the caller too, so it releases the slot.
func TestLateAnswer(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		for _, first := range []bool{true, false} { // a first booking, and a rescheduling
			o, rival := r.order(catalogue.AtHome, false), r.order(catalogue.AtHome, false)
			slots := r.slots(Phlebotomy)
			var a *Appointment
			if first {
				a = r.drafted(o, Phlebotomy, slots[0])
			} else {
				r.booked(o, Phlebotomy, slots[1].Key)
				a = r.rescheduling(o, slots[0])
			}
			call := *a.Body.Call
			r.booked(rival, Phlebotomy, r.slots(Phlebotomy)[0].Key)
			r.clock.Advance(time.Minute)
			r.work() // the network refuses the job
			if _, err := r.cancel(rival, Phlebotomy, phlebotomyReasons[0], ""); err != nil {
				r.t.Fatal(err)
			}
			r.work()
			late, err := r.askNetwork(r.ctx, a, r.whole(a))
			if err != nil {
				r.t.Fatal(err)
			}
			before := r.agency.holds(o.ID)
			if _, err := r.storeAnswer(r.ctx, a, call, late, nil, true); !fault.Is(err, fault.Unavailable) {
				r.t.Errorf("the caller gets %v", err)
			}
			r.work()
			if after := r.agency.holds(o.ID); after != before-1 {
				r.t.Errorf("first booking %v: %d slots are held, %d before", first, after, before)
			}
		}
	})
}

// A rescheduling without an answer, or for a slot that was taken, leaves the
// appointment where it was.
func TestFailedReschedule(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		o, rival := r.order(catalogue.WalkIn, false), r.order(catalogue.WalkIn, false)
		slots := r.slots(AtCenter)
		r.booked(o, AtCenter, slots[0].Key)
		r.booked(rival, AtCenter, slots[1].Key)
		move := func(slot Slot) error {
			_, err := r.Reschedule(r.ctx, r.who, Change{Order: o.ID, Kind: AtCenter, Key: slot.Key})
			return err
		}
		if err := move(r.slots(AtCenter)[1]); !fault.Is(err, fault.Refused) {
			r.t.Errorf("a taken slot: %v", err)
		}
		r.agency.deaf = 1
		if err := move(slots[2]); !fault.Is(err, fault.Unavailable) {
			r.t.Errorf("without an answer: %v", err)
		}
		r.work()
		d, err := r.get(o, AtCenter)
		if err != nil || !time.Time(*d.Start).Equal(slots[0].Start) || len(d.Events) != 2 || r.agency.holds(o.ID) != 1 {
			r.t.Errorf("it is at %v with %d events, %d slots are held", d.Start, len(d.Events), r.agency.holds(o.ID))
		}
		if err := move(slots[3]); err != nil {
			r.t.Error(err)
		}
		same := r.slots(AtCenter)[3]
		if err := move(same); err != nil { // the slot that it has
			r.t.Error(err)
		}
		r.work()
		if r.agency.holds(o.ID) != 1 {
			r.t.Errorf("%d slots are held", r.agency.holds(o.ID))
		}
		r.check(o, AtCenter)
	})
}

// Asynchronous bookings are pending until the provider answers, and cancelled
// when it never does.
func TestAsyncBooking(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		book := func(o orders.Order) (Document, error) {
			return r.Book(r.ctx, r.who, Booking{Order: o.ID, Kind: AtCenter, Key: r.slots(AtCenter)[0].Key, Async: true, SyncWait: time.Second, AsyncWait: time.Hour})
		}
		o := r.order(catalogue.WalkIn, false)
		if _, err := book(o); !fault.Is(err, fault.Refused) {
			r.t.Errorf("not switched on: %v", err)
		}
		r.switchOn(func(s *Settings) { s.AsyncConfirmation = true })
		r.agency.silent = 2
		d, err := book(o)
		if err != nil || d.Status != "pending" || d.ProviderID != "" || d.Start == nil {
			r.t.Fatalf("not answered: %+v, %v", d, err)
		}
		for range 5 {
			r.clock.Advance(askInterval + time.Second)
			r.clock.Advance(time.Minute)
			r.work()
		}
		if d, _ = r.get(o, AtCenter); d.Status != "confirmed" || d.ProviderID == "" {
			r.t.Errorf("answered: %+v", d)
		}
		wantEqual(r.t, "order", r.path(o)[2:], []orders.Status{orders.AppointmentPending, orders.AppointmentScheduled})
		never := r.order(catalogue.WalkIn, false)
		r.agency.silent = 1000
		if d, err = book(never); err != nil || d.Status != "pending" {
			r.t.Fatal(err)
		}
		r.clock.Advance(2 * time.Hour)
		r.work()
		if d, _ = r.get(never, AtCenter); d.Status != "cancelled" || d.EventData["origin"] != byProvider {
			r.t.Errorf("never answered it is %s", d.Status)
		}
		wantEqual(r.t, "order", r.path(never)[2:], []orders.Status{orders.AppointmentPending, orders.AppointmentCancelled})
		r.agency.silent = 0
		r.clock.Advance(12 * time.Hour)
		r.work()
		if r.agency.holds(never.ID) != 0 {
			r.t.Error("a slot stayed booked")
		}
		r.check(o, AtCenter)
		r.check(never, AtCenter)
	})
}

// A report of the network before its answer is stored does not block the answer.
// Otherwise the job would retry without end.
func TestReportBeforeTheAnswerIsStored(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		moving := r.order(catalogue.AtHome, false)
		slots := r.slots(Phlebotomy)
		d := r.booked(moving, Phlebotomy, slots[0].Key)
		userstest.Write(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error { // killed before the request to the network
			_, err := r.reschedule(ctx, tx, r.who, Change{Order: moving.ID, Kind: Phlebotomy, Key: slots[1].Key})
			return err
		})
		r.reportVisit(moving, networks.Visit{BookingID: d.ProviderID, Status: "in_progress"})
		r.switchOn(func(s *Settings) { s.BeforeRequisition, s.AsyncConfirmation = true, true })
		held := r.order(catalogue.WalkIn, true)
		r.agency.silent = 1
		book := Booking{Order: held.ID, Kind: AtCenter, Key: r.slots(AtCenter)[0].Key, Async: true}
		if d, err := r.Book(r.ctx, r.who, book); err != nil || d.Status != "pending" {
			r.t.Fatalf("not answered: %+v, %v", d, err)
		}
		r.reportVisit(held, networks.Visit{Status: "reserved"})
		r.clock.Advance(time.Minute)
		r.work()
		if d, err := r.get(moving, Phlebotomy); err != nil || d.EventStatus != InProgress || !time.Time(*d.Start).Equal(slots[0].Start) || r.agency.holds(moving.ID) != 1 {
			r.t.Errorf("the visit under way: %+v, %v, %d held", d, err, r.agency.holds(moving.ID))
		}
		if d, err := r.get(held, AtCenter); err != nil || d.EventStatus != Reserved || d.ProviderID == "" || r.agency.holds(held.ID) != 1 {
			r.t.Errorf("the slot that is held: %+v, %v, %d held", d, err, r.agency.holds(held.ID))
		}
		r.check(moving, Phlebotomy)
		r.check(held, AtCenter)
	})
}

// A slot that is booked again before its release stays booked: only the first
// booking is released.
func TestSlotBookedAgainBeforeItsRelease(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		o := r.order(catalogue.AtHome, false)
		first := r.booked(o, Phlebotomy, r.slots(Phlebotomy)[0].Key)
		for _, n := range []int{1, 0} { // to another slot and back
			if _, err := r.Reschedule(r.ctx, r.who, Change{Order: o.ID, Kind: Phlebotomy, Key: r.slots(Phlebotomy)[n].Key}); err != nil {
				r.t.Fatal(err)
			}
		}
		if _, err := r.cancel(o, Phlebotomy, phlebotomyReasons[0], ""); err != nil {
			r.t.Fatal(err)
		}
		again := r.booked(o, Phlebotomy, r.slots(Phlebotomy)[0].Key)
		r.work()
		if r.agency.holds(o.ID) != 1 || r.agency.booked[again.ProviderID].order != o.ID.UUID() || again.ProviderID == first.ProviderID {
			r.t.Errorf("%d slots are held; the last booking is %s", r.agency.holds(o.ID), again.ProviderID)
		}
		r.check(o, Phlebotomy)
	})
}

// An order that is cancelled while its appointment is being booked keeps no
// booking.
func TestOrderCancelledWhileBooking(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		o := r.order(catalogue.AtHome, false)
		slot := r.slots(Phlebotomy)[0]
		a := r.drafted(o, Phlebotomy, slot)
		o = r.now(o)
		r.moveOrder(&o, orders.Move{To: orders.Cancelled, By: orders.Call})
		if _, err := r.askAndStore(r.ctx, a, defaultSyncWait); !fault.Is(err, fault.Refused) {
			r.t.Errorf("the caller gets %v", err)
		}
		r.work()
		if _, err := r.get(o, Phlebotomy); !fault.Is(err, fault.NotFound) || r.agency.holds(o.ID) != 0 {
			r.t.Errorf("it is there: %v, %d held", err, r.agency.holds(o.ID))
		}
		var n int
		if err := r.DB.Read(r.ctx, func(tx *store.Tx) error {
			return tx.QueryRow(r.ctx, `SELECT COUNT(*) FROM appointments WHERE team_id = $1`, r.team.ID).Scan(&n)
		}); err != nil || n != 0 {
			r.t.Errorf("%d rows are left, %v", n, err)
		}
	})
}
