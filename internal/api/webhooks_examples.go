package api

import (
	"context"
	"encoding/json"
	"strings"

	"hale/internal/platform/events"
	"hale/internal/platform/webhooks"
)

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
