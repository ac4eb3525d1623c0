package appointments

import (
	"context"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// A phlebotomist is booked, rescheduled, and draws the sample.
func TestVisitAtHome(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		o := r.order(catalogue.AtHome, false)
		slots := r.slots(Phlebotomy)
		d := r.booked(o, Phlebotomy, slots[2].Key)
		if d.Status != "confirmed" || d.EventStatus != Scheduled || d.Kind != Phlebotomy || d.Provider != "getlabs" || !d.Reschedules ||
			*d.TimeZone != "America/Phoenix" || !time.Time(*d.Start).Equal(slots[2].Start) || *d.ExternalID != "100001" || *d.Notes != "Ring twice" {
			r.t.Fatalf("booked: %+v", d)
		}
		if got := r.agency.seen[0].Patient.Address; got.Zip != "85004" || got.AccessNotes != "Gate 4\nRing twice" {
			r.t.Errorf("the phlebotomist gets %+v", got)
		}
		notes := "Ring once"
		moved, err := r.Reschedule(r.ctx, r.who, Change{Order: o.ID, Kind: Phlebotomy, Key: slots[5].Key, Notes: &notes})
		if err != nil || !time.Time(*moved.Start).Equal(slots[5].Start) || *moved.Notes != notes || moved.EventData["is_reschedule"] != true || moved.ID != d.ID {
			r.t.Fatalf("rescheduled: %+v, %v", moved, err)
		}
		r.work()
		if r.agency.holds(o.ID) != 1 || r.agency.freed[d.ProviderID] != 1 {
			r.t.Errorf("the first slot was not released: %v", r.agency.freed)
		}
		for range 2 { // the second one is late
			for _, status := range []string{"in_progress", "completed", "in_progress"} {
				r.reportVisit(o, networks.Visit{BookingID: moved.ProviderID, Status: status, Start: slots[5].Start, End: slots[5].End})
			}
		}
		wantEqual(r.t, "order", r.path(o), []orders.Status{
			orders.Ordered, orders.RequisitionCreated, orders.AppointmentScheduled, orders.AppointmentScheduled, orders.DrawCompleted,
		})
		wantEqual(r.t, "events", r.events(), []string{CreatedEvent, UpdatedEvent, UpdatedEvent, UpdatedEvent, UpdatedEvent})
		if now := r.now(o); now.Appointment == nil || *now.Appointment != d.ID.UUID() || now.CollectedAt == nil {
			r.t.Errorf("the order lacks its appointment or its draw: %+v", now)
		}
		r.check(o, Phlebotomy)
	})
}

// The access notes of the order reach the phlebotomist of a visit at the same
// place. The notes of the visit take precedence. A visit that is far away is
// booked with a warning, and a ZIP code in another state is refused.
func TestAddressOfAVisit(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		plain, far := home, Address{FirstLine: "1 Farm Road", City: "Onalaska", State: "WI", Zip: "54650"}
		plain.AccessNotes = ""
		for i, c := range []struct {
			at    Address
			notes string
			warns int
		}{{plain, "Door at the back", 0}, {home, "Gate 4", 0}, {far, "", 1}} {
			o := r.order(catalogue.AtHome, false)
			userstest.Write(r.t, r.DB, func(ctx context.Context, tx *store.Tx) error {
				o.Body.Address.AccessNotes = "Door at the back"
				return orders.SetReason(ctx, tx, &o, "") // stores the body
			})
			var d Document
			var err error
			if c.warns > 0 {
				d, err = r.RequestVisit(r.ctx, r.who, Request{Order: o.ID, Provider: "phlebfinders", Address: c.at})
			} else if found, missing := r.AtHome(r.ctx, r.who, c.at, nil); missing == nil {
				d, err = r.Book(r.ctx, r.who, Booking{Order: o.ID, Kind: Phlebotomy, Key: found.Days[1].Slots[i].Key})
			}
			if err != nil {
				r.t.Fatal(err)
			}
			seen := r.agency.seen[len(r.agency.seen)-1].Patient.Address
			if seen.AccessNotes != c.notes || c.notes != "" && (d.Address.AccessNotes == nil || *d.Address.AccessNotes != c.notes) || len(d.Warnings) != c.warns {
				r.t.Errorf("%s: the phlebotomist gets %q, warnings %v", c.at.Zip, seen.AccessNotes, d.Warnings)
			}
			if c.warns > 0 && (d.Warnings[0].Code != "visit_far_from_patient" || !strings.Contains(d.Warnings[0].Msg, "about 1")) {
				r.t.Errorf("warned: %+v", d.Warnings)
			}
		}
		wrong := home
		wrong.State = "NV"
		if _, err := r.AtHome(r.ctx, r.who, wrong, nil); !fault.Is(err, fault.Refused) {
			r.t.Errorf("slots in another state: %v", err)
		}
		if _, err := r.RequestVisit(r.ctx, r.who, Request{Order: r.order(catalogue.AtHome, false).ID, Provider: "phlebfinders", Address: wrong}); !fault.Is(err, fault.Refused) {
			r.t.Errorf("a request in another state: %v", err)
		}
	})
}

// A visit is requested, gets a time from the provider, and is cancelled.
func TestRequestedVisit(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		o := r.order(catalogue.AtHome, false)
		rural := Address{FirstLine: "1 Farm Road", City: "Onalaska", State: "WI", Zip: "54650"}
		ask := func(a Address, provider string) (Document, error) {
			return r.RequestVisit(r.ctx, r.who, Request{Order: o.ID, Provider: provider, Address: a, Notes: "Dogs"})
		}
		for _, bad := range []struct {
			at       Address
			provider string
		}{{home, "phlebfinders"}, {rural, "getlabs"}} {
			if _, err := ask(bad.at, bad.provider); !fault.Is(err, fault.NotFound) {
				r.t.Errorf("%s in %s: %v", bad.provider, bad.at.Zip, err)
			}
		}
		d, err := ask(rural, "phlebfinders")
		if err != nil || d.Status != "pending" || d.EventStatus != Pending || d.Start != nil || d.End != nil || d.Reschedules || *d.TimeZone != "America/Chicago" {
			r.t.Fatalf("requested: %+v, %v", d, err)
		}
		start := noon.Add(50 * time.Hour)
		r.reportVisit(o, networks.Visit{BookingID: d.ProviderID, Status: "scheduled", Start: start, End: start.Add(time.Hour)})
		if d, err = r.get(o, Phlebotomy); err != nil || d.Status != "confirmed" || !time.Time(*d.Start).Equal(start) {
			r.t.Fatalf("agreed: %+v, %v", d, err)
		}
		if _, err := r.cancel(o, Phlebotomy, phlebotomyReasons[4], ""); !fault.Is(err, fault.Invalid) {
			r.t.Errorf("Other without notes: %v", err)
		}
		for range 2 { // the second call finds it cancelled
			if d, err = r.cancel(o, Phlebotomy, phlebotomyReasons[4], "Ill"); err != nil || d.Status != "cancelled" || d.EventData["is_refundable"] != true || len(d.Events) != 3 {
				r.t.Fatalf("cancelled: %+v, %v", d, err)
			}
		}
		r.work()
		if r.agency.holds(o.ID) != 0 {
			r.t.Error("the request was not withdrawn")
		}
		wantEqual(r.t, "order", r.path(o), []orders.Status{
			orders.Ordered, orders.RequisitionCreated, orders.AppointmentPending, orders.AppointmentScheduled, orders.AppointmentCancelled,
		})
		r.booked(o, Phlebotomy, r.slots(Phlebotomy)[0].Key) // the order is free again
		r.check(o, Phlebotomy)
	})
}

// Service centers are in the zone of New York in sandbox, and results end the
// visit.
func TestVisitAtACenter(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		o := r.order(catalogue.WalkIn, false)
		site := r.site()
		slots := r.slots(AtCenter)
		if slots[0].Price != 0 || len(slots) != 13*2 { // today's are over at noon
			r.t.Fatalf("%d slots, the first costs %d", len(slots), slots[0].Price)
		}
		d := r.booked(o, AtCenter, slots[0].Key)
		if d.Status != "confirmed" || d.Kind != AtCenter || *d.TimeZone != "America/New_York" || d.Address.FirstLine != site.FirstLine || d.Location.Lat != site.Lat {
			r.t.Fatalf("booked: %+v", d)
		}
		orders2 := r.now(o)
		r.moveOrder(&orders2, orders.Move{To: orders.Completed, By: orders.Lab})
		if d, _ = r.get(o, AtCenter); d.Status != "completed" {
			r.t.Errorf("after the results the appointment is %s", d.Status)
		}
		if _, err := r.cancel(o, AtCenter, centerReasons[0], ""); !fault.Is(err, fault.Refused) {
			r.t.Errorf("cancelling an ended visit: %v", err)
		}
		r.check(o, AtCenter)
	})
}

// A cancelled order cancels its phlebotomist, and leaves a service center as
// it is.
func TestOrderCancelled(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		home, center := r.order(catalogue.AtHome, false), r.order(catalogue.WalkIn, false)
		r.booked(home, Phlebotomy, r.slots(Phlebotomy)[0].Key)
		r.booked(center, AtCenter, r.slots(AtCenter)[0].Key)
		for _, o := range []orders.Order{home, center} {
			o = r.now(o)
			r.moveOrder(&o, orders.Move{To: orders.Cancelled, By: orders.Call})
		}
		r.work()
		d, _ := r.get(home, Phlebotomy)
		if d.Status != "cancelled" || d.EventData["origin"] != byOrder || r.agency.holds(home.ID) != 0 {
			r.t.Errorf("phlebotomy is %s, %d slots are held", d.Status, r.agency.holds(home.ID))
		}
		if d, _ = r.get(center, AtCenter); d.Status != "confirmed" || r.agency.holds(center.ID) != 1 {
			r.t.Errorf("the center is %s", d.Status)
		}
		wantEqual(r.t, "order", r.path(home)[2:], []orders.Status{orders.AppointmentScheduled, orders.Cancelled})
	})
}

// Before the requisition a slot is only reserved; it is confirmed with the
// requisition.
func TestBookingBeforeTheRequisition(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		r.switchOn(func(s *Settings) { s.BeforeRequisition = true })
		for _, k := range []Kind{Phlebotomy, AtCenter} {
			o := r.order(methodOf[k], true)
			d := r.booked(o, k, r.slots(k)[4].Key)
			first := map[Kind][]Status{Phlebotomy: {Pending, Reserved}, AtCenter: {Reserved}}[k]
			wantEqual(r.t, "events", statusesOf(d), first)
			wantEqual(r.t, "order", r.path(o), []orders.Status{orders.Ordered})
			if now := r.now(o); now.Appointment == nil {
				r.t.Error("the order does not know its appointment")
			}
			o = r.now(o)
			r.moveOrder(&o, orders.Move{To: orders.RequisitionCreated, By: orders.Requisition})
			r.work()
			d, _ = r.get(o, k)
			wantEqual(r.t, "events", statusesOf(d), append(first, Scheduled))
			wantEqual(r.t, "order", r.path(o), []orders.Status{orders.Ordered, orders.RequisitionCreated, orders.AppointmentPending, orders.AppointmentScheduled})
			r.check(o, k)
		}
	})
}

// An appointment that waits too long for a requisition lapses. It lapses eight
// hours after the order. If the order was for a later day, it lapses two hours
// before the visit.
func TestLapse(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		r.switchOn(func(s *Settings) { s.BeforeRequisition = true })
		o := r.order(catalogue.AtHome, true)
		r.booked(o, Phlebotomy, r.slots(Phlebotomy)[9].Key)
		for _, step := range []struct {
			turn time.Duration
			want string
		}{{maxWait - time.Minute, "reserved"}, {2 * time.Minute, "cancelled"}} {
			r.clock.Advance(step.turn)
			r.work()
			if d, _ := r.get(o, Phlebotomy); d.Status != step.want {
				r.t.Errorf("after %v more it is %s, want %s", step.turn, d.Status, step.want)
			}
		}
		if r.agency.holds(o.ID) != 0 {
			r.t.Error("the slot is still held")
		}
		wantEqual(r.t, "order", r.path(o), []orders.Status{orders.Ordered})
		start := noon.Add(30 * time.Hour)
		a := &Appointment{Start: &start}
		if got := lapseTime(a, &orders.Order{Status: orders.Ordered, Scheduled: true, CreatedAt: noon}); !got.Equal(start.Add(-minNotice)) {
			r.t.Errorf("of a scheduled order it lapses at %v", got)
		}
	})
}

// The Arizona laboratory confirms later, and the order moves only then.
func TestProviderThatConfirmsLater(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		r.switchOn(func(s *Settings) { s.SonoraQuest = true })
		o := r.order(catalogue.WalkIn, false)
		o.Lab = r.labNamed(sonoraQuest)
		r.putLab(o)
		found, err := r.AtCenters(r.ctx, r.who, CenterQuery{Lab: sonoraQuest, Zip: "85004", Radius: new(int)})
		if err == nil || found.Days != nil {
			r.t.Errorf("a radius of 0 miles finds %d days, %v", len(found.Days), err)
		}
		miles := 25
		if found, err = r.AtCenters(r.ctx, r.who, CenterQuery{Lab: sonoraQuest, Zip: "85004", Radius: &miles}); err != nil {
			r.t.Fatal(err)
		}
		slot := found.Days[1].Slots[0]
		d := r.booked(o, AtCenter, slot.Key)
		if d.Status != "reserved" || d.Reschedules {
			r.t.Fatalf("booked: %+v", d)
		}
		wantEqual(r.t, "order", r.path(o), []orders.Status{orders.Ordered, orders.RequisitionCreated})
		if _, err := r.cancel(o, AtCenter, centerReasons[0], ""); !fault.Is(err, fault.Refused) {
			r.t.Errorf("cancelled through the API: %v", err)
		}
		r.reportVisit(o, networks.Visit{BookingID: d.ProviderID, Status: "scheduled", Start: slot.Start, End: slot.End})
		if d, _ = r.get(o, AtCenter); d.Status != "confirmed" {
			r.t.Errorf("confirmed it is %s", d.Status)
		}
		wantEqual(r.t, "order", r.path(o), []orders.Status{orders.Ordered, orders.RequisitionCreated, orders.AppointmentScheduled})
		r.check(o, AtCenter)
	})
}

func statusesOf(d Document) (all []Status) {
	for _, e := range d.Events {
		all = append(all, e.Status)
	}
	return all
}
