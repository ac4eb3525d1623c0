package api

import (
	"context"

	"hale/internal/labs/orders"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

// TransactionPath is the part of an input that names an order transaction.
type TransactionPath struct {
	TransactionID orders.TransactionID `path:"transaction_id" format:"uuid"`
}

// orderTransactionBody is a transaction by itself.
//
// Reference 1.7, GetOrderTransactionResponse.
type orderTransactionBody struct {
	ID     orders.TransactionID     `json:"id" format:"uuid"`
	TeamID teams.ID                 `json:"team_id" format:"uuid"`
	Status orders.TransactionStatus `json:"status" doc:"active, completed, cancelled. The list may grow."`
	Orders []orderSummary           `json:"orders" doc:"Oldest first."`
}

type orderSummary struct {
	ID         orders.ID      `json:"id" format:"uuid"`
	Origin     orders.Origin  `json:"origin"`
	ParentID   orders.NullID  `json:"parent_id" doc:"The order that this one goes on from."`
	LastStatus orders.Status  `json:"last_status"`
	StatusAt   orders.Precise `json:"last_status_created_at"`
	UpdatedAt  orders.Precise `json:"updated_at"`
	CreatedAt  orders.Precise `json:"created_at"`
}

func (a *API) getOrderTransaction(ctx context.Context, c Caller, in *TransactionPath) (*out[orderTransactionBody], error) {
	var t orders.Transaction
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		t, err = orders.GetTransaction(ctx, tx, c.Team, in.TransactionID)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := orderTransactionBody{ID: t.ID, TeamID: t.Team, Status: t.Status, Orders: []orderSummary{}}
	for _, m := range t.Members {
		body.Orders = append(body.Orders, orderSummary{
			m.ID, m.Origin, orders.NullIDOf(m.Parent), m.Status, orders.Precise(m.StatusAt), orders.Precise(m.UpdatedAt), orders.Precise(m.CreatedAt),
		})
	}
	return answer(body), nil
}
