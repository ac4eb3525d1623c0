package appointments

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/fault"
	"hale/internal/platform/store/storetest"
)

// Every status of a kind can be reached and left as the reference says, and no
// transition leaves an end.
func TestTransitions(t *testing.T) {
	for _, k := range []Kind{Phlebotomy, AtCenter} {
		reached := map[Status]bool{Asked: true}
		for range Statuses {
			for _, a := range transitions[k] {
				if !reached[a.From] {
					continue
				}
				reached[a.To] = true
				if !a.From.Live() {
					t.Errorf("%s: %s is an end, and has a transition to %s", k, a.From, a.To)
				}
			}
		}
		for _, s := range Statuses {
			if want := k == Phlebotomy || s != InProgress; reached[s] != want {
				t.Errorf("%s reaches %s: %v", k, s, reached[s])
			}
		}
	}
}

// The test runs random sequences of calls, reports, order changes and waits. After
// each step an order has one live appointment at most, whose history follows the
// table. At the end the order's status agrees, and the network holds the right
// slots.
func TestRandomWalks(t *testing.T) {
	d := storetest.NewSQLite(t)
	c := storetest.NewClock(noon)
	db := d.Open(t, tick(c))
	rapid.Check(t, func(rt *rapid.T) {
		r := newFixture(t, db, c)
		k := rapid.SampledFrom([]Kind{Phlebotomy, AtCenter}).Draw(rt, "kind")
		r.switchOn(func(s *Settings) { s.BeforeRequisition, s.AsyncConfirmation = true, true })
		o := r.order(methodOf[k], rapid.Bool().Draw(rt, "early"))
		slots := r.slots(k)
		slot := func() Slot { return r.slots(k)[rapid.IntRange(0, len(slots)-3).Draw(rt, "slot")] }
		booking := func() string {
			d, err := r.get(o, k)
			if err != nil {
				return ""
			}
			return d.ProviderID
		}
		for range rapid.IntRange(1, 8).Draw(rt, "steps") {
			switch act := rapid.SampledFrom([]string{"book", "async", "move", "cancel", "visit", "order", "time", "work", "silent", "deaf"}).Draw(rt, "act"); act {
			case "book", "async":
				_, err := r.Book(r.ctx, r.who, Booking{Order: o.ID, Kind: k, Key: slot().Key, Async: act == "async" && k == AtCenter})
				passRefusals(rt, err)
			case "move":
				_, err := r.Reschedule(r.ctx, r.who, Change{Order: o.ID, Kind: k, Key: slot().Key})
				passRefusals(rt, err)
			case "cancel":
				_, err := r.cancel(o, k, Reasons(k)[0], "")
				passRefusals(rt, err)
			case "visit":
				s := slot()
				word := rapid.SampledFrom([]string{"pending", "reserved", "scheduled", "confirmed", "in_progress", "completed", "cancelled", "unheard_of"}).Draw(rt, "word")
				said := networks.Visit{BookingID: booking(), Status: word, Start: s.Start, End: s.End}
				if word == "cancelled" || word == "completed" { // a network that reports this has released the slot
					_ = r.agency.Unbook(r.ctx, networks.Booking{ID: said.BookingID})
				}
				r.reportVisit(o, said)
			case "order":
				o = r.now(o)
				if arrows := transitionsFrom(&o); len(arrows) > 0 {
					a := rapid.SampledFrom(arrows).Draw(rt, "arrow")
					r.moveOrder(&o, orders.Move{To: a.To, By: a.By})
				}
			case "time":
				c.Advance(time.Duration(rapid.IntRange(1, 600).Draw(rt, "minutes")) * time.Minute)
			case "work":
				r.work()
			case "silent":
				r.agency.silent = 1
			case "deaf":
				r.agency.deaf = 1
			}
			r.check(o, k)
		}
		r.agency.silent, r.agency.deaf = 0, 0
		for range 3 {
			c.Advance(time.Hour)
			r.work()
		}
		wantSettled(rt, r, o, k)
	})
}

// passRefusals ignores refusals, which are answers.
func passRefusals(rt *rapid.T, err error) {
	if err != nil && fault.KindOf(err) == fault.Internal {
		rt.Fatal(err)
	}
}

// transitionsFrom returns the moves of an order that appointments do not
// cause.
func transitionsFrom(o *orders.Order) (all []orders.Arrow) {
	for _, a := range orders.Arrows(o.Course()) {
		if a.From == o.Status && a.By&orders.Appointment == 0 {
			all = append(all, a)
		}
	}
	return all
}

// wantSettled checks the state after all jobs have run.
func wantSettled(rt *rapid.T, r *fixture, o orders.Order, k Kind) {
	r.check(o, k)
	held := r.agency.holds(o.ID)
	d, err := r.get(o, k)
	switch {
	case fault.Is(err, fault.NotFound):
		if held != 0 {
			rt.Fatalf("no appointment, and %d slots are held", held)
		}
		return
	case err != nil:
		rt.Fatal(err)
	}
	now := r.now(o)
	if d.EventStatus.Live() && held > 1 {
		rt.Fatalf("%d slots are held of one appointment: %v", held, d.Events)
	}
	if d.EventStatus == Scheduled && now.Status == orders.RequisitionCreated {
		rt.Fatalf("the appointment is scheduled, the order %s", now.Status)
	}
	if now.Status == orders.AppointmentScheduled && d.EventStatus == Cancelled {
		rt.Fatalf("the order is %s, the appointment cancelled: %s", now.Status, fmt.Sprint(d.Events))
	}
}

// Reports that come before the answer is stored are not lost.
func TestReportBeforeTheAnswer(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		o := r.order(catalogue.AtHome, false)
		slot := r.slots(Phlebotomy)[0]
		a := r.drafted(o, Phlebotomy, slot)
		r.reportVisit(o, networks.Visit{BookingID: a.Body.Call.ID.String(), Status: "in_progress"})
		d, err := r.askAndStore(r.ctx, a, defaultSyncWait)
		if err != nil || d.EventStatus != InProgress {
			r.t.Errorf("%+v, %v", d, err)
		}
		r.check(o, Phlebotomy)
	})
}
