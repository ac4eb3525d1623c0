package orders_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

func TestListenersHearOfTheirOwnDatabase(t *testing.T) {
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
		orderstest.To(t, db, &o, orders.RequisitionCreated)
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
