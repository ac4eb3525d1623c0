package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

// ResultDocuments renders results as a document, for laboratories that send
// none of their own.
type ResultDocuments interface {
	ResultPDF(ctx context.Context, tx *store.Tx, o *orders.Order, r *results.Revision) ([]byte, error)
}

const pdfType = "application/pdf"

// writesPDF documents the answer of a handler that returns a document.
func writesPDF(rt route) route {
	return writesAs(rt, pdfType, &huma.Schema{Type: huma.TypeString, Format: "binary"})
}

// writesAs documents the answer of a handler that returns written.
func writesAs(rt route, contentType string, schema *huma.Schema) route {
	add := rt.add
	rt.add = func(a *API, r chi.Router, op huma.Operation) {
		op.Responses["200"] = &huma.Response{Description: "OK", Content: map[string]*huma.MediaType{contentType: {Schema: schema}}}
		add(a, r, op)
	}
	return rt
}

// writeAs answers with bytes of a type.
func writeAs(contentType string, body []byte) *written {
	return &written{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", contentType)
		_, _ = ctx.BodyWriter().Write(body) // a caller that hung up is nobody to tell
	}}
}

func (a *API) getResultPDF(ctx context.Context, c Caller, in *resultsIn) (*written, error) {
	var pdf []byte
	err := a.results(ctx, c, in, func(tx *store.Tx, o *orders.Order, r *results.Revision) (err error) {
		if pdf, err = a.resultPDF(ctx, tx, o, r); err == nil && pdf == nil {
			err = fault.Newf(fault.NotFound, "The laboratory sent no PDF for order %s", o.ID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return writeAs(pdfType, pdf), nil
}

// resultPDF is the laboratory's own document, else one that is made here; nil
// when there is neither.
func (a *API) resultPDF(ctx context.Context, tx *store.Tx, o *orders.Order, r *results.Revision) ([]byte, error) {
	switch {
	case r.HasPDF:
		return results.PDF(ctx, tx, o, r.Number)
	case a.ResultDocuments != nil:
		return a.ResultDocuments.ResultPDF(ctx, tx, o, r)
	}
	return nil, nil
}

func (a *API) getTransactionResultPDF(ctx context.Context, c Caller, in *TransactionPath) (*written, error) {
	var all [][]byte
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		t, err := results.ForTransaction(ctx, tx, c.Team, in.TransactionID)
		if err != nil {
			return err
		}
		all = nil
		for i := range t.Orders {
			pdf, err := a.resultPDF(ctx, tx, &t.Orders[i], &t.Revisions[i])
			if err != nil {
				return err
			}
			if pdf != nil {
				all = append(all, pdf)
			}
		}
		if len(all) == 0 {
			return fault.Newf(fault.NotFound, "The laboratory sent no PDF for order transaction %s", in.TransactionID)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	merged, err := results.MergePDFs(all)
	if err != nil {
		return nil, err
	}
	return writeAs(pdfType, merged), nil
}
