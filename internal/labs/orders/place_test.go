package orders_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks/networktest"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// Notes for the lab and for visitors at the door reach the lab's network
// unchanged.
//
// Spec: POST /v3/order/create, clinical comments are forwarded to the lab
// requisition; POST /v3/order, access_notes.
func TestCommentsReachTheNetwork(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		team := orderstest.Team(t, db)
		user := orderstest.User(t, db, team.ID)
		ask := orderstest.Request(t, db, user, orderstest.Test(t, db, team.ID, catalogue.WalkIn))
		ask.ClinicalNotes, ask.Address.AccessNotes = strings.Repeat("é", 1000), "Ring twice"
		var o orders.Order
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) (err error) {
			o, err = orders.Create(ctx, tx, team.ID, ask)
			return err
		})
		lab := &networktest.Lab{Name: orders.SandboxNetwork}
		runJobs(t, db, lab)
		got, calls := lab.Placed(o.ID.UUID())
		if calls != 1 || got.Notes != ask.ClinicalNotes || got.Patient.Address.AccessNotes != "Ring twice" {
			t.Errorf("placed %d times, with %q and %q", calls, got.Notes, got.Patient.Address.AccessNotes)
		}
	})
}

// An order that no lab has yet is not sent while its user is deleted. It is sent once
// after the deletion is undone, also if its activate_by has passed.
func TestDeletedUserHoldsOrders(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		now := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
		db := d.Open(t, func() time.Time { return now })
		users.Register(db, orders.UserRecords()...)
		team := orderstest.Team(t, db)
		user := orderstest.User(t, db, team.ID)
		ask := orderstest.Request(t, db, user, orderstest.Test(t, db, team.ID, catalogue.WalkIn))
		later := ask
		day := orders.Today(now).AddDays(2)
		later.ActivateBy = &day
		var all []orders.Order
		var old orders.Order
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			all = nil
			for _, r := range []orders.Request{ask, later} {
				o, err := orders.Create(ctx, tx, team.ID, r)
				if err != nil {
					return err
				}
				all = append(all, o)
			}
			old = all[0]
			return users.Delete(ctx, tx, team.ID, user.ID)
		})
		lab := &networktest.Lab{Name: orders.SandboxNetwork}
		placed := func() (calls []int) {
			runJobs(t, db, lab)
			for _, o := range all {
				_, n := lab.Placed(o.ID.UUID())
				calls = append(calls, n)
			}
			return calls
		}
		now = now.AddDate(0, 0, 4)
		if got := placed(); got[0] != 0 || got[1] != 0 {
			t.Errorf("orders of a deleted user are sent %v times", got)
		}
		err := db.Write(store.WithTeam(t.Context(), team.ID.UUID()), func(tx *store.Tx) error {
			_, _, err := orders.Replace(t.Context(), tx, team.ID, old.ID, orders.Replacement{Reason: orders.IncorrectLab})
			return err
		})
		wantRefusal(t, err, fault.NotFound, "User does not exist on this team")
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			return users.UndoDelete(ctx, tx, team.ID, users.Ref{ID: &user.ID})
		})
		if got := placed(); got[0] != 1 || got[1] != 1 {
			t.Errorf("orders of a restored user are sent %v times", got)
		}
	})
}
