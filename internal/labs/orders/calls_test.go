package orders_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// try runs one call and returns its error.
func try(db *store.DB, team teams.ID, call func(ctx context.Context, tx *store.Tx) error) error {
	ctx := store.WithTeam(context.Background(), team.UUID())
	return db.Write(ctx, func(tx *store.Tx) error { return call(ctx, tx) })
}

func wantRefusal(t *testing.T, err error, kind fault.Kind, msg string) {
	t.Helper()
	var refused *fault.Error
	if !errors.As(err, &refused) || refused.Kind() != kind || refused.Message() != msg {
		t.Errorf("got %v, want %q", err, msg)
	}
}

// activate_by can be changed only before an order is placed, and only if it was
// set at creation.
func TestReschedule(t *testing.T) {
	moment := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { return moment }, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		day := func(n int) *civil.Date { d := civil.MustParse("2026-03-01").AddDays(n); return &d }
		r := orderstest.Request(t, db, orderstest.User(t, db, team.ID), orderstest.Test(t, db, team.ID, catalogue.WalkIn))
		r.ActivateBy = day(5)
		var o orders.Order
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
			o, err = orders.Create(ctx, tx, team.ID, r)
			return err
		})
		reschedule := func(id orders.ID, to *civil.Date) error {
			return try(db, team.ID, func(ctx context.Context, tx *store.Tx) (err error) {
				o, err = orders.Reschedule(ctx, tx, team.ID, id, to)
				return err
			})
		}
		for _, to := range []*civil.Date{day(9), day(0), nil, day(2)} {
			if err := reschedule(o.ID, to); err != nil {
				t.Fatal(err)
			}
			if o.ActivateBy != to && *o.ActivateBy != *to {
				t.Errorf("the day is %v, want %v", o.ActivateBy, to)
			}
		}
		id, version := o.ID, o.UpdatedAt
		moment = moment.Add(time.Minute)
		if err := reschedule(id, day(2)); err != nil || !o.UpdatedAt.Equal(version) {
			t.Errorf("the same day: %v, updated at %v", err, o.UpdatedAt)
		}
		wantRefusal(t, reschedule(id, day(-1)), fault.Refused, "activate_by must be today or later")
		wantRefusal(t, reschedule(orderstest.New(t, db, team.ID, catalogue.WalkIn).ID, day(3)), fault.Refused,
			"activate_by can only be changed on an order that was created with one")
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
			o, err = orders.Get(ctx, tx, team.ID, id)
			return err
		})
		if o.ActivateBy == nil || *o.ActivateBy != *day(2) {
			t.Errorf("a refused change left the day %v", o.ActivateBy)
		}
		orderstest.MoveTo(t, db, &o, orders.RequisitionCreated)
		wantRefusal(t, reschedule(id, day(3)), fault.Refused, "activate_by can only be changed while the order is ordered or awaiting_registration")
		if other := orderstest.Team(t, db); !fault.Is(try(db, other.ID, func(ctx context.Context, tx *store.Tx) error {
			_, err := orders.Reschedule(ctx, tx, other.ID, id, day(3))
			return err
		}), fault.NotFound) {
			t.Error("another team's order was found")
		}
	})
}

// A sample can be marked as drawn after the requisition, and only on site. The
// results then have expected dates. A repeated call changes nothing.
func TestCompleteDraw(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		repeated := false
		draw := func(o *orders.Order) error {
			return try(db, team.ID, func(ctx context.Context, tx *store.Tx) error {
				drawn, already, err := orders.CompleteDraw(ctx, tx, team.ID, o.ID)
				if err == nil {
					*o, repeated = drawn, already
				}
				return err
			})
		}
		o := orderstest.New(t, db, team.ID, catalogue.OnSite)
		orderstest.MoveTo(t, db, &o, orders.RequisitionCreated)
		if err := draw(&o); err != nil || o.Status != orders.DrawCompleted || o.CollectedAt == nil || !o.CollectedAt.Equal(o.StatusAt) {
			t.Errorf("%v: %s, collected at %v", err, o.Full(), o.CollectedAt)
		}
		before := o
		for _, later := range []orders.Status{orders.DrawCompleted, orders.PartialResults, orders.Completed} {
			orderstest.MoveTo(t, db, &o, later)
			if err := draw(&o); err != nil || !repeated || o.Status != later || !o.CollectedAt.Equal(*before.CollectedAt) {
				t.Errorf("repeated after %s: %v, %v, %s", later, err, repeated, o.Status)
			}
		}
		for _, drawn := range []bool{false, true} {
			cancelled := orderstest.New(t, db, team.ID, catalogue.OnSite)
			orderstest.MoveTo(t, db, &cancelled, orders.RequisitionCreated)
			if drawn {
				orderstest.MoveTo(t, db, &cancelled, orders.DrawCompleted)
			}
			orderstest.MoveTo(t, db, &cancelled, orders.Cancelled)
			wantRefusal(t, draw(&cancelled), fault.Refused, "Order status cancelled.on_site_collection.cancelled cannot be marked as drawn")
		}
		written := o.StatusAt.Add(-time.Hour).UTC()
		dated := orderstest.New(t, db, team.ID, catalogue.OnSite)
		orderstest.MoveTo(t, db, &dated, orders.RequisitionCreated)
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			return orders.Amend(ctx, tx, &dated, func(o *orders.Order) { o.SetStatedCollection(networks.Moment{Time: written}, written, nil, nil) })
		})
		if err := draw(&dated); err != nil || dated.CollectedAt == nil || !dated.CollectedAt.Equal(written) {
			t.Errorf("%v: collected at %v, and written on the sample is %v", err, dated.CollectedAt, written)
		}
		kit := orderstest.New(t, db, team.ID, catalogue.TestKit)
		wantRefusal(t, draw(&kit), fault.Refused, "Only on-site collection orders can be marked as drawn")
		checkOrder(t, db, o)
	})
}

// Resending sends the latest event of each order once, also if an id is
// repeated. Unknown orders and those of other teams are skipped.
func TestResend(t *testing.T) {
	moment := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	storetest.EachAt(t, func() time.Time { moment = moment.Add(time.Second); return moment }, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		first, second := orderstest.New(t, db, team.ID, catalogue.WalkIn), orderstest.New(t, db, team.ID, catalogue.OnSite)
		foreign := orderstest.New(t, db, orderstest.Team(t, db).ID, catalogue.WalkIn)
		orderstest.MoveTo(t, db, &second, orders.RequisitionCreated)
		before := fmt.Sprint(eventStatuses(t, db, first), eventStatuses(t, db, second))
		index := orders.NewIndex()
		again := orders.Resend{IDs: []orders.ID{second.ID, foreign.ID, second.ID, first.ID}}
		var named, sent []orders.ID
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
			named, err = again.Select(ctx, tx, index, team.ID)
			return err
		})
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
			sent, err = orders.ResendEvents(ctx, tx, team.ID, named)
			return err
		})
		if fmt.Sprint(sent) != fmt.Sprint([]orders.ID{second.ID, first.ID}) {
			t.Errorf("sent %v", sent)
		}
		want := "[received.walk_in_test.ordered received.walk_in_test.ordered] " +
			"[received.on_site_collection.ordered received.on_site_collection.requisition_created received.on_site_collection.requisition_created]"
		if got := fmt.Sprint(eventStatuses(t, db, first), " ", eventStatuses(t, db, second)); got != want {
			t.Errorf("heard %s, before that %s", got, before)
		}
		if n := len(eventStatuses(t, db, foreign)); n != 1 {
			t.Errorf("the other team heard %d events", n)
		}
		for name, c := range map[string]struct {
			start, end time.Time
			want       []orders.ID
		}{
			"all of it":     {first.UpdatedAt, second.UpdatedAt, []orders.ID{first.ID, second.ID}},
			"the later one": {first.UpdatedAt.Add(time.Microsecond), second.UpdatedAt, []orders.ID{second.ID}},
			"before":        {first.UpdatedAt.Add(-time.Hour), first.UpdatedAt.Add(-time.Microsecond), nil},
		} {
			again := orders.Resend{Start: &c.start, End: &c.end}
			if err := again.Check(moment); err != nil {
				t.Fatal(err)
			}
			userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
				all, err := again.Select(ctx, tx, index, team.ID)
				if fmt.Sprint(all) != fmt.Sprint(c.want) {
					t.Errorf("%s: %v, want %v", name, all, c.want)
				}
				return err
			})
		}
	})
}

func TestResendIsChecked(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *time.Time { at := now.Add(-d); return &at }
	for msg, r := range map[string]orders.Resend{
		"Value error, give order_ids or start_at":                        {},
		"Value error, end_at must not be before start_at":                {Start: ago(0), End: ago(time.Hour)},
		"Value error, start_at and end_at may be at most 60 days apart":  {Start: ago(61 * 24 * time.Hour), End: ago(0)},
		"Value error, start_at and end_at may be at most 60 days apart ": {Start: ago(61 * 24 * time.Hour)}, // until now
	} {
		wantRefusal(t, r.Check(now), fault.Invalid, strings.TrimSpace(msg))
	}
}

// A resent event of an order that moves concurrently has the state after the
// move: the earlier state never follows the later one.
func TestResendDuringAMove(t *testing.T) {
	db := storetest.Postgres(t)
	team := orderstest.Team(t, db)
	o := orderstest.New(t, db, team.ID, catalogue.WalkIn)
	moved, sent := make(chan struct{}), make(chan error, 1)
	go func() {
		<-moved
		sent <- try(db, team.ID, func(ctx context.Context, tx *store.Tx) error {
			_, err := orders.ResendEvents(ctx, tx, team.ID, []orders.ID{o.ID})
			return err
		})
	}()
	now := o
	err := try(db, team.ID, func(ctx context.Context, tx *store.Tx) error {
		if _, err := orders.Advance(ctx, tx, &now, orders.Move{To: orders.RequisitionCreated, By: orders.Requisition}); err != nil {
			return err
		}
		close(moved)
		select {
		case err := <-sent:
			sent <- err
		case <-time.After(300 * time.Millisecond): // it waits for the lock
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	const left, reached = "received.walk_in_test.ordered", "received.walk_in_test.requisition_created"
	if got := eventStatuses(t, db, o); !slices.Equal(got, []string{left, reached, reached}) {
		t.Errorf("events of %v", got)
	}
}
