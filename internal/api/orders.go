package api

import (
	"context"
	"slices"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/orders"
	"hale/internal/people/messages"
	"hale/internal/platform/civil"
	"hale/internal/platform/patch"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func (a *API) orderRoutes() []route {
	return []route{
		post("/v3/order", a.createOrder, "Order a test").creates().sensitive().describe(a.readForTrial),
		post("/v3/order/create", a.createOrderToo, "Order a test; the same as POST /v3/order").creates().sensitive().describe(a.readForTrial),
		post("/v3/order/import", a.importOrder, "Take over an order that its lab has already").creates().sensitive(),
		post("/v3/order/testkit", a.createTestkitOrder, "Order a test kit that is registered later").creates().sensitive(),
		post("/v3/order/testkit/register", a.registerTestkit, "Say whom a test kit is for").creates().sensitive(),
		post("/v3/order/resend_events", a.resendOrderEvents, "Send the latest events of orders again"),
		get("/v3/order/{order_id}", a.getOrder, "Get an order"),
		amend("/v3/order/{order_id}", a.rescheduleOrder, "Move or clear the day on which a scheduled order starts"),
		post("/v3/order/{order_id}/cancel", a.cancelOrder, "Cancel an order"),
		amend("/v3/order/{order_id}/draw_completed", a.completeDraw, "Say that the sample of an on-site order was drawn"),
		get("/v3/order/{order_id}/communication_settings", a.orderCommunication, "Whether the patient gets text messages about an order"),
		amend("/v3/order/{order_id}/communication_settings", a.setOrderCommunication, "Turn text messages about an order on or off"),
		writes[ordersBody](get("/v3/orders", a.listOrders, "List orders, newest first unless asked otherwise")),
		get("/v3/order_transaction/{transaction_id}", a.getOrderTransaction, "Get an order transaction").tag("order"),
	}
}

// OrderPath is the part of an input that names the order.
type OrderPath struct {
	OrderID orders.ID `path:"order_id" format:"uuid"`
}

// orderBody is an order on the wire, with its lab and markers.
type orderBody = orders.Document[labTestBody]

type postOrderBody struct {
	Order   orderBody `json:"order"`
	Status  string    `json:"status" doc:"success"`
	Message string    `json:"message"`
}

// orderBodies writes orders of the caller's team, in their order.
func orderBodies(ctx context.Context, tx *store.Tx, team teams.ID, all []orders.Order) ([]orderBody, error) {
	facts, err := orders.Around(ctx, tx, team, all)
	if err != nil {
		return nil, err
	}
	offered, err := catalogue.For(ctx, tx, team)
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

// ordered runs a change of an order and answers with the order.
func (a *API) ordered(ctx context.Context, c Caller, change func(tx *store.Tx) (orders.Order, string, error)) (*out[postOrderBody], error) {
	return answering(ctx, a, func(tx *store.Tx) (postOrderBody, error) {
		o, message, err := change(tx)
		if err != nil {
			return postOrderBody{}, err
		}
		bodies, err := orderBodies(ctx, tx, c.Team, []orders.Order{o})
		if err != nil {
			return postOrderBody{}, err
		}
		return postOrderBody{bodies[0], "success", message}, nil
	})
}

type createOrderIn struct {
	DryRun bool `query:"dry_run" doc:"Check the request, store nothing, and say everything that is wrong with it at once."`
	Body   createOrderBody
}

func (a *API) createOrder(ctx context.Context, c Caller, in *createOrderIn) (*out[createdOrderBody], error) {
	r, err := in.Body.request()
	if in.DryRun {
		return a.tryOrder(ctx, c, r, listOf(err))
	}
	if err != nil {
		return nil, err
	}
	made, err := a.ordered(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, err := orders.Create(ctx, tx, c.Team, r)
		return o, "Order created successfully", err
	})
	if err != nil {
		return nil, err
	}
	return answer(createdOrderBody{order: &made.Body}), nil
}

// createOrderToo is createOrder under the spec's other path.
func (a *API) createOrderToo(ctx context.Context, c Caller, in *createOrderIn) (*out[createdOrderBody], error) {
	return a.createOrder(ctx, c, in)
}

func (a *API) getOrder(ctx context.Context, c Caller, in *OrderPath) (*out[orderBody], error) {
	var body orderBody
	err := a.db.Read(ctx, func(tx *store.Tx) error {
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
	return answer(body), nil
}

type rescheduleOrderIn struct {
	OrderPath
	Body struct {
		ActivateBy patch.Field[dayText] `json:"activate_by" doc:"Today or later; null starts the order at once."`
	}
}

func (a *API) rescheduleOrder(ctx context.Context, c Caller, in *rescheduleOrderIn) (*out[postOrderBody], error) {
	field, bad := patchedDay(in.Body.ActivateBy, "activate_by")
	if bad != nil {
		return nil, bad
	}
	var day *civil.Date
	field.Apply(&day)
	return a.ordered(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, err := orders.Reschedule(ctx, tx, c.Team, in.OrderID, day)
		return o, "order updated", err
	})
}

func (a *API) cancelOrder(ctx context.Context, c Caller, in *OrderPath) (*out[postOrderBody], error) {
	return a.ordered(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, already, err := orders.Cancel(ctx, tx, c.Team, in.OrderID)
		if already {
			return o, "order already cancelled", err
		}
		return o, "order cancelled", err
	})
}

func (a *API) completeDraw(ctx context.Context, c Caller, in *OrderPath) (*out[postOrderBody], error) {
	return a.ordered(ctx, c, func(tx *store.Tx) (orders.Order, string, error) {
		o, err := orders.CompleteDraw(ctx, tx, c.Team, in.OrderID)
		return o, "order updated", err
	})
}

type resendOrderEventsIn struct {
	Body struct {
		OrderIDs listOrNull[orders.ID] `json:"order_ids" required:"false" maxItems:"1000"`
		StartAt  *time.Time            `json:"start_at" required:"false" doc:"Orders that changed since then; at most 60 days before end_at."`
		EndAt    *time.Time            `json:"end_at" required:"false" doc:"Now when absent."`
	}
}

type resentBody struct {
	OrderIDs []orders.ID `json:"order_ids" doc:"Those whose events were sent."`
}

// resentAtOnce bounds the events of one transaction.
const resentAtOnce = 100

func (a *API) resendOrderEvents(ctx context.Context, c Caller, in *resendOrderEventsIn) (*out[resentBody], error) {
	r := orders.Resend{IDs: in.Body.OrderIDs, Start: in.Body.StartAt, End: in.Body.EndAt}
	if err := r.Check(a.db.Now()); err != nil {
		return nil, err
	}
	var all []orders.ID
	err := a.db.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = r.Named(ctx, tx, c.Team)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := resentBody{OrderIDs: []orders.ID{}}
	for some := range slices.Chunk(all, resentAtOnce) {
		var sent []orders.ID
		err := a.db.Write(ctx, func(tx *store.Tx) (err error) {
			sent, err = orders.SendAgain(ctx, tx, c.Team, some)
			return err
		})
		if err != nil {
			return nil, err
		}
		body.OrderIDs = append(body.OrderIDs, sent...)
	}
	return answer(body), nil
}

type orderCommunicationBody struct {
	OrderID    orders.ID `json:"order_id" format:"uuid"`
	SMSEnabled bool      `json:"sms_enabled"`
}

func (a *API) orderCommunication(ctx context.Context, c Caller, in *OrderPath) (*out[orderCommunicationBody], error) {
	body := orderCommunicationBody{OrderID: in.OrderID}
	err := a.db.Read(ctx, func(tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, c.Team, in.OrderID)
		body.SMSEnabled = o.SMSEnabled
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

type setOrderCommunicationIn struct {
	OrderPath
	Body struct {
		SMSEnabled bool `json:"sms_enabled"`
	}
}

func (a *API) setOrderCommunication(ctx context.Context, c Caller, in *setOrderCommunicationIn) (*out[orderCommunicationBody], error) {
	err := a.db.Write(ctx, func(tx *store.Tx) error {
		_, err := orders.SetSMS(ctx, tx, c.Team, in.OrderID, in.Body.SMSEnabled)
		if err != nil || in.Body.SMSEnabled {
			return err
		}
		return messages.SilenceSMS(ctx, tx, c.Team, in.OrderID.UUID())
	})
	if err != nil {
		return nil, err
	}
	return answer(orderCommunicationBody{in.OrderID, in.Body.SMSEnabled}), nil
}
