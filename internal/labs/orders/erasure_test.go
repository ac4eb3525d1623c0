package orders_test

import (
	"context"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// totalOf returns the number of orders in a list of the team.
func totalOf(t testing.TB, db *store.DB, index *orders.Index, team teams.ID, f orders.Filter) (n int) {
	t.Helper()
	f.Page, f.Size = 1, 50
	userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
		page, err := index.List(ctx, tx, team, f)
		if err == nil && len(page.Orders) != page.Total {
			t.Errorf("%d orders on the page, %d in all", len(page.Orders), page.Total)
		}
		n = page.Total
		return err
	})
	return n
}

// Erased orders are removed from the database, from lists and from memory, with their
// transactions. Other orders of the team stay.
func TestErasure(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		index := orders.NewIndex()
		team := orderstest.Team(t, db)
		user := orderstest.User(t, db, team.ID)
		r := orderstest.Request(t, db, user, orderstest.Test(t, db, team.ID, catalogue.WalkIn))
		r.Patient.LastName, r.Address.Receiver = "Zyx", "Zyxwvut"
		var mine []orders.Order
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			mine = nil
			for range 53 { // more than one transaction erases
				o, err := orders.Create(ctx, tx, team.ID, r)
				if err != nil {
					return err
				}
				mine = append(mine, o)
			}
			return nil
		})
		kept := orderstest.New(t, db, team.ID, catalogue.WalkIn)
		if n := totalOf(t, db, index, team.ID, orders.Filter{Search: "zyx", IDs: idOf(mine[:50])}); n != 50 || !index.Holds(team.ID, "zyx") {
			t.Fatalf("%d orders before", n)
		}
		for more, rounds := true, 0; more; rounds++ {
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
				more, err = orders.Erase(ctx, tx, team.ID, user.ID)
				return err
			})
			if rounds > 5 {
				t.Fatal("there is always more")
			}
		}
		if n := totalOf(t, db, index, team.ID, orders.Filter{}); n != 1 {
			t.Errorf("%d orders are left, want 1", n)
		}
		if n := totalOf(t, db, index, team.ID, orders.Filter{Key: orders.ByPatientName, PatientName: "ada"}); n != 1 {
			t.Errorf("%d orders by name, want 1", n)
		}
		if index.Holds(team.ID, "zyx") {
			t.Error("the name is still in memory")
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			if _, err := orders.Get(ctx, tx, team.ID, mine[0].ID); !fault.Is(err, fault.NotFound) {
				t.Errorf("the order: %v", err)
			}
			if _, err := orders.GetTransaction(ctx, tx, team.ID, mine[0].Transaction); !fault.Is(err, fault.NotFound) {
				t.Errorf("its transaction: %v", err)
			}
			for _, table := range []string{"order_events", "order_reports"} {
				var n int
				if err := tx.QueryRow(ctx, `SELECT COUNT(*) FROM `+table+` WHERE team_id = $1 AND order_id <> $2`, team.ID, kept.ID).Scan(&n); err != nil || n != 0 {
					t.Errorf("%s has %d rows: %v", table, n, err)
				}
			}
			_, err := orders.GetTransaction(ctx, tx, team.ID, kept.Transaction)
			return err
		})
	})
}

func idOf(all []orders.Order) (some []orders.ID) {
	for _, o := range all {
		some = append(some, o.ID)
	}
	return some
}
