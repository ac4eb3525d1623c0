package orders_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// An order of each course takes the shortest way to its end. Each step is a row
// of history and an event.
func TestShortestWays(t *testing.T) {
	ways := map[orders.Course][]string{
		orders.KitCourse: {
			"received.testkit.ordered", "received.testkit.requisition_created", "collecting_sample.testkit.transit_customer",
			"collecting_sample.testkit.out_for_delivery", "collecting_sample.testkit.with_customer", "collecting_sample.testkit.transit_lab",
			"sample_with_lab.testkit.delivered_to_lab", "completed.testkit.completed", "completed.testkit.corrected",
		},
		orders.WalkInCourse: {
			"received.walk_in_test.ordered", "received.walk_in_test.requisition_created", "completed.walk_in_test.completed", "completed.walk_in_test.corrected",
		},
		orders.AtHomeCourse: {
			"received.at_home_phlebotomy.ordered", "received.at_home_phlebotomy.requisition_created", "collecting_sample.at_home_phlebotomy.appointment_pending",
			"collecting_sample.at_home_phlebotomy.appointment_scheduled", "collecting_sample.at_home_phlebotomy.draw_completed",
			"completed.at_home_phlebotomy.completed", "completed.at_home_phlebotomy.corrected",
		},
		orders.OnSiteCourse: {
			"received.on_site_collection.ordered", "received.on_site_collection.requisition_created", "sample_with_lab.on_site_collection.draw_completed",
			"completed.on_site_collection.completed", "completed.on_site_collection.corrected",
		},
	}
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		for course, want := range ways {
			o := orderstest.New(t, db, team.ID, course.Method())
			orderstest.MoveTo(t, db, &o, orders.Corrected)
			if got := eventStatuses(t, db, o); !slices.Equal(got, want) {
				t.Errorf("%s: events of %v, want %v", course, got, want)
			}
			checkOrder(t, db, o)
		}
	})
}

// Late, duplicate and out-of-order reports move nothing.
func TestLateReports(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		o := orderstest.New(t, db, team.ID, catalogue.TestKit)
		orderstest.MoveTo(t, db, &o, orders.WithCustomer)
		before := eventStatuses(t, db, o)
		for i, m := range []orders.Move{
			{To: orders.OutForDelivery, By: orders.Carrier, Key: "late"},
			{To: orders.TransitCustomer, By: orders.Carrier},
			{To: orders.TransitLab, By: orders.Call},
			{To: orders.DrawCompleted, By: orders.Appointment},
			{To: orders.Cancelled, By: orders.Call},
		} {
			if orderstest.Move(t, db, &o, m) {
				t.Errorf("move %d was made: %v", i, m)
			}
		}
		if got := eventStatuses(t, db, o); !slices.Equal(got, before) {
			t.Errorf("something was announced: %v", got)
		}
		// A scan was missed; the report that the kit is at the lab still counts.
		arrived := orders.Move{To: orders.DeliveredToLab, By: orders.Lab, Key: "arrived"}
		if !orderstest.Move(t, db, &o, arrived) || orderstest.Move(t, db, &o, arrived) {
			t.Error("a report with a key moves once")
		}
		stale := o
		orderstest.MoveTo(t, db, &o, orders.Completed)
		if orderstest.Move(t, db, &stale, orders.Move{To: orders.LabProcessingBlocked, By: orders.Lab}) {
			t.Error("an order read long ago moved back")
		}
		if stale.Status != orders.Completed {
			t.Errorf("the order read long ago shows %s", stale.Status)
		}
		checkOrder(t, db, o)
	})
}

// Each further partial result is a step. The feed has it with every setting for
// webhooks.
func TestPartialResults(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		o := orderstest.New(t, db, team.ID, catalogue.OnSite)
		orderstest.MoveTo(t, db, &o, orders.DrawCompleted)
		before := len(eventStatuses(t, db, o))
		for _, key := range []string{"1", "2", "2"} {
			orderstest.Move(t, db, &o, orders.Move{To: orders.PartialResults, By: orders.Lab, Key: key})
		}
		if got := len(history(t, db, o)); got != before+2 {
			t.Errorf("%d rows of history, want %d", got, before+2)
		}
		if got := len(eventStatuses(t, db, o)); got != before+2 {
			t.Errorf("%d events, want %d", got, before+2)
		}
	})
}

// history returns the history of an order.
func history(t *testing.T, db *store.DB, o orders.Order) (all []orders.Event) {
	t.Helper()
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
		all, err = orderstest.History(ctx, tx, &o)
		return err
	})
	return all
}

// orderEvent holds the fields of an event about an order.
type orderEvent struct {
	ID        orders.ID                 `json:"id"`
	LastEvent struct{ Status string }   `json:"last_event"`
	Events    []struct{ Status string } `json:"events"`
}

func (a orderEvent) last(t *testing.T) string {
	t.Helper()
	if n := len(a.Events); n == 0 || a.Events[n-1] != a.LastEvent {
		t.Errorf("last_event %v is not the last of %v", a.LastEvent, a.Events)
	}
	return a.LastEvent.Status
}

// eventStatuses returns the last status of each event about an order, in order.
func eventStatuses(t *testing.T, db *store.DB, o orders.Order) (all []string) {
	t.Helper()
	if err := (&events.Sequencer{DB: db}).Settle(t.Context()); err != nil { // on PostgreSQL a running node numbers events
		t.Fatal(err)
	}
	err := db.Read(store.WithTeam(t.Context(), o.Team.UUID()), func(tx *store.Tx) error {
		page := events.Page{HasMore: true}
		for page.HasMore {
			var err error
			if page, err = events.ReadFeed(t.Context(), tx, o.Team.UUID(), page.Next, events.MaxPage, nil); err != nil {
				return err
			}
			for _, e := range page.Events {
				var body struct{ Data orderEvent }
				if err := json.Unmarshal(e.Body, &body); err != nil {
					return err
				}
				if body.Data.ID == o.ID {
					all = append(all, body.Data.last(t))
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// checkOrder fails if an order, its history and its transaction disagree.
func checkOrder(t *testing.T, db *store.DB, o orders.Order) {
	t.Helper()
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
		now, err := orders.Get(ctx, tx, o.Team, o.ID)
		if err != nil {
			return err
		}
		rows, err := orderstest.History(ctx, tx, &now)
		if err != nil {
			return err
		}
		if last := rows[len(rows)-1]; last.Status != now.Status || !last.CreatedAt.Equal(now.StatusAt) {
			t.Errorf("the order has the status %s, its history ends with %s", now.Status, last.Status)
		}
		whole, err := orders.GetTransaction(ctx, tx, o.Team, now.Transaction)
		if err != nil {
			return err
		}
		if want := orders.TransactionStatusOf(whole.Members); whole.Status != want {
			t.Errorf("the transaction is %s, its orders make it %s", whole.Status, want)
		}
		return nil
	})
}

func TestListenersOfOneDatabase(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		other := storetest.SQLite(t)
		var heard, elsewhere []orders.Status
		note := func(to *[]orders.Status) orders.Listener {
			return orders.Listener{Name: "note", Changed: func(_ context.Context, _ *store.Tx, c orders.Change) error {
				*to = append(*to, c.Order.Status)
				return nil
			}}
		}
		orders.Listen(db, note(&heard))
		orders.Listen(other, note(&elsewhere))
		o := orderstest.New(t, db, orderstest.Team(t, db).ID, catalogue.WalkIn)
		orderstest.MoveTo(t, db, &o, orders.RequisitionCreated)
		if want := []orders.Status{orders.Ordered, orders.RequisitionCreated}; !slices.Equal(heard, want) || elsewhere != nil {
			t.Errorf("heard %v, want %v; the other database heard %v", heard, want, elsewhere)
		}
	})
}

func TestAListenersErrorUndoesTheChange(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		o := orderstest.New(t, db, orderstest.Team(t, db).ID, catalogue.WalkIn)
		refused := errors.New("refused")
		orders.Listen(db, orders.Listener{Name: "refuse", Changed: func(context.Context, *store.Tx, orders.Change) error { return refused }})
		ctx := store.WithTeam(t.Context(), o.Team.UUID())
		err := db.Write(ctx, func(tx *store.Tx) error {
			_, err := orders.Advance(ctx, tx, &o, orders.Move{To: orders.RequisitionCreated, By: orders.Requisition})
			return err
		})
		if !errors.Is(err, refused) {
			t.Fatalf("got %v", err)
		}
		err = db.Read(ctx, func(tx *store.Tx) error {
			stored, err := orders.Get(ctx, tx, o.Team, o.ID)
			if stored.Status != orders.Ordered {
				t.Errorf("the order is %s", stored.Status)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
