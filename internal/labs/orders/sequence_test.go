package orders_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/labclock"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// The clock of a sandbox team may go back between steps. Lists have the orders
// in the order of their creation, even then.
func TestOrdersAreInSequence(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		random := rand.New(rand.NewPCG(22, 1))
		for range 6 {
			o := orderstest.New(t, db, team.ID, catalogue.WalkIn)
			created := []orders.ID{o.ID}
			for range 1 + random.IntN(4) {
				at := db.Now().Add(time.Duration(random.IntN(145)-72) * time.Hour)
				userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
					if err = labclock.SetStep(ctx, tx, team.ID, at); err == nil {
						o, err = orders.RecreateOrder(ctx, tx, &o, orders.Recreate{})
					}
					return err
				})
				created = append(created, o.ID)
			}
			userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
				transaction, err := orders.GetTransaction(ctx, tx, team.ID, o.Transaction)
				if err != nil {
					return err
				}
				var members []orders.ID
				for _, m := range transaction.Members {
					members = append(members, m.ID)
				}
				if !slices.Equal(members, created) {
					t.Errorf("the transaction has %v, want %v", members, created)
				}
				latest, err := orders.OrdersOfUser(ctx, tx, team.ID, o.User, 1)
				if err == nil && latest[0].ID != o.ID {
					t.Errorf("the newest order of the user is %s, want %s", latest[0].ID, o.ID)
				}
				return err
			})
		}
	})
}
