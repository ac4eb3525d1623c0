package main

import (
	"strings"
	"sync"

	"codeberg.org/go-pdf/fpdf"
)

// peopleCalls are calls about people. Writes come before the reads that return their
// values. The paths contain these names in braces:
//
//   - {id}: a user
//   - {client}: the caller's own name for the user
//   - {n}: a number
//   - {team}: the team
//   - {webhook}: an endpoint without events
//   - {query}: a continuous query
//   - {sleep}, {workout}: a night and a workout
//   - {now}: the time
//
// The other names are those of kept values.
var peopleCalls = []growthCall{
	get("list users, first page", "/v2/user?limit=100"),
	get("list users, any page", "/v2/user?limit=100&offset={n}"),
	get("get a user", "/v2/user/{id}"),
	get("resolve a client id", "/v2/user/resolve/{client}"),
	get("search users", "/v2/team/users/search?query_id={client}"),
	get("providers of a user", "/v2/user/providers/{id}"),
	get("devices of a user", "/v2/user/{id}/device"),
	get("imports of a user", "/v2/user/{id}/imports"),
	get("resources of all users", "/v2/introspect/resources"),
	get("resources of a user", "/v2/introspect/resources?user_id={id}"),
	get("history of all users", "/v2/introspect/historical_pull"),
	get("heart rate of a day", "/v2/timeseries/{id}/heartrate/grouped?start_date=2025-01-01&end_date=2025-01-01"),
	get("heart rate, merged", "/v2/timeseries/{id}/heartrate/merged?start_date=2025-01-01&end_date=2025-01-01"),
	get("activity of a day", "/v2/summary/activity/{id}?start_date=2025-01-01&end_date=2025-01-01"),
	get("sleep of a day", "/v2/summary/sleep/{id}?start_date=2025-01-01&end_date=2025-01-01"),
	get("events, first page", "/v2/events"),
	get("jobs", "/v2/jobs"),
	get("messages", "/v2/team/outbox"),
	get("webhooks", "/v2/webhooks"),
	get("figures of the team", "/v2/user/metrics"),

	post("create a user", "/v2/user", `{"client_user_id":"new-{n}"}`).keep("newcomer", "user_id"),
	patch("change a user", "/v2/user/{id}", `{"fallback_time_zone":"Europe/Berlin"}`),
	patch("set the information of a user", "/v2/user/{id}/info", `{"first_name":"Ada","last_name":"Example","email":"a@example.org","phone_number":"+14155550132",
		"gender":"female","dob":"1984-12-10","address":{"first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US"}}`),
	get("information of a user", "/v2/user/{id}/info/latest"),
	post("push a sample", "/v2/timeseries/{id}/heartrate", `{"stage":"daily","provider":"apple_health_kit","data":[{"timestamp":"2025-03-01T00:00:00Z","value":6{d},"unit":"bpm"}]}`),
	post("push the profile", "/v2/summary/profile/{id}", summaryPush(`{"height":178}`)),
	post("push a body measurement", "/v2/summary/body/{id}", summaryPush(`{"calendar_date":"2025-01-01","weight":7{d}}`)),
	post("push the activity of a day", "/v2/summary/activity/{id}", summaryPush(`{"calendar_date":"2025-01-01","steps":80{d}0}`)),
	post("push a night", "/v2/summary/sleep/{id}", summaryPush(`{"bedtime_start":"2024-12-31T22:00:00Z","bedtime_stop":"2025-01-01T06:00:00Z","duration":28800}`)),
	post("push a workout", "/v2/summary/workouts/{id}", summaryPush(`{"time_start":"2025-01-01T10:00:00Z","time_end":"2025-01-01T11:00:00Z"}`)),
	post("push a meal", "/v2/summary/meal/{id}", summaryPush(`{"timestamp":"2025-01-01T12:00:00Z","name":"Porridge"}`)),
	post("push a menstrual cycle", "/v2/summary/menstrual_cycle/{id}", summaryPush(`{"period_start":"2025-01-01"}`)),
	post("push the stages of a night", "/v2/summary/sleep_cycle/{id}", summaryPush(`{"session_start":"2024-12-31T22:00:00Z","session_end":"2025-01-01T06:00:00Z"}`)),
	post("push an electrocardiogram", "/v2/summary/electrocardiogram/{id}", summaryPush(`{"session_start":"2025-01-01T10:00:00Z","session_end":"2025-01-01T10:00:30Z"}`)),
	post("push a note", "/v2/timeseries/{id}/note", `{"stage":"daily","provider":"apple_health_kit","data":[{"timestamp":"2025-01-01T12:00:00Z","value":"Slept badly."}]}`),
	post("push for several users", "/v2/timeseries", `{"stage":"daily","provider":"apple_health_kit","users":[{"user_id":"{id}","series":{"glucose":[{"timestamp":"2025-01-01T12:00:00Z","value":5.{d}}]}}]}`),
	post("push several series", "/v2/timeseries/{id}", `{"stage":"daily","provider":"apple_health_kit","series":{
		"heartrate":[{"timestamp":"2025-03-01T12:00:00Z","value":7{d}}],"glucose":[{"timestamp":"2025-03-01T12:00:00Z","value":5.{d}}]}}`),
	post("add entries", "/v2/user/{id}/entries", `{"data":[{"resource":"body_weight","timestamp":"2025-01-01T12:00:00Z","value":7{d}}]}`),
	post("set the insurance of a user", "/v2/user/{id}/insurance", `{"payor_code":"UHC","member_id":"M-{n}","relationship":"Self","insured":{"first_name":"Ada","last_name":"Example","gender":"female","dob":"1984-12-10",
		"email":"a@example.org","phone_number":"+14155550132","address":{"first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US"}}}`),
	get("insurance of a user", "/v2/user/{id}/insurance/latest"),

	get("heart rate, plain", "/v2/timeseries/{id}/heartrate?start_date=2025-01-01&end_date=2025-01-01"),
	get("heart rate, by day", "/v2/timeseries/{id}/heartrate/daily?start_date=2025-01-01&end_date=2025-01-01"),
	get("heart rate, offsets", "/v2/timeseries/{id}/heartrate/offsets?start_date=2025-01-01&end_date=2025-01-01"),
	get("notes", "/v2/timeseries/{id}/note?start_date=2025-01-01&end_date=2025-01-01"),
	get("notes, grouped", "/v2/timeseries/{id}/note/grouped?start_date=2025-01-01&end_date=2025-01-01"),
	get("cholesterol", "/v2/timeseries/{id}/cholesterol/ldl?start_date=2025-01-01&end_date=2025-01-01"),
	get("cholesterol, HDL", "/v2/timeseries/{id}/cholesterol/hdl?start_date=2025-01-01&end_date=2025-01-01"),
	get("cholesterol, total", "/v2/timeseries/{id}/cholesterol/total?start_date=2025-01-01&end_date=2025-01-01"),
	get("cholesterol, triglycerides", "/v2/timeseries/{id}/cholesterol/triglycerides?start_date=2025-01-01&end_date=2025-01-01"),
	get("workouts of a day", "/v2/summary/workouts/{id}?start_date=2025-01-01&end_date=2025-01-01"),
	get("body of a day", "/v2/summary/body/{id}?start_date=2025-01-01&end_date=2025-01-01"),
	get("meal of a day", "/v2/summary/meal/{id}?start_date=2025-01-01&end_date=2025-01-01"),
	get("menstrual cycle of a day", "/v2/summary/menstrual_cycle/{id}?start_date=2025-01-01&end_date=2025-01-01"),
	get("sleep cycle of a day", "/v2/summary/sleep_cycle/{id}?start_date=2025-01-01&end_date=2025-01-01"),
	get("electrocardiogram of a day", "/v2/summary/electrocardiogram/{id}?start_date=2025-01-01&end_date=2025-01-01"),
	get("profile", "/v2/summary/profile/{id}"),
	get("activity of a day, raw", "/v2/summary/activity/{id}/raw?start_date=2025-01-01&end_date=2025-01-01"),
	get("sleep of a day, raw", "/v2/summary/sleep/{id}/raw?start_date=2025-01-01&end_date=2025-01-01"),
	get("workouts of a day, raw", "/v2/summary/workouts/{id}/raw?start_date=2025-01-01&end_date=2025-01-01"),
	get("body of a day, raw", "/v2/summary/body/{id}/raw?start_date=2025-01-01&end_date=2025-01-01"),
	get("profile, raw", "/v2/summary/profile/{id}/raw"),
	get("devices, raw", "/v2/summary/devices/{id}/raw"),
	get("stream of a night", "/v2/timeseries/sleep/{sleep}/stream"),
	get("stream of a workout", "/v2/timeseries/workouts/{workout}/stream"),
	get("export the data of a user", "/v2/user/{id}/data/export"),
	get("shifts of a user", "/v2/user/{id}/data/shifts"),
	get("lab results of a user", "/v2/user/{id}/lab_results"),
	get("lab results of a user, FHIR", "/v2/user/{id}/lab_results/fhir"),
	post("aggregation query", "/aggregate/v1/user/{id}/query", `{"timeframe":{"type":"relative","anchor":"2025-01-02","past":{"unit":"month","value":1}},
		"queries":[`+growthQuery+`]}`),
	get("continuous queries", "/v1/org/{team}/team/{team}/sandbox/continuous_query"),
	get("continuous query", "/v1/org/{team}/team/{team}/sandbox/continuous_query/{query}"),
	get("result of a continuous query", "/aggregate/v1/user/{id}/continuous_query/{query}/result_table"),
	get("runs of a continuous query", "/aggregate/v1/user/{id}/continuous_query/{query}/task_history"),
	post("validate a continuous query", "/v1/org/{team}/team/{team}/sandbox/validate_continuous_query", `{"slug":"beats","title":"Beats","query":`+growthQuery+`}`),
	get("a webhook", "/v2/webhooks/{webhook}"),
	get("deliveries of a webhook", "/v2/webhooks/{webhook}/deliveries"),
	get("attempts of a webhook", "/v2/webhooks/{webhook}/attempts"),
	get("reconcile a webhook", "/v2/webhooks/{webhook}/reconcile"),
	get("webhooks of the team page", "/v1/org/{team}/team/{team}/sandbox/webhook"),
	patch("change a continuous query", "/v1/org/{team}/team/{team}/sandbox/continuous_query/{query}", `{"title":"Beats {n}"}`),
	get("types of events", "/v2/webhooks/event_types"),
	get("example of an event", "/v2/webhooks/examples/daily.data.heartrate.created"),
	get("audit log", "/v2/audit"),
	get("audit log of a user", "/v2/audit?user_id={id}"),
	get("reprocessing runs", "/v2/team/renormalise"),
	get("report uploads", "/lab_report/v1/parser/job"),
	get("team", "/v2/team/{team}"),
	get("settings of the team", "/v2/team/settings"),
	patch("change settings of the team", "/v2/team/settings", `{}`),
	get("priorities of sources", "/v2/team/source/priorities"),
	patch("set priorities of sources", "/v2/team/source/priorities", `[]`),
	get("settings of messages", "/v2/team/message_settings"),
	patch("change settings of messages", "/v2/team/message_settings", `{"practice_name":"Clinic {n}"}`),
	get("providers", "/v2/providers"),
	post("create a device", "/v2/user/{id}/device", `{"provider":"apple_health_kit","device_model":"Model {n}"}`).keep("device", "id"),
	get("device of a user", "/v2/user/{id}/device/{device}"),
	post("sign-in token", "/v2/user/{id}/sign_in_token", "").keep("sign_in", "sign_in_token"),
	post("sign in", "/v2/link/exchange", `{"sign_in_token":"{sign_in}"}`).keep("refresh", "refresh_token"),
	post("refresh the tokens of a phone", "/v2/link/refresh", `{"refresh_token":"{refresh}"}`).keep("refreshed", "refresh_token"),
	post("sign out", "/v2/link/sign_out", `{"refresh_token":"{refreshed}"}`),
	post("link code", "/v2/link/code/create?user_id={id}", ""),
	post("create a portal link", "/v2/user/{id}/create_portal_url", `{"context":"launch"}`),
	get("portal access of a user", "/v2/user/{id}/portal_access"),
	del("end portal access of a user", "/v2/user/{id}/portal_access"),
	del("end the sign-ins of a user", "/v2/user/{id}/sign_in_token"),
	del("count data to delete", "/v2/user/{id}/data?resource=glucose&dry_run=true"),
	del("delete data", "/v2/user/{id}/data?resource=glucose").keep("deletion", "id"),
	get("deletion of data", "/v2/user/{id}/data/deletions/{deletion}"),
	post("shift data", "/v2/user/{id}/data/shifts", `{"resource":"caffeine","provider":"health_connect","start":"2020-03-01","end":"2020-03-01","seconds":3600}`).keep("shift", "id"),
	get("wait for a shift", "/v2/jobs/{shift}").until("status", "succeeded"),
	del("reverse a shift", "/v2/user/{id}/data/shifts/{shift}"),

	post("import a file", "/v2/user/{id}/imports?kind=apple_health", smallExport).as("application/xml").keep("import", "id").times(60),
	get("import of a user", "/v2/user/{id}/imports/{import}"),
	get("a job", "/v2/jobs/{import}"),
	get("wait for an import", "/v2/jobs/{import}").until("status", "succeeded"),
	del("delete the data of an import", "/v2/user/{id}/imports/{import}/data"),
	post("begin an upload", "/v2/user/{id}/uploads", `{"size":1000}`).keep("upload", "id").times(60),
	get("an upload", "/v2/user/{id}/uploads/{upload}"),
	patch("append to an upload", "/v2/user/{id}/uploads/{upload}", "x").as("application/offset+octet-stream").header("Upload-Offset: 0"),
	del("abandon an upload", "/v2/user/{id}/uploads/{upload}"),
	post("reprocess a user", "/v2/team/renormalise", `{"dry_run":true,"user_id":"{id}"}`).keep("run", "id"),
	get("a reprocessing run", "/v2/team/renormalise/{run}"),
	post("upload a report", "/lab_report/v1/parser/job", reportForm()).as("multipart/form-data; boundary=part").keep("report", "id").times(30),
	get("a report", "/lab_report/v1/parser/job/{report}"),
	get("wait for a report", "/lab_report/v1/parser/job/{report}").until("status", "pending_review"),
	get("page of a report", "/lab_report/v1/parser/job/{report}/page/1"),
	get("review of a report", "/lab_report/v1/parser/job/{report}/review"),
	post("accept a report", "/lab_report/v1/parser/job/{report}/review", `{"decision":"accept","reviewer":"Jo","confirm_identity":true}`),

	post("listen", "/v2/webhooks", `{"url":"http://127.0.0.1:9/hook","filter_types":["provider.connection.created"]}`).keep("listener", "id").once(),
	post("connect a phone", "/v2/link/provider/manual/health_connect", `{"user_id":"{newcomer}"}`),
	get("wait for deliveries", "/v2/webhooks/{listener}/deliveries").until("data.9.message_id", "").keep("message", "data.*.message_id").once(),
	get("a delivery", "/v2/webhooks/{listener}/deliveries/{message}"),
	del("disconnect a provider", "/v2/user/{newcomer}/health_connect"),
	del("listen no longer", "/v2/webhooks/{listener}").once(),
	get("last event", "/v2/events?limit=1").keep("last", "last").once(),

	post("create a webhook", "/v2/webhooks", `{"url":"http://127.0.0.1:9/hook","filter_types":["labtest.result.critical"]}`).keep("hook", "id").times(24),
	patch("change a webhook", "/v2/webhooks/{hook}", `{"description":"Hook {n}"}`),
	put("set headers of a webhook", "/v2/webhooks/{hook}/headers", `{"headers":{"x-clinic":"{n}"}}`),
	get("headers of a webhook", "/v2/webhooks/{hook}/headers"),
	get("secret of a webhook", "/v2/webhooks/{hook}/secret"),
	post("rotate a secret", "/v2/webhooks/{hook}/secret/rotate", `{}`),
	post("send an example", "/v2/webhooks/{hook}/example", `{"event_type":"daily.data.heartrate.created"}`),
	post("replay events", "/v2/webhooks/{hook}/replay", `{"from_seq":{last}}`),
	post("recover failed deliveries", "/v2/webhooks/{hook}/recover", `{"since":"{now}"}`),
	del("delete a webhook", "/v2/webhooks/{hook}"),
	post("create a webhook, team page", "/v1/org/{team}/team/{team}/sandbox/webhook", `{"url":"http://127.0.0.1:9/hook","filter_types":["labtest.result.critical"]}`).keep("page_hook", "id").times(24),
	get("webhook, team page", "/v1/org/{team}/team/{team}/sandbox/webhook/{page_hook}"),
	patch("change a webhook, team page", "/v1/org/{team}/team/{team}/sandbox/webhook/{page_hook}", `{"description":"Hook {n}"}`),
	put("set headers of a webhook, team page", "/v1/org/{team}/team/{team}/sandbox/webhook/{page_hook}/headers", `{"headers":{"x-clinic":"{n}"}}`),
	get("headers of a webhook, team page", "/v1/org/{team}/team/{team}/sandbox/webhook/{page_hook}/headers"),
	get("secret of a webhook, team page", "/v1/org/{team}/team/{team}/sandbox/webhook/{page_hook}/secret"),
	post("rotate a secret, team page", "/v1/org/{team}/team/{team}/sandbox/webhook/{page_hook}/secret/rotate", `{}`),
	del("delete a webhook, team page", "/v1/org/{team}/team/{team}/sandbox/webhook/{page_hook}"),

	post("refresh a user", "/v2/user/refresh/{id}", ""),
	del("delete a user", "/v2/user/{id}").keep("deleted", "{id}"),
	post("restore a user", "/v2/user/undo_delete?user_id={deleted}", `{}`),
	post("connect a demo", "/v2/link/connect/demo", `{"provider":"oura","user_id":"{newcomer}"}`).times(30),
}

// growthQuery is an aggregation query.
const growthQuery = `{"select":[{"group_key":"*"},{"func":"max","arg":{"timeseries":"heartrate","field":"value"}}],
	"group_by":[{"date_trunc":{"unit":"day"},"arg":{"index":"timeseries"}}]}`

// summaryPush returns the body that pushes one summary.
func summaryPush(summary string) string {
	return `{"stage":"daily","provider":"apple_health_kit","data":[` + summary + `]}`
}

// smallExport is an Apple Health export without records.
const smallExport = `<?xml version="1.0"?><HealthData locale="en_US"><ExportDate value="2026-03-01 12:00:00 +0000"/></HealthData>`

// reportForm uploads a lab report of one page that waits for a review.
var reportForm = sync.OnceValue(func() string {
	pdf := fpdf.New("P", "pt", "Letter", "")
	pdf.AddPage()
	pdf.SetFont("Helvetica", "", 11)
	for i, line := range []string{
		"Example Laboratory", "Patient: Ada Example", "DOB: 12/10/1984", "Collected: 03/04/2026",
		"Test            Result   Flag   Units    Reference Range", "Glucose         90              mg/dL    70-99", "Potassium       4.1             mmol/L   3.5-5.1",
	} {
		pdf.Text(60, 80+float64(i)*18, line)
	}
	var file strings.Builder
	if err := pdf.Output(&file); err != nil {
		panic(err) // a fixed document
	}
	part := func(head, body string) string {
		return "--part\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + body + "\r\n"
	}
	return part(`name="user_id"`, "{id}") + part(`name="needs_human_review"`, "true") +
		part("name=\"file\"; filename=\"report.pdf\"\r\nContent-Type: application/pdf", file.String()) + "--part--\r\n"
})
