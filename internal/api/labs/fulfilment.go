package labs

import (
	"context"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/labs/appointments"
	"hale/internal/labs/fulfilment"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/store"
)

// The steps of real orders that no laboratory reports. An addition: the reference has
// carriers and phlebotomists of its own.

func (h *Handlers) fulfilmentRoutes() []api.Route {
	return []api.Route{
		api.Post("/v3/order/{order_id}/fulfilment", h.recordFulfilment, "Record a step of a test kit or a visit that your staff arranged").Creates().Sensitive().Conditional(orderVersion).Announces("labtest.order.updated", "labtest.appointment.*").Refuses(stepCodes...),
		api.Post("/v3/fulfilment/{partner}", h.takePartnerReport, "Record a step from a signed report of a fulfilment partner").Open().Sensitive().Announces("labtest.order.updated", "labtest.appointment.*").Refuses(stepCodes...),
	}
}

// StepIn is a step of a kit or a visit.
type StepIn struct {
	At       *time.Time    `json:"at,omitempty" doc:"The time of the step. The default is now."`
	SampleID string        `json:"sample_id,omitempty" maxLength:"50" doc:"The number on a kit, before its registration."`
	Status   kitStatusWord `json:"status,omitempty" doc:"The status of a kit that its carrier observed."`
	Shipment *shipmentIn   `json:"shipment,omitempty"`
	Visit    *visitIn      `json:"visit,omitempty"`
}

// TransformSchema states that a step is not empty.
func (StepIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"": api.StateAny(
		api.HasText("sample_id"), api.HasText("status"), api.Has("shipment", huma.TypeObject), api.Has("visit", huma.TypeObject),
	)})
}

type shipmentIn struct {
	Direction      string `json:"direction" enum:"outbound,inbound" doc:"outbound: to the patient; inbound: to the lab."`
	Courier        string `json:"courier" minLength:"1" maxLength:"100"`
	TrackingNumber string `json:"tracking_number" minLength:"1" maxLength:"100"`
	TrackingURL    string `json:"tracking_url,omitempty" format:"uri" maxLength:"2000"`
}

type visitIn struct {
	Status     visitStatusWord `json:"status"`
	Provider   string          `json:"provider,omitempty" pattern:"^[a-z0-9_]{1,40}$" doc:"Provider of the visit. It is required to schedule a visit of an order that has none."`
	BookingID  string          `json:"booking_id,omitempty" maxLength:"200" doc:"The provider's own id of the visit."`
	ExternalID string          `json:"external_id,omitempty" maxLength:"200" doc:"The number to tell the patient."`
	Start      *time.Time      `json:"start_at,omitempty" doc:"Start of the visit. It is required to schedule a visit."`
	End        *time.Time      `json:"end_at,omitempty" doc:"The default is an hour after the start."`
	Site       string          `json:"site,omitempty" maxLength:"100" doc:"Code of the service center of a new visit of a walk_in_test order."`
	Notes      string          `json:"notes,omitempty" maxLength:"1000"`
}

// Types for values of steps.
type (
	kitStatusWord   string
	visitStatusWord string
)

func (kitStatusWord) Schema(huma.Registry) *huma.Schema {
	return api.Enum(textsOf(fulfilment.KitStatuses))
}

func (visitStatusWord) Schema(huma.Registry) *huma.Schema {
	return api.Enum(textsOf(fulfilment.VisitStatuses))
}

func (in *StepIn) report(key string, raw []byte) fulfilment.Report {
	r := fulfilment.Report{Key: key, At: timeOf(in.At), SampleID: in.SampleID, Status: orders.Status(in.Status), Raw: raw}
	if s := in.Shipment; s != nil {
		r.Shipment = &networks.Shipment{Inbound: s.Direction == "inbound", Courier: s.Courier, TrackingNumber: s.TrackingNumber, TrackingURL: s.TrackingURL}
	}
	if v := in.Visit; v != nil {
		r.Visit = &fulfilment.Visit{
			Status: appointments.Status(v.Status), Provider: v.Provider, BookingID: v.BookingID, ExternalID: v.ExternalID,
			Start: timeOf(v.Start), End: timeOf(v.End), Site: v.Site, Notes: v.Notes,
		}
	}
	return r
}

func timeOf(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return *at
}

type recordFulfilmentIn struct {
	OrderPath
	Body    StepIn
	RawBody []byte
}

func (h *Handlers) recordFulfilment(ctx context.Context, c api.Caller, in *recordFulfilmentIn) (*api.Out[postOrderBody], error) {
	key := uuid.NewString() // the Idempotency-Key keeps repetitions away
	return h.changeOrder(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, err := h.Fulfilment.Record(ctx, tx, c.Team, in.OrderID, in.Body.report(key, in.RawBody))
		return o, "Step recorded", err
	})
}

type takePartnerReportIn struct {
	Partner   string `path:"partner" maxLength:"40"`
	ID        string `header:"webhook-id" doc:"Id of the report. A report that is sent again with the same id changes nothing."`
	Timestamp string `header:"webhook-timestamp" doc:"Unix time in seconds."`
	Signature string `header:"webhook-signature" doc:"v1, and the base64 of the HMAC-SHA256 of id.timestamp.body; Standard Webhooks."`
	Body      struct {
		OrderID orders.ID `json:"order_id" format:"uuid"`
		StepIn
	}
	RawBody []byte
}

func (h *Handlers) takePartnerReport(ctx context.Context, _ api.Caller, in *takePartnerReportIn) (*api.Out[api.SuccessBody], error) {
	if err := h.Fulfilment.Verify(in.Partner, in.ID, in.Timestamp, in.Signature, in.RawBody); err != nil {
		return nil, err
	}
	ctx = store.AsSystem(ctx)
	return h.CommitSuccess(ctx, func(tx *store.Tx) error {
		return h.Fulfilment.RecordFrom(ctx, tx, in.Partner, in.Body.OrderID, in.Body.report(in.ID, in.RawBody))
	})
}
