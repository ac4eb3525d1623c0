package platform

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/platform/events"
	"hale/internal/platform/fault"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
	"hale/internal/platform/webhooks"
)

// Deliveries and their results. The reference offers these, and the operations for
// replays and examples, only in its dashboard.

func (h *Handlers) webhookLogRoutes() []api.Route {
	return []api.Route{
		api.Get("/v2/webhooks/event_types", h.listEventTypes, "List the event types"),
		api.Writes[envelopeBody](api.Get("/v2/webhooks/examples/{event_type}", h.getExample, "Get an example of an event")),
		api.Get("/v2/webhooks/{webhook_id}/deliveries", h.listDeliveries, "List the deliveries of an endpoint, newest first"),
		api.Get("/v2/webhooks/{webhook_id}/deliveries/{message_id}", h.getDelivery, "Get one delivery with all its attempts"),
		api.Get("/v2/webhooks/{webhook_id}/attempts", h.listAttempts, "List attempts of an endpoint, newest events first"),
		api.Post("/v2/webhooks/{webhook_id}/replay", h.replay, "Resend one message, or a range of event numbers").Creates(),
		api.Post("/v2/webhooks/{webhook_id}/recover", h.recoverFailed, "Resend failed and held messages since a time").Creates(),
		api.Get("/v2/webhooks/{webhook_id}/reconcile", h.reconcile, "Report the state of every event in a range of numbers"),
		api.Post("/v2/webhooks/{webhook_id}/example", h.sendExample, "Post an example of an event type now, and return the answer").Refuses("outgoing_paused"),
	}
}

// Types for the words of deliveries and their attempts.
type (
	deliveryStateWord string
	attemptPartWord   string
)

func (deliveryStateWord) Schema(huma.Registry) *huma.Schema { return api.Enum(webhooks.DeliveryStates) }
func (attemptPartWord) Schema(huma.Registry) *huma.Schema   { return api.Enum(webhooks.Parts) }

// DeliveryBody is a delivery in JSON. It is exported, because the document omits
// embedded types that are not.
type DeliveryBody struct {
	MessageID     string               `json:"message_id" doc:"Id of the message, such as msg_…."`
	Seq           int64                `json:"seq" doc:"Number of the event."`
	EventType     string               `json:"event_type"`
	CreatedAt     api.Time             `json:"created_at" doc:"Time of the event."`
	State         deliveryStateWord    `json:"state" doc:"State of the delivery. held means that it waits until the endpoint is enabled, or was skipped when it was enabled. recover sends it."`
	Attempts      int                  `json:"attempts"`
	ResponseCode  *int                 `json:"response_code" doc:"Status of the last answer."`
	NextAttemptAt api.OrNull[api.Time] `json:"next_attempt_at"`
	EndedAt       api.OrNull[api.Time] `json:"ended_at"`
}

func deliveryOf(d webhooks.Delivery) DeliveryBody {
	return DeliveryBody{
		MessageID: d.Event.String(), Seq: d.Seq, EventType: d.Type, CreatedAt: api.Time(d.CreatedAt), State: deliveryStateWord(d.State),
		Attempts: d.Attempts, ResponseCode: d.Code, NextAttemptAt: api.Nullable(api.TimeOrNull(d.DueAt)), EndedAt: api.Nullable(api.TimeOrNull(d.EndedAt)),
	}
}

type deliveriesIn struct {
	WebhookPath
	State     []deliveryStateWord `query:"state,explode" maxItems:"50"`
	EventType []string            `query:"event_type,explode" maxItems:"200"`
	Limit     int                 `query:"limit" minimum:"1" maximum:"500" default:"50"`
	Cursor    string              `query:"next_cursor" doc:"next_cursor of the previous page."`
}

type deliveriesBody struct {
	Data       []DeliveryBody `json:"data"`
	NextCursor *string        `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page. An earlier page may contain fewer than limit items, or none."`
}

func (h *Handlers) listDeliveries(ctx context.Context, c api.Caller, in *deliveriesIn) (*api.Out[deliveriesBody], error) {
	filter := webhooks.DeliveryFilter{States: api.Words[webhooks.DeliveryState](in.State), Types: in.EventType, Limit: in.Limit}
	id, err := in.pageOf(in.Cursor, &filter.Before)
	if err != nil {
		return nil, err
	}
	var all []webhooks.Delivery
	var after int64
	err = h.DB.Read(ctx, func(tx *store.Tx) (err error) {
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
	return api.Answer(body), nil
}

// pageOf returns the endpoint's id and decodes the cursor of a page.
func (p WebhookPath) pageOf(cursor string, before any) (webhooks.EndpointID, error) {
	id, err := p.id()
	if err != nil || cursor == "" {
		return id, err
	}
	return id, paging.Decode(cursor, before)
}

// attemptBody is one attempt in JSON.
type attemptBody struct {
	MessageID    string            `json:"message_id"`
	EventType    string            `json:"event_type"`
	Number       int               `json:"number" doc:"Number of the attempt: 1, 2, 3 and so on, without gaps."`
	AttemptedAt  api.Time          `json:"attempted_at"`
	TookMS       float64           `json:"took_ms"`
	URL          string            `json:"url"`
	Headers      map[string]string `json:"request_headers" doc:"Headers as sent. Secret values are withheld."`
	ResponseCode *int              `json:"response_code" doc:"Status of the answer. It is null if no answer arrived."`
	Problem      *string           `json:"problem" doc:"Reason of the failure: status, redirect, timeout, address, name, lookup, refused, tls or connection. It is null for success."`
	Response     string            `json:"response" doc:"The first KiB of the answer."`
	Unreadable   []attemptPartWord `json:"unreadable,omitempty" doc:"Parts of the attempt whose stored form is damaged, and which are empty here. request means url and your own request_headers. It is omitted for all other attempts."`
}

func attemptOf(at webhooks.Attempt) attemptBody {
	body := attemptBody{
		MessageID: at.Event.String(), EventType: at.Type, Number: at.N, AttemptedAt: api.Time(at.At),
		TookMS: float64(at.Took.Microseconds()) / 1000, URL: at.URL, Headers: at.Headers,
		ResponseCode: at.Code, Problem: api.TextOrNull(string(at.Problem)), Response: at.Answer,
	}
	for _, part := range at.Unreadable {
		body.Unreadable = append(body.Unreadable, attemptPartWord(part))
	}
	return body
}

// MessagePath is the part of an input with the id of a delivery.
type MessagePath struct {
	WebhookPath
	MessageID string `path:"message_id" doc:"Id of the message, such as msg_…."`
}

type deliveryDetailBody struct {
	DeliveryBody
	AttemptLog []attemptBody `json:"attempt_log" doc:"Oldest first."`
}

func (h *Handlers) getDelivery(ctx context.Context, c api.Caller, in *MessagePath) (*api.Out[deliveryDetailBody], error) {
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
	err = h.DB.Read(ctx, func(tx *store.Tx) (err error) {
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
	return api.Answer(body), nil
}

type attemptsIn struct {
	WebhookPath
	State  []string `query:"state,explode" maxItems:"50" enum:"ok,failed"`
	Limit  int      `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string   `query:"next_cursor" doc:"next_cursor of the previous page."`
}

type attemptsBody struct {
	Data       []attemptBody `json:"data"`
	NextCursor *string       `json:"next_cursor" doc:"Cursor of the next page. It is null on the last page. An earlier page may contain fewer than limit items, or none."`
}

func (h *Handlers) listAttempts(ctx context.Context, c api.Caller, in *attemptsIn) (*api.Out[attemptsBody], error) {
	filter := webhooks.AttemptFilter{Limit: in.Limit, OK: slices.Contains(in.State, "ok"), Failed: slices.Contains(in.State, "failed")}
	id, err := in.pageOf(in.Cursor, &filter.Before)
	if err != nil {
		return nil, err
	}
	var all []webhooks.Attempt
	var after webhooks.AttemptPosition
	err = h.DB.Read(ctx, func(tx *store.Tx) (err error) {
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
	return api.Answer(body), nil
}

type replayIn struct {
	WebhookPath
	Body replayInBody
}

type replayInBody struct {
	MessageID string `json:"message_id" required:"false" doc:"Id of one message to send, such as msg_…."`
	From      int64  `json:"from_seq" required:"false" minimum:"1" doc:"First number of the range to send. The range contains all events of the endpoint's types."`
	To        int64  `json:"to_seq" required:"false" minimum:"1" doc:"Number of the last event. The default is the newest event."`
	DryRun    bool   `json:"dry_run" required:"false" doc:"Count the messages and send nothing."`
}

// TransformSchema states that a replay is of one message or of a range.
func (replayInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	none, one, null := 0, 1, &huma.Schema{Type: "null"}
	return api.State(s, map[string]api.Keywords{"": api.StateAny(
		api.Object([]string{"from_seq"}, map[string]*huma.Schema{"message_id": {MaxLength: &none}, "from_seq": {Type: huma.TypeInteger}}),
		api.Object([]string{"message_id"}, map[string]*huma.Schema{"message_id": {Type: huma.TypeString, MinLength: &one}, "from_seq": null, "to_seq": null}),
	)})
}

// replayBody is the extent of a replay.
type replayBody struct {
	Count  int64   `json:"count" doc:"Number of messages."`
	JobID  *string `json:"job_id" format:"uuid" doc:"Job that sends them. It is null for a single message and a dry run."`
	DryRun bool    `json:"dry_run"`
}

func (h *Handlers) replay(ctx context.Context, c api.Caller, in *replayIn) (*api.Out[replayBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	if in.Body.MessageID != "" && in.Body.From+in.Body.To > 0 {
		return nil, fault.New(fault.Invalid, "Value error, either one message or a range").At("body", "message_id")
	}
	if in.Body.MessageID == "" {
		return h.startReplay(ctx, c, webhooks.Replay{Endpoint: id, From: in.Body.From, To: in.Body.To}, in.Body.DryRun)
	}
	message, err := events.Parse(in.Body.MessageID)
	if err != nil {
		return nil, err
	}
	body := replayBody{Count: 1, DryRun: in.Body.DryRun}
	if in.Body.DryRun {
		err := h.DB.Read(ctx, func(tx *store.Tx) error { return webhooks.CheckResend(ctx, tx, c.Team, id, message) })
		if err != nil {
			return nil, err
		}
		return api.Answer(body), nil
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (replayBody, error) {
		return body, webhooks.Resend(ctx, tx, c.Team, id, message)
	})
}

type recoverIn struct {
	WebhookPath
	Body struct {
		Since  api.Time `json:"since" doc:"Time of the first event to send again."`
		DryRun bool     `json:"dry_run" required:"false" doc:"Count the messages and send nothing."`
	}
}

func (h *Handlers) recoverFailed(ctx context.Context, c api.Caller, in *recoverIn) (*api.Out[replayBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	return h.startReplay(ctx, c, webhooks.Recover(id, time.Time(in.Body.Since)), in.Body.DryRun)
}

// startReplay counts before its write transaction, because on SQLite a count of a large
// feed would block all other writes.
func (h *Handlers) startReplay(ctx context.Context, c api.Caller, r webhooks.Replay, dryRun bool) (*api.Out[replayBody], error) {
	body := replayBody{DryRun: dryRun}
	err := h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		body.Count, err = r.Count(ctx, tx, c.Team)
		return err
	})
	if err != nil {
		return nil, err
	}
	if dryRun {
		return api.Answer(body), nil
	}
	return api.Commit(ctx, h.API, func(tx *store.Tx) (replayBody, error) {
		job, err := r.Start(ctx, tx, c.Team)
		text := job.String()
		body.JobID = &text
		return body, err
	})
}

type reconcileIn struct {
	WebhookPath
	From int64 `query:"from" minimum:"1" default:"1" doc:"Number of the first event to account for."`
	To   int64 `query:"to" minimum:"1" doc:"Number of the last event. The default is the newest event. At most 20,000 events are checked."`
}

// reconcileBody is the report about a range of numbers.
type reconcileBody struct {
	From      int64            `json:"from"`
	To        int64            `json:"to" doc:"Last number of the report. It may be less than requested: continue with the next number."`
	Counts    map[string]int64 `json:"counts" doc:"Number of events by state: pending, sent, failed, held, and apart for events that are not for the endpoint."`
	Open      []DeliveryBody   `json:"open" doc:"Messages without a 2xx answer, at most 1000."`
	Truncated bool             `json:"truncated" doc:"Whether more than 1000 messages are open. If so, to is the number of the last one in open."`
	HasMore   bool             `json:"has_more" doc:"Whether the requested range continues after to. If so, ask again with from one greater than to."`
}

func (h *Handlers) reconcile(ctx context.Context, c api.Caller, in *reconcileIn) (*api.Out[reconcileBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	switch {
	case in.To == 0:
		in.To = 1<<63 - 1
	case in.To < in.From:
		return nil, fault.New(fault.Invalid, "Value error, the range ends before it begins").At("query", "to")
	}
	var account webhooks.Account
	err = h.DB.Read(ctx, func(tx *store.Tx) (err error) {
		account, err = webhooks.Reconcile(ctx, tx, c.Team, id, in.From, in.To)
		return err
	})
	if err != nil {
		return nil, err
	}
	body := reconcileBody{From: account.From, To: account.To, Counts: map[string]int64{"apart": account.Apart}, Open: []DeliveryBody{}, Truncated: account.More, HasMore: account.HasMore}
	for state, n := range account.Counts {
		body.Counts[string(state)] = n
	}
	for _, d := range account.Open {
		body.Open = append(body.Open, deliveryOf(d))
	}
	return api.Answer(body), nil
}

type eventTypesBody struct {
	EventTypes []eventTypeBody `json:"event_types"`
}

type eventTypeBody struct {
	EventType string `json:"event_type"`
	Sentence  string `json:"sentence" doc:"Sentence that states when the event is sent."`
	Optional  bool   `json:"optional" doc:"Whether only endpoints that name the type receive it. The feed always has it."`
}

func (h *Handlers) listEventTypes(context.Context, api.Caller, *struct{}) (*api.Out[eventTypesBody], error) {
	body := eventTypesBody{}
	for _, t := range events.CatalogueOf(h.DB).Types() {
		body.EventTypes = append(body.EventTypes, eventTypeBody{t.Name, t.Sentence, t.Optional})
	}
	return api.Answer(body), nil
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

func (h *Handlers) getExample(_ context.Context, c api.Caller, in *exampleIn) (*api.Encoded, error) {
	text, err := events.CatalogueOf(h.DB).Example(c.Team.UUID(), in.EventType, "path", "event_type")
	if err != nil {
		return nil, err
	}
	return api.WriteJSON(text), nil
}

type sendExampleIn struct {
	WebhookPath
	Body sendExampleInBody
}

type sendExampleInBody struct {
	EventType string `json:"event_type"`
}

// TransformSchema states the event types.
func (sendExampleInBody) TransformSchema(_ huma.Registry, s *huma.Schema) *huma.Schema {
	return api.State(s, map[string]api.Keywords{"event_type": eventTypeRef})
}

// trialBody is a posted example and its answer.
type trialBody struct {
	Count        int               `json:"count" doc:"Number of posted messages, which is 1."`
	MessageID    string            `json:"message_id"`
	TookMS       float64           `json:"took_ms"`
	Headers      map[string]string `json:"request_headers"`
	Event        json.RawMessage   `json:"event" doc:"The posted body."`
	ResponseCode *int              `json:"response_code" doc:"Status of the answer. It is null if no answer arrived."`
	Problem      *string           `json:"problem" doc:"Reason of the failure. It is null for success."`
	Response     string            `json:"response" doc:"The first KiB of the answer."`
}

func (h *Handlers) sendExample(ctx context.Context, c api.Caller, in *sendExampleIn) (*api.Out[trialBody], error) {
	id, err := in.id()
	if err != nil {
		return nil, err
	}
	t, err := webhooks.SendExample(ctx, h.DB, h.Webhooks, c.Team, id, in.Body.EventType)
	if err != nil {
		return nil, err
	}
	body := trialBody{
		Count: 1, MessageID: t.ID.String(), TookMS: float64(t.Outcome.Took.Microseconds()) / 1000, Headers: t.Headers,
		Event: t.Body, Problem: api.TextOrNull(string(t.Outcome.Problem)), Response: strings.ToValidUTF8(string(t.Outcome.Answer), "\uFFFD"),
	}
	if t.Outcome.Code != 0 {
		body.ResponseCode = &t.Outcome.Code
	}
	return api.Answer(body), nil
}
