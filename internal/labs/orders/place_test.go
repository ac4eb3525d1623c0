package orders_test

import (
	"context"
	"strings"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks/networktest"
	"hale/internal/labs/orders"
	"hale/internal/labs/orders/orderstest"
	"hale/internal/people/users/userstest"
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
