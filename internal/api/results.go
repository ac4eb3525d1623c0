package api

import (
	"context"

	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (a *API) resultRoutes() []route {
	return []route{
		get("/v3/order/{order_id}/result", a.getResults, "Get what the laboratory found"),
		get("/v3/order/{order_id}/result/metadata", a.getResultMetadata, "Get the head of a laboratory report"),
		get("/v3/order/{order_id}/result/revisions", a.listResultRevisions, "List the versions of an order's results, oldest first"),
		writesPDF(get("/v3/order/{order_id}/result/pdf", a.getResultPDF, "Get the laboratory's report as a document")),
		get("/v3/order_transaction/{transaction_id}/result", a.getTransactionResults, "Get the results of all orders of a transaction as one").tag("order"),
		writesPDF(get("/v3/order_transaction/{transaction_id}/result/pdf", a.getTransactionResultPDF, "Get the reports of all orders of a transaction as one document").tag("order")),
		writesFHIR(get("/v3/order/{order_id}/fhir", a.getOrderFHIR, "Get an order and its results as a FHIR R4 bundle")),
	}
}

// resultsIn names a version of an order's results.
type resultsIn struct {
	OrderPath
	Revision int `query:"revision" minimum:"1" doc:"An earlier version; the latest when left out."`
}

// orderOfResults is orders.Get with the words that results have for an unknown
// order.
//
// Reference 3.
func orderOfResults(ctx context.Context, tx *store.Tx, team teams.ID, id orders.ID) (orders.Order, error) {
	o, err := orders.Get(ctx, tx, team, id)
	if fault.Is(err, fault.NotFound) {
		err = fault.New(fault.NotFound, "Order not found")
	}
	return o, err
}

// results reads an order and a version of its results.
func (a *API) results(ctx context.Context, c Caller, in *resultsIn, use func(tx *store.Tx, o *orders.Order, r *results.Revision) error) error {
	return a.db.Read(ctx, func(tx *store.Tx) error {
		o, err := orderOfResults(ctx, tx, c.Team, in.OrderID)
		if err != nil {
			return err
		}
		r, err := results.Get(ctx, tx, &o, in.Revision)
		if err != nil {
			return err
		}
		return use(tx, &o, &r)
	})
}

func (a *API) getResults(ctx context.Context, c Caller, in *resultsIn) (*out[resultsBody], error) {
	var body resultsBody
	err := a.results(ctx, c, in, func(tx *store.Tx, o *orders.Order, r *results.Revision) error {
		t, err := orders.GetTransaction(ctx, tx, c.Team, o.Transaction)
		if err != nil {
			return err
		}
		body = resultsBodyOf(o, &r.Version, r.CreatedAt, t)
		body.Revision = &r.Number
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

func (a *API) getResultMetadata(ctx context.Context, c Caller, in *resultsIn) (*out[resultsMetadataBody], error) {
	var body resultsMetadataBody
	err := a.results(ctx, c, in, func(_ *store.Tx, o *orders.Order, r *results.Revision) error {
		body = resultsMetadataOf(o, &r.Version, r.CreatedAt)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

// resultRevisionsBody lists versions.
type resultRevisionsBody struct {
	Revisions []resultRevisionBody `json:"revisions" nullable:"false"`
}

type resultRevisionBody struct {
	Revision       int                   `json:"revision"`
	CreatedAt      Time                  `json:"created_at"`
	Status         results.Status        `json:"status" doc:"partial or final"`
	Corrected      bool                  `json:"corrected"`
	Interpretation orders.Interpretation `json:"interpretation"`
	HasMissing     bool                  `json:"has_missing_results"`
	HasPDF         bool                  `json:"has_pdf" doc:"The laboratory sent a document."`
}

func (a *API) listResultRevisions(ctx context.Context, c Caller, in *OrderPath) (*out[resultRevisionsBody], error) {
	body := resultRevisionsBody{}
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		o, err := orderOfResults(ctx, tx, c.Team, in.OrderID)
		if err != nil {
			return err
		}
		all, err := results.History(ctx, tx, &o)
		body.Revisions = make([]resultRevisionBody, len(all))
		for i, r := range all {
			body.Revisions[i] = resultRevisionBody{r.Number, Time(r.CreatedAt), r.Status, r.Corrected, r.Interpretation, r.HasMissing, r.HasPDF}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

func (a *API) getTransactionResults(ctx context.Context, c Caller, in *TransactionPath) (*out[resultsBody], error) {
	var body resultsBody
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		t, err := results.ForTransaction(ctx, tx, c.Team, in.TransactionID)
		if err != nil {
			return err
		}
		last := len(t.Orders) - 1 // the newest order's head stands for all
		body = resultsBodyOf(&t.Orders[last], &t.Version, t.Revisions[last].CreatedAt, t.Transaction)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}
