package api

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"hale/internal/events"
	"hale/internal/jobs"
	"hale/internal/paging"
	"hale/internal/store"
	"hale/internal/webhooks"
)

// What became of deliveries, and sending them once more. The reference has
// these only in its dashboard.

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

type eventTypesBody struct {
	EventTypes []eventTypeBody `json:"event_types"`
}

type eventTypeBody struct {
	EventType string `json:"event_type"`
	Sentence  string `json:"sentence" doc:"When it is sent."`
}

func (a *API) listEventTypes(context.Context, Caller, *struct{}) (*out[eventTypesBody], error) {
	body := eventTypesBody{}
	for _, t := range events.Types() {
		body.EventTypes = append(body.EventTypes, eventTypeBody{t.Name, t.Sentence})
	}
	return answer(body), nil
}

// envelopeBody describes an event as it is posted.
//
// Spec: Events, Envelope.
type envelopeBody struct {
	EventType    string          `json:"event_type"`
	Data         json.RawMessage `json:"data"`
	TeamID       string          `json:"team_id" format:"uuid"`
	UserID       *string         `json:"user_id" format:"uuid"`
	ClientUserID *string         `json:"client_user_id"`
}

type exampleIn struct {
	EventType string `path:"event_type"`
}

func (a *API) getExample(_ context.Context, c Caller, in *exampleIn) (*written, error) {
	text, err := events.Example(c.Team.UUID(), in.EventType, "path", "event_type")
	if err != nil {
		return nil, err
	}
	return write(text), nil
}

// deliveryBody is a delivery on the wire.
type deliveryBody struct {
	MessageID     string `json:"message_id" doc:"msg_…"`
	Seq           int64  `json:"seq" doc:"The event's number."`
	EventType     string `json:"event_type"`
	CreatedAt     Time   `json:"created_at" doc:"Of the event."`
	State         string `json:"state" enum:"pending,sent,failed,held" doc:"held: waits for the endpoint to be switched on, or was passed over then; recover sends it."`
	Attempts      int    `json:"attempts"`
	ResponseCode  *int   `json:"response_code" doc:"Of the last answer."`
	NextAttemptAt *Time  `json:"next_attempt_at"`
	EndedAt       *Time  `json:"ended_at"`
}

func deliveryOf(d webhooks.Delivery) deliveryBody {
	return deliveryBody{
		MessageID: d.Event.String(), Seq: d.Seq, EventType: d.Type, CreatedAt: Time(d.CreatedAt), State: string(d.State),
		Attempts: d.Attempts, ResponseCode: d.Code, NextAttemptAt: wireTime(d.DueAt), EndedAt: wireTime(d.EndedAt),
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
	Data       []deliveryBody `json:"data"`
	NextCursor *string        `json:"next_cursor" doc:"Null at the end."`
}

func (a *API) listDeliveries(ctx context.Context, c Caller, in *deliveriesIn) (*out[deliveriesBody], error) {
	filter := webhooks.DeliveryFilter{State: webhooks.DeliveryState(in.State), Type: in.EventType, Limit: in.Limit + 1}
	id, err := in.pageOf(in.Cursor, &filter.Before)
	if err != nil {
		return nil, err
	}
	var all []webhooks.Delivery
	err = a.db.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = webhooks.Deliveries(ctx, tx, c.Team, id, filter)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := deliveriesBody{Data: []deliveryBody{}}
	for i, d := range all {
		if i == in.Limit {
			next := paging.Encode(all[i-1].Seq)
			body.NextCursor = &next
			break
		}
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
}

func attemptOf(at webhooks.Attempt) attemptBody {
	return attemptBody{
		MessageID: at.Event.String(), EventType: at.Type, Number: at.N, AttemptedAt: Time(at.At),
		TookMS: float64(at.Took.Microseconds()) / 1000, URL: at.URL, Headers: at.Headers,
		ResponseCode: at.Code, Problem: orNone(string(at.Problem)), Response: at.Answer,
	}
}

// MessagePath names one delivery.
type MessagePath struct {
	WebhookPath
	MessageID string `path:"message_id" doc:"msg_…"`
}

type deliveryDetailBody struct {
	deliveryBody
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
	body := deliveryDetailBody{deliveryBody: deliveryOf(d), AttemptLog: []attemptBody{}}
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
	NextCursor *string       `json:"next_cursor" doc:"Null at the end."`
}

func (a *API) listAttempts(ctx context.Context, c Caller, in *attemptsIn) (*out[attemptsBody], error) {
	filter := webhooks.AttemptFilter{Limit: in.Limit + 1, OK: in.State == "ok", Failed: in.State == "failed"}
	id, err := in.pageOf(in.Cursor, &filter.Before)
	if err != nil {
		return nil, err
	}
	var all []webhooks.Attempt
	err = a.db.Read(ctx, func(tx *store.Tx) (err error) {
		all, err = webhooks.Attempts(ctx, tx, c.Team, id, filter)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := attemptsBody{Data: []attemptBody{}}
	for i, at := range all {
		if i == in.Limit {
			next := paging.Encode(all[i-1].Position())
			body.NextCursor = &next
			break
		}
		body.Data = append(body.Data, attemptOf(at))
	}
	return answer(body), nil
}

type replayIn struct {
	WebhookPath
	Body struct {
		MessageID string `json:"message_id" required:"false" doc:"msg_…, to send this one."`
		From      int64  `json:"from_seq" required:"false" minimum:"1" doc:"To send all from this number on that the endpoint wants."`
		To        int64  `json:"to_seq" required:"false" minimum:"1" doc:"Up to this number; the last one when left out."`
		DryRun    bool   `json:"dry_run" required:"false" doc:"Only count."`
	}
}

// replayBody says how much is sent once more.
type replayBody struct {
	Count  int64    `json:"count" doc:"Messages."`
	JobID  *jobs.ID `json:"job_id" format:"uuid" doc:"The job that sends them; null for a single message and a dry run."`
	DryRun bool     `json:"dry_run"`
}

func (a *API) replay(ctx context.Context, c Caller, in *replayIn) (*out[replayBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	if in.Body.MessageID == "" {
		return a.startReplay(ctx, c, webhooks.Replay{Endpoint: id, From: in.Body.From, To: in.Body.To}, in.Body.DryRun)
	}
	message, err := events.Parse(in.Body.MessageID)
	if err != nil {
		return nil, err
	}
	run := a.db.Write
	if in.Body.DryRun {
		run = a.db.Read
	}
	err = run(ctx, func(tx *store.Tx) error {
		if in.Body.DryRun {
			return webhooks.MayResend(ctx, tx, c.Team, id, message)
		}
		return webhooks.Resend(ctx, tx, c.Team, id, message)
	})
	if err != nil {
		return nil, err
	}
	return answer(replayBody{Count: 1, DryRun: in.Body.DryRun}), nil
}

type recoverIn struct {
	WebhookPath
	Body struct {
		Since  Time `json:"since" doc:"Of the events."`
		DryRun bool `json:"dry_run" required:"false" doc:"Only count."`
	}
}

func (a *API) recoverFailed(ctx context.Context, c Caller, in *recoverIn) (*out[replayBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	since := time.Time(in.Body.Since)
	if since.Before(time.Unix(0, 0)) {
		since = time.Unix(1, 0)
	}
	return a.startReplay(ctx, c, webhooks.Replay{Endpoint: id, Since: since}, in.Body.DryRun)
}

func (a *API) startReplay(ctx context.Context, c Caller, r webhooks.Replay, dryRun bool) (*out[replayBody], error) {
	body := replayBody{DryRun: dryRun}
	run := a.db.Write
	if dryRun {
		run = a.db.Read
	}
	err := run(ctx, func(tx *store.Tx) (err error) {
		body.JobID = nil
		if body.Count, err = r.Count(ctx, tx, c.Team); err != nil || dryRun {
			return err
		}
		job, err := r.Start(ctx, tx, c.Team)
		body.JobID = &job
		return err
	})
	if err != nil {
		return nil, err
	}
	return answer(body), nil
}

type reconcileIn struct {
	WebhookPath
	From int64 `query:"from" minimum:"1" default:"1" doc:"First number."`
	To   int64 `query:"to" minimum:"1" doc:"Last number; at most 100,000 are looked at. Left out, the last there is."`
}

// reconcileBody is the account of a range of numbers.
type reconcileBody struct {
	From      int64            `json:"from"`
	To        int64            `json:"to" doc:"May be less than asked for: go on from the next number."`
	Counts    map[string]int64 `json:"counts" doc:"Events by state: pending, sent, failed, held, and apart for those that the endpoint was not to get."`
	Open      []deliveryBody   `json:"open" doc:"What has not been answered with 2xx, at most 1000."`
	Truncated bool             `json:"truncated" doc:"There is more that is open than is listed."`
}

func (a *API) reconcile(ctx context.Context, c Caller, in *reconcileIn) (*out[reconcileBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	if in.To == 0 {
		in.To = 1<<63 - 1
	}
	var account webhooks.Account
	err = a.db.Read(ctx, func(tx *store.Tx) (err error) {
		account, err = webhooks.Reconcile(ctx, tx, c.Team, id, in.From, in.To)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := reconcileBody{From: account.From, To: account.To, Counts: map[string]int64{"apart": account.Apart}, Open: []deliveryBody{}, Truncated: account.More}
	for state, n := range account.Counts {
		body.Counts[string(state)] = n
	}
	for _, d := range account.Open {
		body.Open = append(body.Open, deliveryOf(d))
	}
	return answer(body), nil
}

type sendExampleIn struct {
	WebhookPath
	Body struct {
		EventType string `json:"event_type"`
	}
}

// trialBody is an example that was posted, and the answer.
type trialBody struct {
	Count        int               `json:"count" doc:"1: messages posted."`
	MessageID    string            `json:"message_id"`
	TookMS       float64           `json:"took_ms"`
	Headers      map[string]string `json:"request_headers"`
	Event        json.RawMessage   `json:"event" doc:"What was posted."`
	ResponseCode *int              `json:"response_code" doc:"Null when no answer came."`
	Problem      *string           `json:"problem" doc:"Null for success."`
	Response     string            `json:"response" doc:"The first KiB of the answer."`
}

func (a *API) sendExample(ctx context.Context, c Caller, in *sendExampleIn) (*out[trialBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	t, err := webhooks.SendExample(ctx, a.db, a.Webhooks, c.Team, id, in.Body.EventType)
	if err != nil {
		return nil, err
	}
	body := trialBody{
		Count: 1, MessageID: t.ID.String(), TookMS: float64(t.Outcome.Took.Microseconds()) / 1000, Headers: t.Headers,
		Event: t.Body, Problem: orNone(string(t.Outcome.Problem)), Response: strings.ToValidUTF8(string(t.Outcome.Answer), "\uFFFD"),
	}
	if t.Outcome.Code != 0 {
		body.ResponseCode = &t.Outcome.Code
	}
	return answer(body), nil
}
