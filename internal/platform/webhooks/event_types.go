package webhooks

import "hale/internal/platform/events"

// The types of events about a team's own deliveries.
const (
	AttemptExhausted = "message.attempt.exhausted"
	EndpointDisabled = "webhook.endpoint.disabled"
)

// EventTypes returns the types of events that this package emits.
func EventTypes() []events.Type {
	return []events.Type{
		{
			Name: AttemptExhausted, Sentence: "The last attempt to deliver a message to an endpoint failed.",
			Example: events.ExampleOf(`"message_id":"msg_01J000000000000000000000A0","event_type":"daily.data.steps.created",` +
				`"endpoint_id":"ep_01J000000000000000000000A0","attempts":8,"last_attempt":{"at":"2026-03-02T11:36:00+00:00","status_code":503,"problem":"status"}`),
		},
		{
			Name: EndpointDisabled, Sentence: "A webhook endpoint was switched off because it kept failing.",
			Example: events.ExampleOf(`"endpoint_id":"ep_01J000000000000000000000A0","reason":"no success for 5 days"`),
		},
	}
}
