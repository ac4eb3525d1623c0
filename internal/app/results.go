package app

import (
	"context"

	"hale/internal/labs/inbox"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/platform/store"
)

// labResults brings what labs report to the keeper of results.
type labResults struct{}

// TakeResults stores the results of a report and moves its order.
func (labResults) TakeResults(ctx context.Context, tx *store.Tx, o *orders.Order, a inbox.Arrival) error {
	r := a.Report
	at := r.At
	if at.IsZero() {
		at = a.ReceivedAt
	}
	return results.Take(ctx, tx, o, results.Arrival{Key: a.Key, At: at, Received: a.ReceivedAt, Sent: r.Sent, DateOnly: r.DateOnly, SampleID: r.SampleID, Account: r.Account, Patient: r.Patient, Set: *r.Results})
}
