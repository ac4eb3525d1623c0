package labs

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/people/messages"
	"hale/internal/people/users"
	"hale/internal/platform/audit"
	"hale/internal/platform/civil"
	"hale/internal/platform/fault"
	"hale/internal/platform/ids"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (h *Handlers) orderRoutes() []api.Route {
	return []api.Route{
		api.Post("/v3/order", h.createOrder, "Order a test").Creates().Sensitive().Describe(h.readForTrial).Announces("labtest.order.created", "labtest.order.updated").Refuses(createOrderCodes...),
		api.Post("/v3/order/create", h.createOrderToo, "Order a test; the same as POST /v3/order").Creates().Sensitive().Describe(h.readForTrial).Announces("labtest.order.created", "labtest.order.updated").Refuses(createOrderCodes...),
		api.Post("/v3/order/import", h.importOrder, "Import an order that the lab already has").Creates().Sensitive().Announces("labtest.order.created", "labtest.order.updated").Refuses(importOrderCodes...),
		api.Post("/v3/order/testkit", h.createTestkitOrder, "Order a test kit that is registered later").Creates().Sensitive().Announces("labtest.order.created", "labtest.order.updated").Refuses(createKitCodes...),
		api.Post("/v3/order/testkit/register", h.registerTestkit, "Register a test kit for a patient").Creates().Sensitive().Announces("labtest.order.updated").Refuses(registerKitCodes...),
		api.Post("/v3/order/resend_events", h.resendOrderEvents, "Send the latest events of orders again"),
		api.Get("/v3/order/{order_id}", h.getOrder, "Get an order"),
		api.Patch("/v3/order/{order_id}", h.rescheduleOrder, "Move or clear the day on which a scheduled order starts").Creates().Conditional(orderVersion).Announces("labtest.order.updated").Refuses("activate_by_past", "order_not_scheduled", "order_not_waiting"),
		api.Post("/v3/order/{order_id}/cancel", h.cancelOrder, "Cancel an order").Creates().Conditional(orderVersion).Announces("labtest.order.updated", "labtest.appointment.updated"),
		api.Post("/v3/order/{order_id}/recreate", h.recreateOrder, "Replace an order that went to the wrong lab").Creates().Sensitive().Conditional(orderVersion).Announces("labtest.order.created", "labtest.order.updated", "labtest.appointment.updated").Refuses(recreateOrderCodes...),
		api.Patch("/v3/order/{order_id}/draw_completed", h.completeDraw, "Record that the sample of an on-site order was drawn").Creates().Conditional(orderVersion).Announces("labtest.order.updated"),
		api.Get("/v3/order/{order_id}/communication_settings", h.orderCommunication, "Get whether the patient gets text messages about an order"),
		api.Patch("/v3/order/{order_id}/communication_settings", h.setOrderCommunication, "Turn text messages about an order on or off").Creates().Conditional(orderVersion),
		api.Writes[ordersBody](api.Get("/v3/orders", h.listOrders, "List orders; by default newest first")),
		api.Get("/v3/order_transaction/{transaction_id}", h.getOrderTransaction, "Get an order transaction").Tag("order"),
	}
}

// OrderPath is the part of an input with the order's id.
type OrderPath struct {
	OrderID orders.ID `path:"order_id" format:"uuid"`
}

// orderBody is an order in JSON, with its lab and markers.
type orderBody = orders.Document[labTestBody]

type postOrderBody struct {
	Order   orderBody `json:"order"`
	Status  string    `json:"status" doc:"success"`
	Message string    `json:"message"`
	// Warnings are those of a dry run, a kit's registration or an import.
	Warnings []orderWarning `json:"warnings,omitempty" doc:"Problems that do not block the order, as in a dry run; absent when there are none."`
}

// Version returns the order, whose version the tag of the answer names.
func (b postOrderBody) Version() any { return b.Order.Version() }

// orderVersion returns the version of the order in the path.
func orderVersion(ctx context.Context, tx *store.Tx, c api.Caller, r *http.Request) (any, error) {
	id, err := ids.Parse[orders.Order](chi.URLParam(r, "order_id"))
	if err != nil {
		return nil, fault.New(fault.Invalid, "Input should be a valid UUID").At("path", "order_id").WithType("uuid_parsing")
	}
	o, err := orders.GetForUpdate(ctx, tx, c.Team, id)
	if err != nil {
		return nil, err
	}
	bodies, err := orderBodies(ctx, tx, c.Team, []orders.Order{o})
	if err != nil {
		return nil, err
	}
	return bodies[0].Version(), nil
}

// aboutOrders notes the people of orders in the audit log.
func aboutOrders(ctx context.Context, all ...orders.Order) {
	for i := range all {
		audit.NotePeople(ctx, all[i].User)
	}
}

// orderBodies encodes orders of the caller's team, in the given order.
func orderBodies(ctx context.Context, tx *store.Tx, team teams.ID, all []orders.Order) ([]orderBody, error) {
	aboutOrders(ctx, all...)
	facts, err := orders.ReadFacts(ctx, tx, team, all)
	if err != nil {
		return nil, err
	}
	offered, err := catalogue.Load(ctx, tx, team)
	if err != nil {
		return nil, err
	}
	tests := map[catalogue.TestID]labTestBody{}
	bodies := make([]orderBody, len(all))
	for i := range all {
		test, known := tests[all[i].LabTest]
		if !known {
			test = labTestOf(offered, facts[i].Test)
			tests[all[i].LabTest] = test
		}
		bodies[i] = orders.DocumentOf(&all[i], facts[i], test, tx.Now())
	}
	return bodies, nil
}

// changeOrder runs a change of an order and answers with the order.
func (h *Handlers) changeOrder(ctx context.Context, c api.Caller, change func(tx *store.Tx) (orders.Order, string, error)) (*api.Out[postOrderBody], error) {
	return h.changeWithWarnings(ctx, c, func(tx *store.Tx) (orders.Order, string, []*fault.Error, error) {
		o, message, err := change(tx)
		return o, message, nil, err
	})
}

// changeWithWarnings changes an order like changeOrder. The answer has the warnings.
func (h *Handlers) changeWithWarnings(ctx context.Context, c api.Caller, change func(tx *store.Tx) (orders.Order, string, []*fault.Error, error)) (*api.Out[postOrderBody], error) {
	return api.Commit(ctx, h.API, func(tx *store.Tx) (postOrderBody, error) {
		o, message, warnings, err := change(tx)
		if err != nil {
			return postOrderBody{}, err
		}
		bodies, err := orderBodies(ctx, tx, c.Team, []orders.Order{o})
		if err != nil {
			return postOrderBody{}, err
		}
		return postOrderBody{bodies[0], "success", message, orderWarningsOf(warnings)}, nil
	})
}

type createOrderIn struct {
	DryRun bool `query:"dry_run" doc:"Check the request without storing anything, and return all problems at once."`
	Body   createOrderBody
}

func (h *Handlers) createOrder(ctx context.Context, c api.Caller, in *createOrderIn) (*api.Out[createdOrderBody], error) {
	r, err := in.Body.request()
	if in.DryRun {
		return h.tryOrder(ctx, c, r, faultsOf(err))
	}
	if err != nil {
		return nil, err
	}
	made, err := api.Commit(ctx, h.API, func(tx *store.Tx) (postOrderBody, error) {
		o, warnings, err := orders.CreateWithWarnings(ctx, tx, c.Team, r)
		if err != nil {
			return postOrderBody{}, err
		}
		bodies, err := orderBodies(ctx, tx, c.Team, []orders.Order{o})
		if err != nil {
			return postOrderBody{}, err
		}
		return postOrderBody{bodies[0], "success", "Order created successfully", orderWarningsOf(warnings)}, nil
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(createdOrderBody{order: &made.Body}), nil
}

// createOrderToo serves createOrder at the specification's other path.
func (h *Handlers) createOrderToo(ctx context.Context, c api.Caller, in *createOrderIn) (*api.Out[createdOrderBody], error) {
	return h.createOrder(ctx, c, in)
}

func (h *Handlers) getOrder(ctx context.Context, c api.Caller, in *OrderPath) (*api.Out[orderBody], error) {
	var body orderBody
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, c.Team, in.OrderID)
		if err != nil {
			return err
		}
		bodies, err := orderBodies(ctx, tx, c.Team, []orders.Order{o})
		if err == nil {
			body = bodies[0]
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

type rescheduleOrderIn struct {
	OrderPath
	Body struct {
		ActivateBy patch.Field[api.DateText] `json:"activate_by" doc:"Day on which the order starts, today or later. Null starts it at once."`
	}
}

func (h *Handlers) rescheduleOrder(ctx context.Context, c api.Caller, in *rescheduleOrderIn) (*api.Out[postOrderBody], error) {
	field, bad := api.PatchedDate(in.Body.ActivateBy, "activate_by")
	if bad != nil {
		return nil, bad
	}
	var day *civil.Date
	field.Apply(&day)
	return h.changeOrder(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, err := orders.Reschedule(ctx, tx, c.Team, in.OrderID, day)
		return o, "order updated", err
	})
}

func (h *Handlers) cancelOrder(ctx context.Context, c api.Caller, in *OrderPath) (*api.Out[postOrderBody], error) {
	return h.changeOrder(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, already, err := orders.Cancel(ctx, tx, c.Team, in.OrderID)
		if already {
			return o, "order already cancelled", err
		}
		return o, "order cancelled", err
	})
}

type recreateOrderIn struct {
	OrderPath
	Body struct {
		UpdateReason updateReason                `json:"update_reason" doc:"INCORRECT_LAB: the order went to the wrong lab or lab account. The list may grow."`
		LabTestID    *catalogue.TestID           `json:"lab_test_id" required:"false" format:"uuid" nullable:"true" doc:"Lab test at the right lab. The default is the same lab test."`
		LabAccountID *catalogue.AccountID        `json:"lab_account_id" required:"false" format:"uuid" nullable:"true" doc:"Account for the order. It is selected automatically if it is absent, as for a new order."`
		AOEAnswers   api.ListOrNull[aoeAnswerIn] `json:"aoe_answers" required:"false" maxItems:"500" doc:"Answers to the questions of the new markers. If absent, the answers that still apply are kept."`
	}
}

// updateReason is a reason of a replacement.
type updateReason string

// Schema lists the reasons.
func (updateReason) Schema(huma.Registry) *huma.Schema { return api.Enum(orders.UpdateReasons) }

func (h *Handlers) recreateOrder(ctx context.Context, c api.Caller, in *recreateOrderIn) (*api.Out[postOrderBody], error) {
	r := orders.Replacement{Reason: orders.UpdateReason(in.Body.UpdateReason), Test: in.Body.LabTestID, Account: in.Body.LabAccountID}
	for _, a := range in.Body.AOEAnswers {
		r.Answers = append(r.Answers, orders.Answer(a))
	}
	return h.changeOrder(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, already, err := orders.Replace(ctx, tx, c.Team, in.OrderID, r)
		if already {
			return o, "order already recreated", err
		}
		return o, "order recreated", err
	})
}

func (h *Handlers) completeDraw(ctx context.Context, c api.Caller, in *OrderPath) (*api.Out[postOrderBody], error) {
	return h.changeOrder(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, already, err := orders.CompleteDraw(ctx, tx, c.Team, in.OrderID)
		if already {
			return o, "order already marked as drawn", err
		}
		return o, "order updated", err
	})
}

type resendOrderEventsIn struct {
	Body resendOrderEventsInBody
}

type resendOrderEventsInBody struct {
	OrderIDs api.ListOrNull[orders.ID] `json:"order_ids" required:"false" maxItems:"1000"`
	StartAt  *time.Time                `json:"start_at" required:"false" doc:"Orders that changed since this time; at most 60 days before end_at."`
	EndAt    *time.Time                `json:"end_at" required:"false" doc:"The default is now."`
}

// TransformSchema states that a body names orders or a time.
func (resendOrderEventsInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"": api.StateAny(api.HasList("order_ids"), api.Has("start_at", huma.TypeString))})
}

type resentBody struct {
	OrderIDs []orders.ID `json:"order_ids" doc:"Orders whose events were sent."`
}

// maxResent is the maximum number of events in one transaction.
const maxResent = 100

func (h *Handlers) resendOrderEvents(ctx context.Context, c api.Caller, in *resendOrderEventsIn) (*api.Out[resentBody], error) {
	r := orders.Resend{IDs: in.Body.OrderIDs, Start: in.Body.StartAt, End: in.Body.EndAt}
	if err := r.Check(h.DB.Now()); err != nil {
		return nil, err
	}
	if err := h.Orders.Ready(ctx, h.DB, c.Team); err != nil {
		return nil, err
	}
	var all []orders.ID
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = r.Select(ctx, tx, h.Orders, c.Team)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := resentBody{OrderIDs: []orders.ID{}}
	for some := range slices.Chunk(all, maxResent) {
		var sent []orders.ID
		err := h.DB.Write(ctx, func(tx *store.Tx) (err error) {
			sent, err = orders.ResendEvents(ctx, tx, c.Team, some)
			return err
		})
		if err != nil {
			return nil, err
		}
		body.OrderIDs = append(body.OrderIDs, sent...)
	}
	return api.Answer(body), nil
}

type orderCommunicationBody struct {
	OrderID    orders.ID `json:"order_id" format:"uuid"`
	SMSEnabled bool      `json:"sms_enabled"`
}

func (h *Handlers) orderCommunication(ctx context.Context, c api.Caller, in *OrderPath) (*api.Out[orderCommunicationBody], error) {
	body := orderCommunicationBody{OrderID: in.OrderID}
	err := h.DB.Read(ctx, func(tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, c.Team, in.OrderID)
		body.SMSEnabled = o.SMSEnabled
		return err
	})
	if err != nil {
		return nil, err
	}
	return api.Answer(body), nil
}

type setOrderCommunicationIn struct {
	OrderPath
	Body struct {
		SMSEnabled bool `json:"sms_enabled"`
	}
}

func (h *Handlers) setOrderCommunication(ctx context.Context, c api.Caller, in *setOrderCommunicationIn) (*api.Out[orderCommunicationBody], error) {
	body := orderCommunicationBody{in.OrderID, in.Body.SMSEnabled}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (orderCommunicationBody, error) {
		_, err := orders.SetSMS(ctx, tx, c.Team, in.OrderID, in.Body.SMSEnabled)
		if err != nil || in.Body.SMSEnabled {
			return body, err
		}
		return body, messages.SilenceSMS(ctx, tx, c.Team, in.OrderID.UUID())
	})
}

// Subject returns the user whose key seals a stored answer.
func (b postOrderBody) Subject() uuid.UUID { return b.Order.UserID.UUID() }

// Bodies of requests about orders. The domain checks the values and accepts spaces
// around them, like the reference. So values from a fixed list are plain texts here.

type createTestkitOrderIn struct {
	Body createTestkitOrderInBody
}

type createTestkitOrderInBody struct {
	UserID          users.ID             `json:"user_id" format:"uuid"`
	LabTestID       catalogue.TestID     `json:"lab_test_id" format:"uuid"`
	ShippingDetails shippingIn           `json:"shipping_details"`
	Passthrough     *string              `json:"passthrough" required:"false" doc:"Your data, returned unchanged. At most 10,000 characters."`
	LabAccountID    *catalogue.AccountID `json:"lab_account_id" required:"false" format:"uuid" nullable:"true"`
}

// TransformSchema states the rules of the domain.
func (createTestkitOrderInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"passthrough": api.StateOptional(orders.LongestPassthrough)})
}

// shippingIn is the address for the delivery of a kit.
type shippingIn struct {
	ReceiverName string  `json:"receiver_name"`
	FirstLine    string  `json:"first_line"`
	SecondLine   *string `json:"second_line" required:"false"`
	City         string  `json:"city"`
	State        string  `json:"state" doc:"State of two letters."`
	Zip          string  `json:"zip" doc:"ZIP code such as 12345 or 12345-6789."`
	Country      string  `json:"country"`
	PhoneNumber  string  `json:"phone_number"`
}

// TransformSchema states the rules of the domain.
func (shippingIn) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	rules := orderAddress()
	rules["receiver_name"], rules["phone_number"] = api.StateText(orders.LongestLine), orderPhone()
	return api.State(s, rules)
}

func (in shippingIn) address() orders.Address {
	return patientAddressIn{
		ReceiverName: &in.ReceiverName, FirstLine: in.FirstLine, SecondLine: in.SecondLine, City: in.City, State: in.State,
		Zip: in.Zip, Country: in.Country, PhoneNumber: &in.PhoneNumber,
	}.address()
}

func (h *Handlers) createTestkitOrder(ctx context.Context, c api.Caller, in *createTestkitOrderIn) (*api.Out[postOrderBody], error) {
	b := in.Body
	return h.changeOrder(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, err := orders.CreateKit(ctx, tx, c.Team, orders.KitRequest{
			User: b.UserID, LabTest: b.LabTestID, Shipping: b.ShippingDetails.address(), Passthrough: b.Passthrough, Account: b.LabAccountID,
		})
		return o, "Order created successfully", err
	})
}

type registerTestkitIn struct {
	Body registerTestkitInBody
}

type registerTestkitInBody struct {
	UserID          *users.ID                     `json:"user_id" required:"false" format:"uuid" nullable:"true" doc:"Another user, who becomes the patient of the order."`
	SampleID        string                        `json:"sample_id" doc:"Sample id that is printed on the kit."`
	PatientDetails  patientIn                     `json:"patient_details"`
	PatientAddress  patientAddressIn              `json:"patient_address"`
	Physician       api.ObjectOrNull[physicianIn] `json:"physician" required:"false"`
	Consents        api.ListOrNull[consentIn]     `json:"consents" required:"false" maxItems:"50"`
	HealthInsurance api.ObjectOrNull[coverageIn]  `json:"health_insurance" required:"false" doc:"Deprecated: only diagnosis_codes are read; see the insurance endpoints."`
}

// TransformSchema states the rules of the domain.
func (registerTestkitInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"sample_id": api.StateText(orders.LongestLine)})
}

func (h *Handlers) registerTestkit(ctx context.Context, c api.Caller, in *registerTestkitIn) (*api.Out[postOrderBody], error) {
	b := in.Body
	patient, err := b.PatientDetails.patient()
	if err != nil {
		return nil, err
	}
	return h.changeWithWarnings(ctx, c, func(tx *store.Tx) (orders.Order, string, []*fault.Error, error) {
		o, warnings, err := orders.RegisterWithWarnings(ctx, tx, c.Team, orders.Registration{
			User: b.UserID, SampleID: b.SampleID, Patient: patient, Address: b.PatientAddress.address(),
			Physician: physicianFrom(b.Physician), Consents: consentsFrom(b.Consents), ICDCodes: codesOf(b.HealthInsurance),
		})
		return o, "Kit registered successfully", warnings, err
	})
}

type importOrderIn struct {
	Body importOrderInBody
}

type importOrderInBody struct {
	UserID           users.ID                      `json:"user_id" format:"uuid"`
	BillingType      string                        `json:"billing_type"`
	OrderSet         orderedIn                     `json:"order_set"`
	CollectionMethod string                        `json:"collection_method"`
	Physician        api.ObjectOrNull[physicianIn] `json:"physician" required:"false"`
	PatientDetails   patientIn                     `json:"patient_details"`
	PatientAddress   importedAddressIn             `json:"patient_address" doc:"Address of the patient. Each field has at most 200 characters, and receiver_name is required."`
	SampleID         string                        `json:"sample_id" doc:"The lab's number of the order; it must be unique."`
	LabAccountID     *catalogue.AccountID          `json:"lab_account_id" required:"false" format:"uuid" nullable:"true" doc:"A pending account is allowed."`
}

// TransformSchema states the rules of the domain.
func (importOrderInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{
		"sample_id": api.StateText(orders.LongestLine), "billing_type": api.StateWords(catalogue.Billings, false), "collection_method": api.StateWords(catalogue.Methods, false),
	})
}

func (h *Handlers) importOrder(ctx context.Context, c api.Caller, in *importOrderIn) (*api.Out[postOrderBody], error) {
	b := in.Body
	patient, err := b.PatientDetails.patient()
	if err != nil {
		return nil, err
	}
	if b.PatientAddress.ReceiverName == nil {
		return nil, fault.New(fault.Invalid, "Field required").At("body", "patient_address", "receiver_name").WithType("missing")
	}
	return h.changeWithWarnings(ctx, c, func(tx *store.Tx) (orders.Order, string, []*fault.Error, error) {
		o, warnings, err := orders.ImportWithWarnings(ctx, tx, c.Team, orders.Import{
			User: b.UserID, Billing: catalogue.Billing(strings.TrimSpace(b.BillingType)), Set: *b.OrderSet.set(),
			Method: catalogue.Method(strings.TrimSpace(b.CollectionMethod)), Physician: physicianFrom(b.Physician),
			Patient: patient, Address: patientAddressIn(b.PatientAddress).address(), SampleID: b.SampleID, Account: b.LabAccountID,
		})
		return o, "Order imported successfully", warnings, err
	})
}

// TransactionPath is the part of an input with the id of an order transaction.
type TransactionPath struct {
	TransactionID orders.TransactionID `path:"transaction_id" format:"uuid"`
}

// orderTransactionBody is a transaction without its order.
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
	ParentID   orders.NullID  `json:"parent_id" doc:"The order that this one continues."`
	LastStatus orders.Status  `json:"last_status"`
	StatusAt   orders.Instant `json:"last_status_created_at"`
	UpdatedAt  orders.Instant `json:"updated_at"`
	CreatedAt  orders.Instant `json:"created_at"`
}

func (h *Handlers) getOrderTransaction(ctx context.Context, c api.Caller, in *TransactionPath) (*api.Out[orderTransactionBody], error) {
	var t orders.Transaction
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		t, err = orders.GetTransaction(ctx, tx, c.Team, in.TransactionID)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := orderTransactionBody{ID: t.ID, TeamID: t.Team, Status: t.Status, Orders: []orderSummary{}}
	for _, m := range t.Members {
		body.Orders = append(body.Orders, orderSummary{
			m.ID, m.Origin, orders.NullIDOf(m.Parent), m.Status, orders.Instant(m.StatusAt), orders.Instant(m.UpdatedAt), orders.Instant(m.CreatedAt),
		})
	}
	return api.Answer(body), nil
}
