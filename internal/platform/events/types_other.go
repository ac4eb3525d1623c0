package events

import (
	"encoding/json"

	"github.com/google/uuid"
)

// The two types that this service adds about its own deliveries.
const (
	AttemptExhausted = "message.attempt.exhausted"
	EndpointDisabled = "webhook.endpoint.disabled"
)

const (
	device = `"id":"00000000-0000-4000-8000-000000000004","provider":"apple_health_kit","source_type":"watch","device_id":"watch-1","device_manufacturer":"Example","device_model":"Watch","device_version":"10.1"`

	order = `"id":"00000000-0000-4000-8000-000000000005","team_id":"00000000-0000-4000-8000-000000000006","status":"received.walk_in_test.ordered","status_detail":null,` +
		`"created_at":"2026-03-01T08:00:00+00:00","updated_at":"2026-03-01T08:00:00+00:00",` +
		`"events":[{"id":1,"created_at":"2026-03-01T08:00:00+00:00","status":"received.walk_in_test.ordered","status_detail":null}]`

	appointment = `"id":"00000000-0000-4000-8000-000000000007","order_id":"00000000-0000-4000-8000-000000000005","type":"patient_service_center",` +
		`"status":"confirmed","event_status":"scheduled","start_at":"2026-03-04T09:00:00+00:00","end_at":"2026-03-04T09:15:00+00:00","iana_timezone":"America/New_York"`

	parsingJob = `"id":"00000000-0000-4000-8000-000000000008","job_id":"00000000-0000-4000-8000-000000000008","team_id":"00000000-0000-4000-8000-000000000006","needs_human_review":false,"is_reviewed":false,"failure_reason":null,"data":null`
)

// others are the types outside the data families. Reference 8.1.
var others = []Type{
	{"provider.connection.created", "A user connected a provider.", about(`"provider":{"name":"Apple HealthKit","slug":"apple_health_kit","logo":null},"external_user_id":null,"resource_availability":{}`)},
	{
		"provider.connection.error", "A connection stopped working and needs the user or the team. Not sent yet: data is sent to us or imported, and nothing is fetched from providers.",
		about(`"provider":"fitbit","error_type":"token_refresh_failed","message":"The provider refused to renew access.","error_details":""`),
	},
	{"provider.device.created", "A device was seen for the first time.", about(device)},
	{"provider.device.updated", "What is known of a device changed.", about(device)},
	{"labtest.order.created", "A lab order was placed.", about(order)},
	{"labtest.order.updated", "A lab order moved on.", about(order)},
	{"labtest.appointment.created", "An appointment was made.", about(appointment)},
	{"labtest.appointment.updated", "An appointment changed.", about(appointment)},
	{"labtest.result.critical", "A result is critical and needs attention now.", about(`"order_id":"00000000-0000-4000-8000-000000000005","sample_id":"S-1",` +
		`"status":"final","interpretation":"critical","team_id":"00000000-0000-4000-8000-000000000006","created_at":"2026-03-05T08:00:00+00:00","updated_at":"2026-03-05T08:00:00+00:00"`)},
	{"lab_report.parsing_job.created", "A lab report was handed in for parsing. Not sent yet: no reports are parsed.", about(parsingJob + `,"status":"started"`)},
	{"lab_report.parsing_job.updated", "A parsing job is completed, failed or waits for a review. Not sent yet: no reports are parsed.", about(parsingJob + `,"status":"completed"`)},
	{"continuous_query.result_table.changed", "Rows of a continuous query's result changed.", func(uuid.UUID) json.RawMessage {
		return json.RawMessage(`[{"query_id":"00000000-0000-4000-8000-00000000000a","query_slug":"weekly-steps","data":{"group_key":[0],"sum":[8214]}}]`)
	}},
	{AttemptExhausted, "The last attempt to deliver a message to an endpoint failed.", about(`"message_id":"msg_01J000000000000000000000A0","event_type":"daily.data.steps.created",` +
		`"endpoint_id":"ep_01J000000000000000000000A0","attempts":8,"last_attempt":{"at":"2026-03-02T11:36:00+00:00","status_code":503,"problem":"status"}`)},
	{EndpointDisabled, "A webhook endpoint was switched off because it kept failing.", about(`"endpoint_id":"ep_01J000000000000000000000A0","reason":"no success for 5 days"`)},
}
