package orders_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/ops"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// A list of one node has the changes of other nodes at once.
func TestNodesSeeEachOther(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		here, there := orders.NewIndex(), orders.NewIndex()
		cancelled := orders.Filter{Statuses: []orders.Status{orders.Cancelled}}
		for n := 1; n <= 3; n++ {
			o := orderstest.New(t, db, team.ID, catalogue.WalkIn)
			if got := totalOf(t, db, there, team.ID, orders.Filter{}); got != n {
				t.Errorf("there: %d orders, want %d", got, n)
			}
			if got := totalOf(t, db, here, team.ID, orders.Filter{PatientName: "byron"}); got != n {
				t.Errorf("here: %d orders, want %d", got, n)
			}
			orderstest.MoveTo(t, db, &o, orders.Cancelled)
			if got := totalOf(t, db, there, team.ID, cancelled); got != n {
				t.Errorf("there: %d are cancelled, want %d", got, n)
			}
		}
	})
}

// A transaction that began before a list was read, and committed after a later
// list, is not missed.
func TestSlowTransactionIsSeen(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		if db.Engine() != store.Postgres {
			t.Skip("SQLite has one writer")
		}
		index := orders.NewIndex()
		team := orderstest.Team(t, db)
		slow, quick := orderstest.New(t, db, team.ID, catalogue.WalkIn), orderstest.New(t, db, team.ID, catalogue.WalkIn)
		cancelled := orders.Filter{Statuses: []orders.Status{orders.Cancelled}}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			if _, err := orders.Advance(ctx, tx, &slow, orders.Move{To: orders.Cancelled, By: orders.Operator}); err != nil {
				return err
			}
			if n := totalOf(t, db, index, team.ID, cancelled); n != 0 {
				t.Errorf("%d are cancelled before the commit", n)
			}
			orderstest.MoveTo(t, db, &quick, orders.Cancelled)
			if n := totalOf(t, db, index, team.ID, cancelled); n != 1 {
				t.Errorf("%d are cancelled, want the quick one", n)
			}
			return nil
		})
		if n := totalOf(t, db, index, team.ID, cancelled); n != 2 {
			t.Errorf("%d are cancelled, want both", n)
		}
	})
}

// A node that loads orders in parts, while they change, has all of them in their
// current state.
func TestWarmingUp(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		pattern := orderstest.New(t, db, team.ID, catalogue.WalkIn)
		const more = 5300 // two parts
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			many := make([]orders.Order, more)
			for i := range many {
				many[i] = pattern
				many[i].SampleID = fmt.Sprint("W", i)
			}
			return orders.Load(ctx, tx, many)
		})
		index := orders.NewIndex()
		ctx := store.WithTeam(t.Context(), team.ID.UUID())
		done := make(chan error, 2)
		for range 2 {
			go func() { done <- index.Ready(ctx, db, team.ID) }()
		}
		orderstest.MoveTo(t, db, &pattern, orders.Cancelled)
		index.Warm(store.AsSystem(t.Context()), db, ops.Discard())
		if err := errors.Join(<-done, <-done); err != nil {
			t.Fatal(err)
		}
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			for want, f := range map[int]orders.Filter{
				more + 1: {Key: orders.ByPatientName},
				1:        {Statuses: []orders.Status{orders.Cancelled}},
				more:     {Statuses: []orders.Status{orders.Ordered}, Search: "ada byron"},
			} {
				f.Page, f.Size = 2, 10
				if all, err := index.Select(ctx, tx, team.ID, f); err != nil || all.Total != want {
					t.Errorf("%d orders, want %d: %v", all.Total, want, err)
				}
			}
			return nil
		})
	})
}

// Stamps in a restored database may be ahead of its counter.
func TestWarmingUpAfterARestore(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		o := orderstest.New(t, db, team.ID, catalogue.WalkIn)
		if db.Engine() != store.Postgres {
			t.Skip("SQLite's counter is in the file")
		}
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			_, err := tx.Exec(ctx, `UPDATE orders SET change = change + 1000000000000 WHERE team_id = $1`, team.ID)
			return err
		})
		index := orders.NewIndex()
		index.Warm(store.AsSystem(t.Context()), db, ops.Discard())
		var change int64
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			return tx.QueryRow(ctx, `SELECT change FROM orders WHERE team_id = $1 AND id = $2`, team.ID, o.ID).Scan(&change)
		})
		if change != 0 {
			t.Errorf("the stamp is %d", change)
		}
		orderstest.MoveTo(t, db, &o, orders.Cancelled)
		if n := totalOf(t, db, index, team.ID, orders.Filter{Statuses: []orders.Status{orders.Cancelled}}); n != 1 {
			t.Errorf("%d are cancelled, want 1", n)
		}
	})
}

// A list in a writing transaction is refused: the index would keep changes that
// are rolled back.
func TestListNeedsAReadingTransaction(t *testing.T) {
	db := storetest.SQLite(t)
	team := orderstest.Team(t, db)
	err := try(db, team.ID, func(ctx context.Context, tx *store.Tx) error {
		_, err := orders.NewIndex().Select(ctx, tx, team.ID, orders.Filter{})
		return err
	})
	if err == nil {
		t.Error("a list in a writing transaction is answered")
	}
}

// The query for unplaced orders uses their index, also for a team with many
// orders.
func TestUnplaced(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		first, placed, second := orderstest.New(t, db, team.ID, catalogue.WalkIn), orderstest.New(t, db, team.ID, catalogue.WalkIn), orderstest.Kit(t, db, team.ID)
		orderstest.MoveTo(t, db, &placed, orders.RequisitionCreated)
		today := orders.Today(db.Now())
		var due orders.Order
		for _, days := range []int{0, 5} { // the second is for later
			request := orderstest.Request(t, db, orderstest.User(t, db, team.ID), orderstest.Test(t, db, team.ID, catalogue.WalkIn))
			request.ActivateBy = new(today.AddDays(days))
			userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
				o, err := orders.Create(ctx, tx, team.ID, request)
				if days == 0 {
					due = o
				}
				return err
			})
		}
		orderstest.New(t, db, orderstest.Team(t, db).ID, catalogue.WalkIn)
		userstest.Read(t, db, func(ctx context.Context, tx *store.Tx) error {
			got, err := orders.ListUnplaced(ctx, tx, team.ID, 10)
			if want := []orders.UnplacedOrder{{second.ID, second.Status}, {first.ID, first.Status}, {due.ID, due.Status}}; !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
			return err
		})
		if db.Engine() != store.SQLite {
			return
		}
		for query, args := range map[string]int{orders.UnplacedQuery: 2, orders.ScheduledQuery: 3} {
			if plan := storetest.Plan(t, db, query, args); !strings.Contains(plan, "orders_unplaced (team_id=? AND activate_by") || strings.Contains(plan, "TEMP B-TREE") {
				t.Error(plan)
			}
		}
	})
}
