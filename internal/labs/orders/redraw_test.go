package orders_test

import (
	"context"
	"testing"

	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// redraw tries a redraw of an order's first marker.
func redraw(t *testing.T, db *store.DB, o *orders.Order) (next orders.Order, done bool) {
	t.Helper()
	userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
		test, err := catalogue.GetTest(ctx, tx, o.Team, o.LabTest)
		if err != nil {
			return err
		}
		next, done, err = orders.Redraw(ctx, tx, o, test.MarkerIDs[:1], orders.Move{Key: "final"})
		return err
	})
	return next, done
}

// Markers that a lab could not measure are ordered again, once, in the same
// transaction.
func TestRedraw(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		drawn := orderstest.New(t, db, team.ID, catalogue.WalkIn)
		orderstest.MoveTo(t, db, &drawn, orders.RequisitionCreated)
		if _, done := redraw(t, db, &drawn); done || drawn.Status != orders.RequisitionCreated {
			t.Error("a team that did not ask for redraws has one")
		}
		team.Settings.Redraws = true
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error { return teams.Update(ctx, tx, team) })
		kit := orderstest.New(t, db, team.ID, catalogue.TestKit)
		orderstest.MoveTo(t, db, &kit, orders.DeliveredToLab)
		if _, done := redraw(t, db, &kit); done {
			t.Error("a kit was redrawn")
		}
		next, done := redraw(t, db, &drawn)
		if !done || drawn.Status != orders.RedrawAvailable {
			t.Fatalf("done %v, the order has the status %s", done, drawn.Full())
		}
		if next.Origin != orders.RedrawOf || next.Parent == nil || *next.Parent != drawn.ID || next.Transaction != drawn.Transaction ||
			next.User != drawn.User || next.Status != orders.Ordered || next.LabTest == drawn.LabTest || next.Body.Patient.Name() != drawn.Body.Patient.Name() {
			t.Errorf("the redraw is %+v", next)
		}
		orderstest.MoveTo(t, db, &next, orders.RequisitionCreated)
		if _, done := redraw(t, db, &next); done {
			t.Error("a redraw was redrawn")
		}
		checkOrder(t, db, next)
		orderstest.MoveTo(t, db, &next, orders.Completed)
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			whole, err := orders.GetTransaction(ctx, tx, team.ID, drawn.Transaction)
			if whole.Status != orders.TransactionCompleted || len(whole.Members) != 2 || whole.Members[0].ID != drawn.ID {
				t.Errorf("the transaction is %+v", whole)
			}
			return err
		})
	})
}

// recreate replaces an order.
func recreate(db *store.DB, o *orders.Order, r orders.Recreate) (next orders.Order, err error) {
	err = try(db, o.Team, func(ctx context.Context, tx *store.Tx) (err error) {
		next, err = orders.RecreateOrder(ctx, tx, o, r)
		return err
	})
	return next, err
}

// An order under the wrong lab's account is replaced by one with a newly chosen
// account. Otherwise the account stays.
func TestRecreateAtTheRightLab(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		for _, incorrect := range []bool{false, true} {
			old := orderstest.New(t, db, team.ID, catalogue.TestKit)
			right, wrong := old.Account, ids.FromUUID[catalogue.Account](uuid.New())
			old.Account = wrong
			next, err := recreate(db, &old, orders.Recreate{IncorrectLab: incorrect})
			if err != nil {
				t.Fatal(err)
			}
			want := wrong
			if incorrect {
				want = right
			}
			if next.Account != want || next.Transaction != old.Transaction || next.Origin != orders.Recreation || old.Status != orders.Cancelled {
				t.Errorf("incorrect %v: account %s, want %s; the old order has the status %s", incorrect, next.Account, want, old.Full())
			}
			checkOrder(t, db, next)
			userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
				id, ok, err := orders.FindReplacement(ctx, tx, &old)
				if !ok || id != next.ID {
					t.Errorf("replaced by %s, %v", id, ok)
				}
				return err
			})
		}
	})
}
