package sandboxlab_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/networks/sandboxlab"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Reference 1.15: the slots of service centers.
func TestSlotsOfServiceCenters(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		lab := &sandboxlab.Lab{DB: db}
		eastern, err := time.LoadLocation("America/New_York")
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			now         string
			first, last string // of the first day that has any, in New York
			today       int
		}{
			{"2026-03-04T09:20:00-05:00", "Mar  4 10:00", "Mar  4 16:40", 21},
			{"2026-03-04T15:59:00-05:00", "Mar  4 16:00", "Mar  4 16:40", 3},
			{"2026-03-04T16:00:00-05:00", "Mar  5 07:00", "Mar  5 11:40", 0},
			{"2026-03-08T00:30:00-05:00", "Mar  8 01:00", "Mar  8 16:40", 45}, // an hour of this day does not exist
		} {
			now, err := time.Parse(time.RFC3339, test.now)
			if err != nil {
				t.Fatal(err)
			}
			today := civil.DateOf(now.In(eastern))
			slots, err := lab.Slots(t.Context(), networks.SlotQuery{Provider: sandboxlab.Quest, Site: "QX1", Zone: "America/Phoenix", Start: today, Now: now})
			if err != nil {
				t.Fatal(err)
			}
			var ofFirst []networks.Slot
			n := 0
			for _, s := range slots {
				day := civil.DateOf(s.Start.In(eastern))
				if day == civil.DateOf(slots[0].Start.In(eastern)) {
					ofFirst = append(ofFirst, s)
				}
				if day == today {
					n++
				}
				if s.Zone != "America/New_York" || s.Price != 0 || s.End.Sub(s.Start) != 20*time.Minute || s.Free < 1 || !s.Start.After(now) {
					t.Fatalf("%+v", s)
				}
			}
			show := func(s networks.Slot) string { return s.Start.In(eastern).Format(time.Stamp)[:12] }
			if a, b := show(ofFirst[0]), show(ofFirst[len(ofFirst)-1]); a != test.first || b != test.last || n != test.today {
				t.Errorf("at %s the first day has %s to %s, today %d", test.now, a, b, n)
			}
			if end := civil.DateOf(slots[len(slots)-1].Start.In(eastern)); end != today.AddDays(13) {
				t.Errorf("the last day is %s", end)
			}
		}
	})
}

// A slot is taken by as many orders as it has places, each once.
func TestBookingASlot(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := open(t, db)
		q := networks.SlotQuery{
			Team: s.team.UUID(), Provider: sandboxlab.Getlabs, Zip: "85004", Zone: "America/Phoenix", Start: civil.DateOf(db.Now()), Now: db.Now(),
		}
		slots, err := s.Slots(t.Context(), q)
		if err != nil || len(slots) < 60 || slots[0].Price != 3500 {
			t.Fatalf("%d slots, %v", len(slots), err)
		}
		var ids []string
		for n := range slots[0].Free {
			whole := s.place(orderstest.New(t, db, s.team, catalogue.AtHome))
			wish := uuid.New()
			for range 2 { // asked again, it is the same booking
				b, err := s.Book(t.Context(), wish, whole, slots[0])
				if err != nil {
					t.Fatalf("booking %d: %v", n, err)
				}
				ids = append(ids, b.ID)
			}
		}
		if ids[0] != ids[1] || ids[0] == ids[2] {
			t.Errorf("bookings %v", ids)
		}
		late := s.place(orderstest.New(t, db, s.team, catalogue.AtHome))
		if _, err := s.Book(t.Context(), uuid.New(), late, slots[0]); !errors.Is(err, networks.ErrSlotTaken) {
			t.Errorf("one too many was answered %v", err)
		}
		left, err := s.Slots(t.Context(), q)
		if err != nil || len(left) != len(slots)-1 {
			t.Errorf("%d slots are left of %d, %v", len(left), len(slots), err)
		}
		if err := s.Unbook(t.Context(), networks.Booking{ID: ids[0]}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Book(t.Context(), uuid.New(), late, slots[0]); err != nil {
			t.Errorf("the freed place was answered %v", err)
		}
		q.Zip = "10001"
		if none, err := s.Slots(t.Context(), q); err != nil || len(none) != 0 {
			t.Errorf("%d slots in a ZIP code that is not served, %v", len(none), err)
		}
	})
}

// A granted booking stays granted, also while another order holds the slot twice.
func TestBookingIsGrantedAgain(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := open(t, db)
		slots, err := s.Slots(t.Context(), networks.SlotQuery{
			Team: s.team.UUID(), Provider: sandboxlab.Getlabs, Zip: "85004", Zone: "America/Phoenix", Start: civil.DateOf(db.Now()), Now: db.Now(),
		})
		if err != nil {
			t.Fatal(err)
		}
		slot, wish := slots[0], uuid.New()
		first := s.place(orderstest.New(t, db, s.team, catalogue.AtHome))
		if _, err := s.Book(t.Context(), wish, first, slot); err != nil {
			t.Fatal(err)
		}
		second := s.place(orderstest.New(t, db, s.team, catalogue.AtHome))
		for range slot.Free {
			if _, err := s.Book(t.Context(), uuid.New(), second, slot); err != nil {
				t.Fatal(err)
			}
		}
		if b, err := s.Book(t.Context(), wish, first, slot); err != nil || b.ID != wish.String() {
			t.Errorf("asked again, it was answered %+v, %v", b, err)
		}
	})
}

// visits lists the reports about appointments.
func (s *testLab) visits() (all []string) {
	for _, r := range s.reports() {
		if r.Visit != nil {
			all = append(all, r.Visit.Status)
		}
	}
	return all
}

// A requested visit gets its time, takes place, and leads to results.
func TestRequestedVisit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := open(t, db)
		o := orderstest.New(t, db, s.team, catalogue.AtHome)
		whole := s.place(o)
		s.advance(time.Hour)
		orderstest.MoveTo(t, db, &o, orders.RequisitionCreated)
		wish := uuid.New()
		if _, err := s.Request(t.Context(), wish, whole, sandboxlab.Phlebfinders, networks.Address{Zip: "85004"}, ""); err == nil {
			t.Error("a request in a ZIP code that is not served was accepted")
		}
		one, err := s.Request(t.Context(), wish, whole, sandboxlab.Phlebfinders, networks.Address{Zip: "54650"}, "")
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Request(t.Context(), wish, whole, sandboxlab.Phlebfinders, networks.Address{Zip: "54650"}, "")
		if err != nil || again.ID != one.ID {
			t.Errorf("the same request is another booking, %v", err)
		}
		s.advance(5 * time.Hour)
		if got := s.visits(); len(got) != 1 || got[0] != "scheduled" {
			t.Errorf("after five hours: %v", got)
		}
		s.advance(10 * 24 * time.Hour)
		if got := s.visits(); len(got) != 3 || got[1] != "in_progress" || got[2] != "completed" {
			t.Errorf("in the end: %v", got)
		}
		if set := s.last(o.ID); set == nil || set.Partial {
			t.Error("there are no results")
		}
	})
}

// A cancelled visit does not take place.
func TestCancelledVisit(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := open(t, db)
		o := orderstest.New(t, db, s.team, catalogue.AtHome)
		whole := s.place(o)
		orderstest.MoveTo(t, db, &o, orders.RequisitionCreated)
		b, err := s.Request(t.Context(), uuid.New(), whole, sandboxlab.Phlebfinders, networks.Address{Zip: "54650"}, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Unbook(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		s.advance(30 * 24 * time.Hour)
		if got := s.visits(); len(got) != 0 {
			t.Errorf("it took place: %v", got)
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			plans, err := sandboxlab.PlannedSteps(ctx, tx, s.team, &o.ID, 10)
			if len(plans) != 0 {
				t.Errorf("%d things are planned", len(plans))
			}
			return err
		})
	})
}

// An order that books its own slot again keeps it when the first booking is
// released, however late. Steps that were planned meanwhile stay.
func TestReleaseReplacedBooking(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := openStopped(t, db)
		q := networks.SlotQuery{
			Team: s.team.UUID(), Provider: sandboxlab.Getlabs, Zip: "85004", Zone: "America/Phoenix", Start: civil.DateOf(db.Now()), Now: db.Now(),
		}
		slots, err := s.Slots(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		o := orderstest.New(t, db, s.team, catalogue.AtHome)
		whole := s.place(o)
		orderstest.MoveTo(t, db, &o, orders.RequisitionCreated)
		wish := func() uuid.UUID { return uuid.Must(uuid.NewV7()) }
		first, err := s.Book(t.Context(), wish(), whole, slots[0])
		if err != nil {
			t.Fatal(err)
		}
		second, err := s.Book(t.Context(), wish(), whole, slots[0])
		if err != nil || second.ID == first.ID {
			t.Fatalf("the second booking is %s, the first was %s, %v", second.ID, first.ID, err)
		}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := s.Simulate(ctx, tx, s.team, o.ID, sandboxlab.Simulation{})
			return err
		})
		if err := s.Unbook(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		if left, err := s.Slots(t.Context(), q); err != nil || left[0].Free != slots[0].Free-1 {
			t.Errorf("%d places are left of %d, %v", left[0].Free, slots[0].Free, err)
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			if n, _, err := sandboxlab.CountDue(ctx, tx, s.team); err != nil || n == 0 {
				t.Errorf("of what was simulated, %d steps are to be done, %v", n, err)
			}
			return nil
		})
	})
}
