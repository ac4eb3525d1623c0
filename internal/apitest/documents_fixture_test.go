package apitest

import (
	"context"
	"testing"
	"time"

	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func init() {
	plainWords["collection_date"] = "2026-03-01T12:00:00+00:00"
	for _, paper := range []string{"requisition/pdf", "labels/pdf", "abn_pdf", "result", "result/metadata", "result/pdf"} {
		meant["GET /v3/order/{order_id}/"+paper] = map[string]string{"order_id": "reported_order_id"}
	}
	for _, paper := range []string{"result", "result/pdf"} {
		meant["GET /v3/order_transaction/{transaction_id}/"+paper] = map[string]string{"transaction_id": "reported_transaction_id"}
	}
}

// reported makes an order that the lab took, with a notice, and of which it
// reported results, so that it has every paper.
func (s *service) reported(t *testing.T, f *fixture) {
	t.Helper()
	f.ids["reported_order_id"], f.ids["reported_transaction_id"] = s.order(t, f)
	team, id := ids.MustParse[teams.Team](f.ids["team_id"]), ids.MustParse[orders.Order](f.ids["reported_order_id"])
	s.write(t, func(ctx context.Context, tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, team, id)
		if err != nil {
			return err
		}
		_, err = orders.Advance(ctx, tx, &o, orders.Move{To: orders.RequisitionCreated, By: orders.Requisition, Change: func(o *orders.Order) {
			o.SampleID, o.HasABN = "S-"+o.ID.String(), true
		}})
		if err != nil {
			return err
		}
		return results.Take(ctx, tx, &o, someResults(&o))
	})
}

func someResults(o *orders.Order) results.Arrival {
	drawn := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	return results.Arrival{Key: "fixture:" + o.ID.String(), At: drawn.Add(24 * time.Hour), SampleID: o.SampleID, Set: networks.ResultSet{
		Specimen: networks.Specimen{Number: o.SampleID, Collected: networks.Moment{Time: drawn}, Reported: networks.Moment{Time: drawn.Add(24 * time.Hour)}},
		Results:  []networks.Result{{ProviderID: "70002", TestProviderID: "70002", Name: "Result", Value: "90", Unit: "mg/dL", Range: "70-99", Status: "F"}},
	}}
}
