package appointments

import (
	"context"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/labs/places"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
)

// Every row of reference 2.7, with its kind (its status) and its text.
func TestRefusals(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		o, walk, early := r.order(catalogue.AtHome, false), r.order(catalogue.WalkIn, false), r.order(catalogue.AtHome, true)
		rival := r.order(catalogue.WalkIn, false)
		visits, chairs := r.slots(Phlebotomy), r.slots(AtCenter)
		taken := r.slots(AtCenter)[3]
		r.booked(rival, AtCenter, chairs[3].Key)
		used := r.slots(AtCenter)[3].Key
		foreign := newFixture(r.t, r.DB, r.clock).slots(AtCenter)[0].Key
		past, far, miles, yes := civil.MustParse("2027-04-13"), civil.MustParse("9999-12-25"), 25, r.site().Code
		var no string
		for _, s := range places.MadeUpSites("quest") {
			if s.Capabilities&places.ScheduledByUs == 0 {
				no = s.Code
			}
		}
		book := func(o orders.Order, k Kind, key string) func() error {
			return func() error { _, err := r.book(o, k, key); return err }
		}
		home := func(zip string, start *civil.Date) func() error {
			return func() error {
				_, err := r.AtHome(r.ctx, r.who, Address{FirstLine: "1 Main Street", City: "Phoenix", State: "AZ", Zip: zip}, start)
				return err
			}
		}
		centers := func(q CenterQuery) func() error {
			q.Lab = "quest"
			return func() error { _, err := r.AtCenters(r.ctx, r.who, q); return err }
		}
		unknown := o
		unknown.ID = ids.MustParse[orders.Order]("019f0000-0000-7000-8000-000000000000")
		for _, c := range []struct {
			name string
			do   func() error
			kind fault.Kind
			says string
		}{
			{"slot gone, sandbox", book(walk, AtCenter, taken.Key), fault.Refused, "taken"},
			{"slot gone, production", func() error { return errTaken(false) }, fault.NotFound, "taken"},
			{"no slots for ZIP", home("85320", nil), fault.NotFound, "zip_code"},
			{"no slots near ZIP", centers(CenterQuery{Zip: "00501", Radius: new(int)}), fault.NotFound, "No appointment slots"},
			{"sites do not schedule", centers(CenterQuery{Codes: []string{no}}), fault.NotFound, "filtered out"},
			{"bad key", book(walk, AtCenter, "nonsense"), fault.Refused, "booking keys"},
			{"no key", book(walk, AtCenter, ""), fault.Refused, "booking keys"},
			{"another team's key", book(walk, AtCenter, foreign), fault.Refused, "booking keys"},
			{"key of another kind", book(walk, AtCenter, visits[0].Key), fault.Refused, "another kind"},
			{"used key", book(walk, AtCenter, chairs[3].Key), fault.Refused, "used before"},
			{"unknown site", centers(CenterQuery{Codes: []string{yes, "NOWHERE"}}), fault.Refused, "NOWHERE"},
			{"past date", home("85004", &past), fault.Refused, "today or later"},
			{"past date at centers", centers(CenterQuery{Codes: []string{yes}, Start: &past}), fault.Refused, "today or later"},
			{"far date", home("85004", &far), fault.Refused, "within two years"},
			{"far date at centers", centers(CenterQuery{Codes: []string{yes}, Start: &far}), fault.Refused, "within two years"},
			{"neither codes nor ZIP", centers(CenterQuery{}), fault.Refused, "site_codes or zip_code"},
			{"ZIP without radius", centers(CenterQuery{Zip: "85004"}), fault.Refused, "radius"},
			{"more than 3 codes", centers(CenterQuery{Codes: []string{"a", "b", "c", "d"}}), fault.Refused, "At most 3"},
			{"unknown order", book(unknown, AtCenter, chairs[0].Key), fault.NotFound, "order"},
			{"not a phlebotomy order", book(walk, Phlebotomy, visits[0].Key), fault.NotFound, "at_home_phlebotomy"},
			{"not a walk-in order", book(o, AtCenter, chairs[0].Key), fault.NotFound, "walk_in_test"},
			{"no requisition", book(early, Phlebotomy, visits[0].Key), fault.Refused, "it is ordered"},
			{"no appointment", func() error { _, err := r.get(o, Phlebotomy); return err }, fault.NotFound, "Appointment"},
			{"no appointment to cancel", func() error { _, err := r.cancel(o, Phlebotomy, phlebotomyReasons[0], ""); return err }, fault.NotFound, "Appointment"},
			{"no appointment to move", func() error {
				_, err := r.Reschedule(r.ctx, r.who, Change{Order: o.ID, Kind: Phlebotomy, Key: visits[0].Key})
				return err
			}, fault.NotFound, "Appointment"},
			{"already booked", book(rival, AtCenter, chairs[5].Key), fault.Refused, "already"},
			{"unknown reason", func() error { _, err := r.cancel(rival, AtCenter, phlebotomyReasons[0], ""); return err }, fault.Refused, "reasons"},
			{"team may not", func() error {
				_, err := r.AtCenters(r.ctx, r.who, CenterQuery{Lab: sonoraQuest, Zip: "85004", Radius: &miles})
				return err
			}, fault.Forbidden, "sonora_quest"},
			{"expired key", func() error {
				r.clock.Advance(keyLife)
				return book(walk, AtCenter, chairs[6].Key)()
			}, fault.Refused, "expired"},
			{"expired before it was used", book(walk, AtCenter, used), fault.Refused, "expired"},
			{"scheduling disabled", func() error {
				r.switchOn(func(s *Settings) { s.Scheduling = false })
				return home("85004", nil)()
			}, fault.Unavailable, "disabled"},
			{"scheduling disabled at centers", centers(CenterQuery{Codes: []string{yes}}), fault.Unavailable, "disabled"},
		} {
			err := c.do()
			if c.kind == fault.Unavailable && fault.CodeOf(err) != "scheduling_disabled" {
				r.t.Errorf("%s has the code %s", c.name, fault.CodeOf(err))
			}
			if !fault.Is(err, c.kind) || !strings.Contains(err.Error(), c.says) {
				r.t.Errorf("%s: %v", c.name, err)
			}
			if err != nil && (strings.Contains(err.Error(), "Main Street") || strings.Contains(err.Error(), "85004")) {
				r.t.Errorf("%s repeats an address: %v", c.name, err)
			}
		}
		for _, o := range []orders.Order{o, walk, early} {
			if n := r.agency.holds(o.ID); n != 0 {
				r.t.Errorf("a refused order holds %d slots", n)
			}
		}
	})
}

// A patient has one appointment with a phlebotomist, also for two orders.
func TestOneVisitPerPatient(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		o := r.order(catalogue.AtHome, false)
		var second orders.Order
		test := orderstest.Test(r.t, r.DB, r.team.ID, catalogue.AtHome)
		request := orders.Request{
			User: o.User, Set: &orders.OrderSet{TestIDs: []catalogue.TestID{test.ID}}, Patient: orderstest.Patient(), Address: orderstest.Address(),
			Answers: orderstest.Answers(r.t, r.DB, r.team.ID, test),
		}
		userstest.Write(r.t, r.DB, func(ctx context.Context, tx *store.Tx) (err error) {
			second, err = orders.Create(ctx, tx, r.team.ID, request)
			return err
		})
		orderstest.MoveTo(r.t, r.DB, &second, orders.RequisitionCreated)
		slots := r.slots(Phlebotomy)
		r.booked(o, Phlebotomy, slots[0].Key)
		if _, err := r.book(second, Phlebotomy, slots[1].Key); !fault.Is(err, fault.Refused) {
			r.t.Errorf("a second visit to the same patient: %v", err)
		}
		r.reportVisit(o, networks.Visit{Status: "completed"})
		r.booked(second, Phlebotomy, slots[1].Key) // the key was not used up
	})
}

// A patient must be of age on the day of the visit, in the zone of its place.
func TestAgeOnTheDay(t *testing.T) {
	o := &orders.Order{}
	p := orderstest.Patient()
	p.BirthDate = civil.MustParse("2009-04-15")
	o.Body.Patient = &p
	midnight := time.Date(2027, 4, 15, 7, 0, 0, 0, time.UTC) // in Phoenix; in New York it is three in the morning
	for _, c := range []struct {
		at   time.Time
		zone string
		ok   bool
	}{
		{midnight, "America/Phoenix", true},
		{midnight.Add(-time.Minute), "America/Phoenix", false},
		{midnight.Add(-time.Minute), "America/New_York", true},
		{midnight, "Pacific/Honolulu", false},
	} {
		if err := checkAge(o, c.at, c.zone); (err == nil) != c.ok {
			t.Errorf("%v in %s: %v", c.at, c.zone, err)
		}
	}
}

// A key works once, also when two callers use it at the same moment, and keys
// of an earlier search stay valid.
func TestKeysWorkOnce(t *testing.T) {
	eachFixture(t, func(r *fixture) {
		first, second := r.slots(AtCenter), r.slots(AtCenter)
		seen := map[string]bool{}
		for _, s := range append(append([]Slot(nil), first...), second...) {
			if seen[s.Key] {
				r.t.Fatal("two searches gave the same key")
			}
			seen[s.Key] = true
			if strings.Contains(s.Key, r.site().Code) || s.Expires.After(s.Start) {
				r.t.Errorf("the key is readable or lives too long: %v", s)
			}
		}
		a, b := r.order(catalogue.WalkIn, false), r.order(catalogue.WalkIn, false)
		results := make(chan error, 2)
		for _, o := range []orders.Order{a, b} {
			go func() { _, err := r.book(o, AtCenter, first[0].Key); results <- err }()
		}
		one, two := <-results, <-results
		if (one == nil) == (two == nil) {
			r.t.Errorf("one key for two orders: %v, %v", one, two)
		}
	})
}
