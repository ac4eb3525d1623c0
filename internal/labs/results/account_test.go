package results_test

import (
	"context"
	"slices"
	"testing"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
)

// The results of an order come in under its account, whoever may order under
// that by now.
func TestResultsOutliveTheLinkToTheAccount(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		b := newBench(t, db, catalogue.WalkIn)
		owner := userstest.Team(t, db).ID
		userstest.Write(t, db, func(ctx context.Context, tx *store.Tx) error {
			id, err := catalogue.AddAccount(ctx, tx, catalogue.NewAccount{Owner: &owner, Lab: b.order.Lab, Status: catalogue.AccountActive, Flow: catalogue.NotDelegated, Number: "L-100"})
			if err != nil {
				return err
			}
			_, err = tx.Exec(ctx, `UPDATE orders SET account_id = $1 WHERE id = $2`, id, b.order.ID)
			return err
		})
		b.report(1, networks.ResultSet{Results: b.all("F")})
		if got := b.path(); !slices.Equal(got, []string{"completed"}) || b.revision(0).Account != "L-100" {
			t.Errorf("the order went %v, under account %q", got, b.revision(0).Account)
		}
	})
}

// What is missing alone moves nothing while more may come: it may have been
// cancelled before there was a sample.
func TestOnlyMissing(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		for _, method := range []orders.Method{catalogue.WalkIn, catalogue.TestKit} {
			b := newBench(t, db, method)
			gone := []networks.Missing{{ProviderID: b.test, TestProviderID: b.test}}
			b.report(1, networks.ResultSet{Partial: true, Missing: gone})
			if got := b.path(); len(got) != 0 || b.order.HasMissing == nil || !*b.order.HasMissing {
				t.Errorf("%s: the order went %v", method, got)
			}
			b.report(2, networks.ResultSet{Missing: gone})
			if got := b.path(); !slices.Equal(got, []string{"completed"}) {
				t.Errorf("%s: the order went %v", method, got)
			}
		}
	})
}
