package api

import (
	"context"

	"hale/internal/platform/events"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
	"hale/internal/platform/webhooks"
)

// What became of deliveries. The reference has this, and what is in
// webhooks_again.go and webhooks_examples.go, only in its dashboard.

func (a *API) webhookLogRoutes() []route {
	return []route{
		get("/v2/webhooks/event_types", a.listEventTypes, "List the event types there are"),
		writes[envelopeBody](get("/v2/webhooks/examples/{event_type}", a.getExample, "Get an example of an event")),
		get("/v2/webhooks/{webhook_id}/deliveries", a.listDeliveries, "List what became of events at an endpoint, newest first"),
		get("/v2/webhooks/{webhook_id}/deliveries/{message_id}", a.getDelivery, "Get one delivery with all its attempts"),
		get("/v2/webhooks/{webhook_id}/attempts", a.listAttempts, "List attempts at an endpoint, newest events first"),
		post("/v2/webhooks/{webhook_id}/replay", a.replay, "Send one message, or a range of numbers, once more").creates(),
		post("/v2/webhooks/{webhook_id}/recover", a.recoverFailed, "Send once more what failed or was held since a moment").creates(),
		get("/v2/webhooks/{webhook_id}/reconcile", a.reconcile, "Account for every event of a range of numbers"),
		post("/v2/webhooks/{webhook_id}/example", a.sendExample, "Post an example of an event type now, and see the answer"),
	}
}

// DeliveryBody is a delivery on the wire. It has a capital because the document
// does not see into embedded types without one.
type DeliveryBody struct {
	MessageID     string       `json:"message_id" doc:"msg_…"`
	Seq           int64        `json:"seq" doc:"The event's number."`
	EventType     string       `json:"event_type"`
	CreatedAt     Time         `json:"created_at" doc:"Of the event."`
	State         string       `json:"state" enum:"pending,sent,failed,held" doc:"held: waits for the endpoint to be switched on, or was passed over then; recover sends it."`
	Attempts      int          `json:"attempts"`
	ResponseCode  *int         `json:"response_code" doc:"Of the last answer."`
	NextAttemptAt orNull[Time] `json:"next_attempt_at"`
	EndedAt       orNull[Time] `json:"ended_at"`
}

func deliveryOf(d webhooks.Delivery) DeliveryBody {
	return DeliveryBody{
		MessageID: d.Event.String(), Seq: d.Seq, EventType: d.Type, CreatedAt: Time(d.CreatedAt), State: string(d.State),
		Attempts: d.Attempts, ResponseCode: d.Code, NextAttemptAt: nullable(wireTime(d.DueAt)), EndedAt: nullable(wireTime(d.EndedAt)),
	}
}

type deliveriesIn struct {
	WebhookPath
	State     string `query:"state" enum:"pending,sent,failed,held"`
	EventType string `query:"event_type" maxLength:"200"`
	Limit     int    `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor    string `query:"next_cursor" doc:"next_cursor of the page before."`
}

type deliveriesBody struct {
	Data       []DeliveryBody `json:"data"`
	NextCursor *string        `json:"next_cursor" doc:"Null at the end. A page may hold fewer than the limit, or none, before that."`
}

func (a *API) listDeliveries(ctx context.Context, c Caller, in *deliveriesIn) (*out[deliveriesBody], error) {
	filter := webhooks.DeliveryFilter{State: webhooks.DeliveryState(in.State), Type: in.EventType, Limit: in.Limit}
	id, err := in.pageOf(in.Cursor, &filter.Before)
	if err != nil {
		return nil, err
	}
	var all []webhooks.Delivery
	var after int64
	err = a.db.Read(ctx, func(tx *store.Tx) (err error) {
		all, after, err = webhooks.Deliveries(ctx, tx, c.Team, id, filter)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := deliveriesBody{Data: []DeliveryBody{}}
	if after != 0 {
		next := paging.Encode(after)
		body.NextCursor = &next
	}
	for _, d := range all {
		body.Data = append(body.Data, deliveryOf(d))
	}
	return answer(body), nil
}

// pageOf reads the endpoint's id and where a page begins.
func (p WebhookPath) pageOf(cursor string, before any) (webhooks.EndpointID, error) {
	id, err := p.id()
	if err != nil || cursor == "" {
		return id, err
	}
	return id, paging.Decode(cursor, before)
}

// attemptBody is one attempt on the wire.
type attemptBody struct {
	MessageID    string            `json:"message_id"`
	EventType    string            `json:"event_type"`
	Number       int               `json:"number" doc:"1, 2, 3, … without gaps."`
	AttemptedAt  Time              `json:"attempted_at"`
	TookMS       float64           `json:"took_ms"`
	URL          string            `json:"url"`
	Headers      map[string]string `json:"request_headers" doc:"As sent; values of secret ones are withheld."`
	ResponseCode *int              `json:"response_code" doc:"Null when no answer came."`
	Problem      *string           `json:"problem" doc:"Why it failed: status, redirect, timeout, address, name, refused, tls or connection. Null for success."`
	Response     string            `json:"response" doc:"The first KiB of the answer."`
	Unreadable   []webhooks.Part   `json:"unreadable,omitempty" enum:"request,response" doc:"What is stored damaged of it and therefore empty: the request is url and what request_headers had of yours. Left out of every other."`
}

func attemptOf(at webhooks.Attempt) attemptBody {
	return attemptBody{
		MessageID: at.Event.String(), EventType: at.Type, Number: at.N, AttemptedAt: Time(at.At),
		TookMS: float64(at.Took.Microseconds()) / 1000, URL: at.URL, Headers: at.Headers,
		ResponseCode: at.Code, Problem: orNone(string(at.Problem)), Response: at.Answer, Unreadable: at.Unreadable,
	}
}

// MessagePath names one delivery.
type MessagePath struct {
	WebhookPath
	MessageID string `path:"message_id" doc:"msg_…"`
}

type deliveryDetailBody struct {
	DeliveryBody
	AttemptLog []attemptBody `json:"attempt_log" doc:"The first one first."`
}

func (a *API) getDelivery(ctx context.Context, c Caller, in *MessagePath) (*out[deliveryDetailBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	message, err := events.Parse(in.MessageID)
	if err != nil {
		return nil, err
	}
	var d webhooks.Delivery
	var attempts []webhooks.Attempt
	err = a.db.Read(ctx, func(tx *store.Tx) (err error) {
		d, attempts, err = webhooks.GetDelivery(ctx, tx, c.Team, id, message)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := deliveryDetailBody{DeliveryBody: deliveryOf(d), AttemptLog: []attemptBody{}}
	for _, at := range attempts {
		body.AttemptLog = append(body.AttemptLog, attemptOf(at))
	}
	return answer(body), nil
}

type attemptsIn struct {
	WebhookPath
	State  string `query:"state" enum:"ok,failed"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string `query:"next_cursor" doc:"next_cursor of the page before."`
}

type attemptsBody struct {
	Data       []attemptBody `json:"data"`
	NextCursor *string       `json:"next_cursor" doc:"Null at the end. A page may hold fewer than the limit, or none, before that."`
}

func (a *API) listAttempts(ctx context.Context, c Caller, in *attemptsIn) (*out[attemptsBody], error) {
	filter := webhooks.AttemptFilter{Limit: in.Limit, OK: in.State == "ok", Failed: in.State == "failed"}
	id, err := in.pageOf(in.Cursor, &filter.Before)
	if err != nil {
		return nil, err
	}
	var all []webhooks.Attempt
	var after webhooks.AttemptPosition
	err = a.db.Read(ctx, func(tx *store.Tx) (err error) {
		all, after, err = webhooks.Attempts(ctx, tx, c.Team, id, filter)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := attemptsBody{Data: []attemptBody{}}
	if after.Seq != 0 {
		next := paging.Encode(after)
		body.NextCursor = &next
	}
	for _, at := range all {
		body.Data = append(body.Data, attemptOf(at))
	}
	return answer(body), nil
}
