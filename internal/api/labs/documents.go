package labs

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/documents"
	"hale/internal/labs/orders"
	"hale/internal/people/users"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

func (h *Handlers) documentRoutes() []api.Route {
	return []api.Route{
		writesPDF(api.Get("/v3/order/{order_id}/requisition/pdf", h.requisitionPDF, "Get an order's requisition")),
		writesPDF(api.Get("/v3/order/{order_id}/labels/pdf", h.labelsPDF, "Get labels for an order's samples").Refuses("order_cancelled")),
		writesPDF(api.Get("/v3/order/{order_id}/abn_pdf", h.noticePDF, "Get the notice that the insurance of an order may not pay")),
		writesPDF(api.Get("/v3/order/{order_id}/collection_instruction_pdf", h.orderInstructionsPDF, "Get the collection instructions of an order")),
		writesPDF(api.Get("/v3/lab_test/{lab_test_id}/collection_instruction_pdf", h.testInstructionsPDF, "Get the collection instructions of a lab test").Tag("lab_tests")),
		writesPDF(api.Get(documents.LinkPath, h.requisitionByLink, "Open a requisition with the link in requisition_form_url").Open().Tag("order").Describe(describeGone)),
		api.Delete("/v3/order/{order_id}/requisition_link", h.revokeLinks, "End all links to an order's requisition that were made so far").Creates().Conditional(orderVersion).Announces("labtest.order.updated"),
	}
}

// sendPDF returns a document. Its file name consists of the kind and an id, without
// personal data. It is not cached, because it is about a person.
func sendPDF(kind string, id uuid.UUID, body []byte) *api.Encoded {
	return &api.Encoded{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", pdfType)
		ctx.SetHeader("Content-Disposition", fmt.Sprintf(`inline; filename="%s-%s.pdf"`, kind, id))
		ctx.SetHeader("Cache-Control", "private, no-store")
		ctx.SetHeader("X-Content-Type-Options", "nosniff")
		_, _ = ctx.BodyWriter().Write(body) // the caller may have disconnected
	}}
}

// orderPaper reads an order and renders one of its documents, outside of the
// transaction.
func (h *Handlers) orderPaper(ctx context.Context, c api.Caller, in OrderPath, kind string, render func(s *documents.Subject) ([]byte, error)) (*api.Encoded, error) {
	var subject *documents.Subject
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		subject, err = documents.Read(ctx, tx, c.Team, in.OrderID)
		return err
	})
	if err != nil {
		return nil, err
	}
	body, err := render(subject)
	if err != nil {
		return nil, err
	}
	return sendPDF(kind, in.OrderID.UUID(), body), nil
}

func (h *Handlers) requisitionPDF(ctx context.Context, c api.Caller, in *OrderPath) (*api.Encoded, error) {
	return h.orderPaper(ctx, c, *in, "requisition", (*documents.Subject).Requisition)
}

func (h *Handlers) noticePDF(ctx context.Context, c api.Caller, in *OrderPath) (*api.Encoded, error) {
	return h.orderPaper(ctx, c, *in, "abn", (*documents.Subject).Notice)
}

func (h *Handlers) orderInstructionsPDF(ctx context.Context, c api.Caller, in *OrderPath) (*api.Encoded, error) {
	return h.orderPaper(ctx, c, *in, "collection-instructions", (*documents.Subject).Instructions)
}

type labelsIn struct {
	OrderPath
	NumberOfLabels int64  `query:"number_of_labels" default:"3" minimum:"1" maximum:"100"`
	CollectionDate string `query:"collection_date" required:"true" doc:"Date and time, or date, of the collection of the sample. Labels show it in the zone of the place. A date, or midnight, leaves room for the time of day."`
}

func (h *Handlers) labelsPDF(ctx context.Context, c api.Caller, in *labelsIn) (*api.Encoded, error) {
	at, err := parseCollectionTime("collection_date", in.CollectionDate)
	if err != nil {
		return nil, err
	}
	return h.orderPaper(ctx, c, in.OrderPath, "labels", func(s *documents.Subject) ([]byte, error) {
		return s.Labels(int(in.NumberOfLabels), at)
	})
}

// parseCollectionTime parses a date or date-time parameter, with or without a
// zone.
func parseCollectionTime(name, text string) (documents.CollectionTime, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() >= 1 && at.Year() <= 9999 {
			return documents.CollectionTime{Time: at, Zoned: layout == time.RFC3339Nano}, nil
		}
	}
	return documents.CollectionTime{}, fault.New(fault.Invalid, "Input should be a valid date or datetime").At("query", name).WithType("datetime_parsing")
}

type testPaperIn struct {
	LabTestID catalogue.TestID `path:"lab_test_id" format:"uuid"`
}

func (h *Handlers) testInstructionsPDF(ctx context.Context, c api.Caller, in *testPaperIn) (*api.Encoded, error) {
	var sheet *documents.InstructionSheet
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		sheet, err = documents.InstructionsOf(ctx, tx, c.Team, in.LabTestID)
		return err
	})
	if err != nil {
		return nil, err
	}
	body, err := sheet.Render()
	if err != nil {
		return nil, err
	}
	return sendPDF("collection-instructions", in.LabTestID.UUID(), body), nil
}

type requisitionLinkIn struct {
	Token string `query:"token" required:"true" maxLength:"200" doc:"Secret of the link. Everyone who has it can read the requisition."`

	address string
}

// Resolve stores the address of the caller, for the limit of requests.
func (in *requisitionLinkIn) Resolve(ctx huma.Context) []error {
	in.address = ctx.RemoteAddr()
	return nil
}

// requisitionByLink requires no key. The token names the team and the order. A revoked
// link, and the link of a deleted user, answer like an unknown one.
func (h *Handlers) requisitionByLink(ctx context.Context, _ api.Caller, in *requisitionLinkIn) (*api.Encoded, error) {
	if err := h.CountLink(in.address); err != nil {
		return nil, err
	}
	if h.Links == nil {
		return nil, documents.ErrNoLink
	}
	link, err := h.Links.Open(in.Token, h.DB.Now())
	if err != nil {
		return nil, err
	}
	api.NoteTeam(ctx, link.Team.String())
	var subject *documents.Subject
	err = h.DB.Read(store.WithTeam(ctx, link.Team.UUID()), func(tx *store.Tx) error {
		if subject, err = documents.Read(ctx, tx, link.Team, link.Order); err != nil {
			return err
		}
		if !link.Opens(&subject.Order) {
			return documents.ErrNoLink
		}
		return users.Exists(ctx, tx, link.Team, subject.Order.User)
	})
	if fault.Is(err, fault.NotFound) {
		err = documents.ErrNoLink
	}
	if err != nil {
		return nil, err
	}
	body, err := subject.PublicRequisition()
	if errors.Is(err, documents.ErrCancelled) {
		return cancelledPage(), nil
	}
	if err != nil {
		return nil, err
	}
	return sendPDF("requisition", link.Order.UUID(), body), nil
}

// revokeLinks ends the links of an order in any status, so a repeat is no error.
func (h *Handlers) revokeLinks(ctx context.Context, c api.Caller, in *OrderPath) (*api.Out[postOrderBody], error) {
	return h.changeOrder(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, err := orders.RevokeLinks(ctx, tx, c.Team, in.OrderID)
		return o, "requisition links revoked", err
	})
}

// cancelledPage returns the answer to the link of a cancelled order: a page for
// the patient, who may be at a service center already.
func cancelledPage() *api.Encoded {
	const page = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<title>Order cancelled</title>
<style>body{font:18px/1.5 system-ui,sans-serif;max-width:34em;margin:3em auto;padding:0 1em;color:#1a1a1a;background:#fff}</style></head>
<body><main><h1>This order was cancelled</h1>
<p>The laboratory will not test a sample for this order. Do not give a sample with an earlier copy of this form.</p>
<p>Contact the clinic that ordered the test if you did not expect this.</p></main></body></html>
`
	return &api.Encoded{Body: func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", htmlType)
		ctx.SetHeader("Cache-Control", "private, no-store")
		ctx.SetHeader("X-Content-Type-Options", "nosniff")
		ctx.SetHeader("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
		ctx.SetStatus(http.StatusGone)
		_, _ = ctx.BodyWriter().Write([]byte(page)) // the caller may have disconnected
	}}
}

const htmlType = "text/html; charset=utf-8"

// describeGone documents the answer to the link of a cancelled order.
func describeGone(op *huma.Operation) {
	op.Responses = map[string]*huma.Response{"410": {
		Description: "The order was cancelled: a page that says so.",
		Content:     map[string]*huma.MediaType{htmlType: {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
}
