package sandboxlab_test

import (
	"context"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks/sandboxlab"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// plans counts what is still to happen to an order.
func (s *stage) plans(o orders.Order) (n int) {
	s.t.Helper()
	userstest.Read(s.t, s.db, func(ctx context.Context, tx *store.Tx) error {
		all, err := sandboxlab.Plans(ctx, tx, s.team, &o.ID, 100)
		n = len(all)
		return err
	})
	return n
}

func (s *stage) await(what string, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("waited in vain: %s", what)
		}
	}
}

// The draw of an on-site order whose requisition is late is not lost: it waits
// for as long as it takes, and other orders go on.
func TestADrawWaitsForItsRequisition(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		s := open(t, db)
		late, other := orderstest.New(t, db, s.team, catalogue.OnSite), orderstest.New(t, db, s.team, catalogue.WalkIn)
		s.place(late)
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := s.Advance(ctx, tx, s.team, 10*24*time.Hour)
			return err
		})
		s.await("the lab confirms the order", func() bool { return len(s.reports()) > 0 })
		s.place(other)
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := s.Advance(ctx, tx, s.team, 20*24*time.Hour)
			return err
		})
		s.await("the other order is through", func() bool { return s.plans(other) == 0 })
		if s.plans(late) < 2 {
			t.Fatal("the draw was given up")
		}
		orderstest.To(t, db, &late, orders.RequisitionCreated)
		s.await("the draw is made up for", func() bool { return s.plans(late) == 0 })
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
			late, err = orders.Get(ctx, tx, s.team, late.ID)
			return err
		})
		if late.Status != orders.DrawCompleted {
			t.Errorf("the order stands at %s", late.Status)
		}
	})
}
