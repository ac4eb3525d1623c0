package apitest

import (
	"testing"

	"hale/internal/ids"
	"hale/internal/orders"
	"hale/internal/store"
	"hale/internal/teams"
)

func init() {
	plainWords["collection_date"] = "2026-03-01T12:00:00+00:00"
	for _, paper := range []string{"requisition/pdf", "labels/pdf", "abn_pdf"} {
		before["GET /v3/order/{order_id}/"+paper] = requisition
	}
}

// requisition lets the lab take the order, with a notice, so that it has every
// paper.
func requisition(t *testing.T, s *service, f *fixture) {
	t.Helper()
	team, err := ids.Parse[teams.Team](f.ids["team_id"])
	if err != nil {
		t.Fatal(err)
	}
	id, err := ids.Parse[orders.Order](f.ids["order_id"])
	if err != nil {
		t.Fatal(err)
	}
	ctx := store.AsSystem(t.Context())
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, team, id)
		if err != nil {
			return err
		}
		_, err = orders.Advance(ctx, tx, &o, orders.Move{To: orders.RequisitionCreated, By: orders.Requisition, Change: func(o *orders.Order) {
			o.SampleID, o.HasABN = "S-"+o.ID.String(), true
		}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
