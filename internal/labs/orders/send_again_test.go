package orders_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// An order that is announced again while somebody moves it is announced as it is
// after the move: the state that it left does not follow the one that it has.
func TestSendingAgainWhileAnOrderMoves(t *testing.T) {
	db := storetest.Postgres(t)
	team := orderstest.Team(t, db)
	o := orderstest.New(t, db, team.ID, catalogue.WalkIn)
	moved, sent := make(chan struct{}), make(chan error, 1)
	go func() {
		<-moved
		sent <- try(db, team.ID, func(ctx context.Context, tx *store.Tx) error {
			_, err := orders.SendAgain(ctx, tx, team.ID, []orders.ID{o.ID})
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
		case <-time.After(300 * time.Millisecond): // it waits
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
	if got := heard(t, db, o); !slices.Equal(got, []string{left, reached, reached}) {
		t.Errorf("events of %v", got)
	}
}
