package api

import (
	"context"
	"fmt"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/documents"
	"hale/internal/platform/fault"
	"hale/internal/platform/store"
)

func (a *API) documentRoutes() []route {
	return []route{
		writesPDF(get("/v3/order/{order_id}/requisition/pdf", a.requisitionPDF, "Get an order's requisition")),
		writesPDF(get("/v3/order/{order_id}/labels/pdf", a.labelsPDF, "Get labels for an order's samples")),
		writesPDF(get("/v3/order/{order_id}/abn_pdf", a.noticePDF, "Get the notice that an order's insurance may not pay")),
		writesPDF(get("/v3/order/{order_id}/collection_instruction_pdf", a.orderInstructionsPDF, "Get how to give the sample of an order")),
		writesPDF(get("/v3/lab_test/{lab_test_id}/collection_instruction_pdf", a.testInstructionsPDF, "Get how to give the sample of a lab test").tag("lab_tests")),
		writesPDF(get(documents.LinkPath, a.requisitionByLink, "Open a requisition by the address in requisition_form_url").open().tag("order")),
	}
}

// sendPDF answers with a document. Its file name is made of what it is and an
// id, never of a person. No cache keeps it: it is about one.
func sendPDF(kind string, id uuid.UUID, body []byte) *written {
	return &written{func(ctx huma.Context) {
		ctx.SetHeader("Content-Type", pdfType)
		ctx.SetHeader("Content-Disposition", fmt.Sprintf(`inline; filename="%s-%s.pdf"`, kind, id))
		ctx.SetHeader("Cache-Control", "private, no-store")
		ctx.SetHeader("X-Content-Type-Options", "nosniff")
		_, _ = ctx.BodyWriter().Write(body) // a caller that hung up is nobody to tell
	}}
}

// orderPaper reads an order and makes one of its papers, outside of the
// transaction.
func (a *API) orderPaper(ctx context.Context, c Caller, in OrderPath, kind string, render func(s *documents.Subject) ([]byte, error)) (*written, error) {
	var subject *documents.Subject
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
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

func (a *API) requisitionPDF(ctx context.Context, c Caller, in *OrderPath) (*written, error) {
	return a.orderPaper(ctx, c, *in, "requisition", (*documents.Subject).Requisition)
}

func (a *API) noticePDF(ctx context.Context, c Caller, in *OrderPath) (*written, error) {
	return a.orderPaper(ctx, c, *in, "abn", (*documents.Subject).Notice)
}

func (a *API) orderInstructionsPDF(ctx context.Context, c Caller, in *OrderPath) (*written, error) {
	return a.orderPaper(ctx, c, *in, "collection-instructions", (*documents.Subject).Instructions)
}

type labelsIn struct {
	OrderPath
	NumberOfLabels int64  `query:"number_of_labels" default:"3" minimum:"1" maximum:"100"`
	CollectionDate string `query:"collection_date" required:"true" doc:"Date and time, or date, when the sample is or was taken; printed in the zone that it is given in."`
}

func (a *API) labelsPDF(ctx context.Context, c Caller, in *labelsIn) (*written, error) {
	at, err := moment("collection_date", in.CollectionDate)
	if err != nil {
		return nil, err
	}
	return a.orderPaper(ctx, c, in.OrderPath, "labels", func(s *documents.Subject) ([]byte, error) {
		return s.Labels(int(in.NumberOfLabels), at)
	})
}

// moment reads a date-time parameter with the zone that it has.
func moment(name, text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", time.DateOnly} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() >= 1 && at.Year() <= 9999 {
			return at, nil
		}
	}
	return time.Time{}, fault.New(fault.Invalid, "Input should be a valid date or datetime").At("query", name).WithType("datetime_parsing")
}

type testPaperIn struct {
	LabTestID catalogue.TestID `path:"lab_test_id" format:"uuid"`
}

func (a *API) testInstructionsPDF(ctx context.Context, c Caller, in *testPaperIn) (*written, error) {
	var sheet *documents.Sheet
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
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
	Token string `query:"token" required:"true" maxLength:"200" doc:"A secret: whoever has it sees the requisition."`
}

// requisitionByLink needs no key: the token is sealed by us and names the team
// and the order.
func (a *API) requisitionByLink(ctx context.Context, _ Caller, in *requisitionLinkIn) (*written, error) {
	if a.Links == nil {
		return nil, fault.New(fault.NotFound, "This link is not valid any more")
	}
	team, order, err := a.Links.Open(in.Token, a.db.Now())
	if err != nil {
		return nil, err
	}
	noteTeam(ctx, team.String())
	return a.orderPaper(store.WithTeam(ctx, team.UUID()), Caller{Team: team}, OrderPath{order}, "requisition", (*documents.Subject).Requisition)
}
