package apitest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/platform/store/storetest"
	"hale/internal/testdata"
)

// call is one request as a client library of the reference sends it, and the values to
// save from its answer. $names stand for saved values.
type call struct {
	line string // method, path and query
	body string
	keep string // name=place.in.0.answer, separated by spaces
	// until is a place of the answer and its expected value. The call is repeated until
	// the answer has it.
	until  string
	status int // 0 means 200
}

// library is a client of a running service that sends the reference's key header.
type library struct {
	*service
	header string
	values map[string]string
}

// All requests that a program sends with a client library of the reference work in the
// library's form. This includes its key header, paths with and without a final slash,
// lists as repeated parameters, its form of instants, and null for absent values. send
// checks each answer against the contract. The test also checks that each changing
// operation of the contract has succeeded once.
func TestCallsOfClientLibraries(t *testing.T) {
	data, management := readContract(t)
	header := contractKeyHeader(t)
	s := start(t, storetest.NewSQLite(t), func(o *app.Options) {
		o.Networks = nil // with its default lab, the sandbox advances orders
		o.Config.APIKeyHeaders = []string{"x-service-api-key", header}
	})
	l := &library{s, header, map[string]string{
		"user_name": newUserName(), "demo_name": newUserName(), "soon": time.Now().Add(time.Hour).UTC().Format("2006-01-02T15:04:05.000Z"),
		"tomorrow": time.Now().AddDate(0, 0, 2).Format(time.DateOnly), "later": time.Now().AddDate(0, 0, 9).Format(time.DateOnly),
		"address": orderAddress, "patient": orderPatient, "tuesday": nextTuesday().Format(time.DateOnly),
	}}
	for _, area := range libraryCalls {
		t.Run(area.name, func(t *testing.T) {
			for _, c := range area.calls {
				l.call(t, c)
			}
		})
	}
	for _, c := range []*contract{data, management} {
		for _, o := range c.operations {
			_, served := s.doc.serving(o)
			if served && o.Method != http.MethodGet && !s.promises.succeeded(o) {
				t.Errorf("%v: no call has succeeded", o)
			}
		}
	}
}

// contractKeyHeader returns the header in which the reference's libraries send keys.
func contractKeyHeader(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(testdata.Shared(t, contractPath))
	if err != nil {
		t.Fatal(err)
	}
	var raw struct {
		Security struct{ APIKeyAuth struct{ Name string } }
	}
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	return raw.Security.APIKeyAuth.Name
}

// nextTuesday returns the first Tuesday after tomorrow. The sandbox's service centers
// are open on that day and the three days after it.
func nextTuesday() time.Time {
	day := time.Now().AddDate(0, 0, 2)
	for day.Weekday() != time.Tuesday {
		day = day.AddDate(0, 0, 1)
	}
	return day
}

func (l *library) call(t *testing.T, c call) {
	t.Helper()
	method, path, _ := strings.Cut(l.fill(c.line), " ")
	path, headers, _ := strings.Cut(path, " ")
	r := request{method: method, path: path, headers: map[string]string{l.header: l.Key, "accept": "*/*"}}
	if name, value, ok := strings.Cut(headers, "="); ok {
		r.headers[name] = value
	}
	if c.body != "" {
		r.body = []byte(l.fill(c.body))
		if r.headers["content-type"] == "" {
			r.headers["content-type"] = "application/json"
		}
	}
	want := max(c.status, http.StatusOK)
	var got answer
	done := func() bool {
		got = l.send(t, r, "")
		if got.status != want {
			t.Fatalf("%v\nwas answered %d: %.700s", r, got.status, got.body)
		}
		if c.until == "" {
			return true
		}
		where, word, _ := strings.Cut(c.until, "=")
		return valueAt(t, got.body, where) == word
	}
	waitUntil(t, r.String()+" until "+c.until, done)
	for _, one := range strings.Fields(c.keep) {
		name, where, _ := strings.Cut(one, "=")
		if l.values[name] = valueAt(t, got.body, where); l.values[name] == "" {
			t.Fatalf("%v\nanswers nothing at %s: %.700s", r, where, got.body)
		}
	}
}

func (l *library) fill(text string) string {
	return os.Expand(text, func(name string) string {
		value, ok := l.values[name]
		if !ok {
			panic("nothing was kept as " + name)
		}
		return value
	})
}

// valueAt returns the value at a place of an answer, such as data.0.id, or "" if it is
// absent.
func valueAt(t *testing.T, body []byte, where string) string {
	t.Helper()
	value, err := decode(body)
	if err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(where, ".") {
		switch v := value.(type) {
		case map[string]any:
			value = v[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(v) {
				return ""
			}
			value = v[i]
		default:
			return ""
		}
	}
	if value == nil {
		return ""
	}
	return fmt.Sprint(value)
}

// libraryCalls are the requests of programs that use client libraries, in order.
var libraryCalls = []struct {
	name  string
	calls []call
}{
	{"people", []call{
		{line: "POST /v2/user/", body: `{"client_user_id":"$user_name","fallback_time_zone":"Europe/Berlin","fallback_birth_date":null,"ingestion_start":null,"ingestion_end":null}`, keep: "user=user_id team=team_id"},
		{line: "POST /v2/user", body: `{"client_user_id":"$user_name"}`, status: 400, keep: "held_by=detail.user_id held_since=detail.created_on"},
		{line: "GET /v2/user/?offset=0&limit=10", keep: "first=users.0.user_id"},
		{line: "GET /v2/user?limit=100&offset=0", keep: "total=total"},
		{line: "GET /v2/user/$user"},
		{line: "GET /v2/user/resolve/$user_name"},
		{line: "PATCH /v2/user/$user", body: `{"fallback_time_zone":"Europe/Paris","fallback_birth_date":"1984-05-17","ingestion_end":null}`},
		{line: "PATCH /v2/user/$user/info", body: `{` + somePerson + `,"medical_proxy":null,"race":"asian","ethnicity":null,"sexual_orientation":"dont_know","gender_identity":null}`},
		{line: "PATCH /v2/user/$user/info", body: `{"first_name":"Given","last_name":"Family",` + someContact + `,"address":{"first_line":"1 Example Street","second_line":"","city":"Phoenix","state":"AZ","zip_code":"85004"}}`},
		{line: "GET /v2/user/$user/info/latest"},
		{line: "POST /v2/user/$user/insurance", body: someInsurance},
		{line: "GET /v2/user/$user/insurance/latest?is_primary=true"},
		{line: "GET /v2/user/$user/insurance/latest?is_primary=True"},
		{line: "POST /v2/user/$user/sign_in_token"},
		{line: "POST /v2/user/$user/create_portal_url", body: `{"context":"launch","order_id":null}`},
		{line: "POST /v2/link/code/create?user_id=$user&expires_at=$soon"},
		{line: "POST /v2/user/refresh/$user?timeout=10.0", status: 400},
		{line: "GET /v2/user/providers/$user"},
		{line: "GET /v2/user/metrics"},
		{line: "GET /v2/providers/"},
		{line: "GET /v2/providers?source_type=oauth"},
		{line: "GET /v2/team/$team"},
		{line: "GET /v2/team/$team/physicians"},
		{line: "GET /v2/team/users/search?query_id=$user_name"},
		{line: "PATCH /v2/team/source/priorities", body: `[{"data_type":"sleep","provider":"oura","priority":2}]`},
		{line: "GET /v2/team/source/priorities?data_type=sleep"},
	}},
	{"a person of invented data", []call{
		{line: "POST /v2/user/", body: `{"client_user_id":"$demo_name"}`, keep: "demo=user_id"},
		{line: "POST /v2/link/connect/demo", body: `{"user_id":"$demo","provider":"fitbit"}`},
		{line: "POST /v2/user/refresh/$demo?timeout=10.0"},
		{line: "GET /v2/summary/sleep/$demo?start_date=2026-01-01"},
		{line: "GET /v2/summary/sleep/$demo/?start_date=2026-01-01T00:00:00.000Z&end_date=2026-12-31T00:00:00%2B00:00&provider=fitbit"},
		{line: "GET /v2/summary/activity/$demo?start_date=2026-01-01&end_date=2026-12-31"},
		{line: "GET /v2/timeseries/$demo/heartrate/grouped?start_date=2026-01-01&end_date=2026-12-31T23:59:59Z"},
		{line: "GET /v2/timeseries/$demo/heartrate?start_date=2026-01-01"},
		{line: "POST /aggregate/v1/user/$demo/query", body: `{"timeframe":{"type":"relative","anchor":"2026-03-01","past":{"value":1,"unit":"month"}},"queries":[
			{"select":[{"func":"count","arg":{"sleep":"id"}}],"group_by":null,"where":null}],"config":null}`},
		{line: "DELETE /v2/user/$demo/fitbit"},
		{line: "DELETE /v2/user/$demo"},
		{line: "GET /v2/user/$demo", status: 404},
		{line: "POST /v2/user/undo_delete?user_id=$demo"},
		{line: "DELETE /v2/user/$demo/"},
		{line: "POST /v2/user/undo_delete/?client_user_id=$demo_name"},
		{line: "GET /v2/introspect/resources?user_id=$demo&user_limit=10"},
		{line: "GET /v2/introspect/historical_pull?user_limit=10"},
	}},
	{"what labs offer", []call{
		{line: "GET /v3/lab_tests/labs"},
		{line: "GET /v3/lab_tests/markers?lab_id=2&lab_id=3&page=1&size=2&a_la_carte_enabled=true&include_pricing=false", keep: "marker=markers.0.id other_marker=markers.1.id"},
		{line: "GET /v3/lab_tests/2/markers/70002"},
		{line: "POST /v3/lab_tests", body: `{"name":"Panel","description":"","method":"walk_in_test","provider_ids":["70002"],"marker_ids":null,"fasting":null,"lab_account_id":null,"lab_slug":"quest"}`, keep: "lab_test=id"},
		{line: "PATCH /v3/lab_tests/$lab_test", body: `{"active":true,"name":null}`},
		{line: "GET /v3/lab_tests/$lab_test/"},
		{line: "GET /v3/lab_tests/$lab_test/markers?page=1&size=10"},
		{line: "GET /v3/lab_tests"},
		{line: "GET /v3/lab_tests?generation_method=manual&collection_method=walk_in_test&status=active&provider_ids=70002&name=panel&order_key=created_at&order_direction=asc"},
		{line: "GET /v3/lab_test?lab_test_limit=1", keep: "next=next_cursor"},
		{line: "GET /v3/lab_test?lab_test_limit=1&next_cursor=$next&include_pricing=true"},
		{line: "GET /v3/lab_test?marker_ids=$marker&marker_ids=$other_marker"},
		{line: "GET /v3/lab_test/lab_account"},
		{line: "POST /v3/lab_tests/list_order_set_markers?page=1&size=50", body: `{"lab_test_ids":["$lab_test"],"add_on":{"provider_ids":["70002"],"marker_ids":null},"lab_account_id":null}`},
		{line: "POST /v3/compendium/search", body: `{"mode":"crosswalk","query":"lipid panel","cpt_codes":null,"loinc_set_hash":null,"labs":null,"include_related":true,"limit":3}`, status: 200},
		{line: "POST /v3/compendium/convert", body: `{"lab_test_id":"$lab_test","provider_ids":null,"target_lab":"labcorp","limit":null}`},
		{line: "POST /v3/compendium/search_orderable_tests", body: `{"provider_ids":["70002"],"target_lab":"labcorp","per_provider_limit":1}`},
		{line: "GET /v3/order/area/info?zip_code=85004&radius=25&labs=quest&labs=labcorp"},
		{line: "GET /v3/order/psc/info?zip_code=85004&lab_id=2&radius=50&capabilities=stat&capabilities=appointment_scheduling_with_lab"},
		{line: "GET /v3/insurance/search/payor?insurance_name=aetna"},
		{line: "POST /v3/insurance/search/payor", body: `{"insurance_name":"aetna","provider":null,"provider_id":null}`},
		{line: "GET /v3/insurance/search/diagnosis?diagnosis_query=diabetes"},
		{line: "POST /v3/insurance/validate_icd_codes", body: `{"codes":["E11.9","nonsense"]}`},
		{line: "POST /v3/payor", body: `{"name":"Example Mutual","provider":null,"provider_payor_id":null,` + someAddress + `}`},
	}},
	{"orders", []call{
		{line: "POST /v3/order x-idempotency-key=one", body: `{"user_id":"$user","lab_test_id":"$lab_test","order_set":null,"collection_method":null,"physician":null,"health_insurance":null,"priority":false,
			"billing_type":"client_bill","icd_codes":null,"consents":null,"activate_by":null,"aoe_answers":null,"passthrough":"yours","clinical_notes":null,"lab_account_id":null,"creator_member_id":null,
			"patient_details":$patient,"patient_address":$address}`, keep: "order=order.id transaction=order.order_transaction.id"},
		{line: "POST /v3/order/ x-idempotency-error=no-cache", body: `{"user_id":"$user","order_set":{"lab_test_ids":["$lab_test"]},"activate_by":"$tomorrow",
			"consents":[{"consentType":"terms-of-use","version":"1.0","timeOfConsent":"2026-03-01T12:00:00.000Z"}],"patient_details":$patient,"patient_address":$address}`, keep: "planned=order.id"},
		{line: "PATCH /v3/order/$planned", body: `{"activate_by":"$later"}`},
		{line: "GET /v3/orders?order_activation_types=scheduled&order_activation_types=current", keep: "two=orders.1.id"},
		{line: "GET /v3/orders/?status=ordered&status=completed&order_type=walk_in_test&order_type=testkit&order_ids=$order&order_ids=$planned" +
			"&start_date=2026-01-01T00:00:00.000Z&end_date=2036-01-01&order_key=created_at&order_direction=asc&page=1&size=50&is_critical=false"},
		{line: "GET /v3/orders?user_id=$user&patient_name=Given&updated_start_date=2026-01-01T00:00:00%2B00:00&order_transaction_id=$transaction&search_input=$order", keep: "found=orders.0.id"},
		{line: "GET /v3/order/$order/communication_settings"},
		{line: "PATCH /v3/order/$order/communication_settings", body: `{"sms_enabled":false}`},
		{line: "POST /v3/order/resend_events", body: `{"order_ids":["$order"],"start_at":null,"end_at":null}`},
		{line: "POST /v3/order/$planned/cancel"},
		{line: "POST /v3/order/$order/test?final_status=completed.walk_in_test.completed&delay=0", body: `{"interpretation":"critical","result_types":null,"has_missing_results":null}`},
		{line: "GET /v3/order/$order", until: "status=completed"},
		{line: "GET /v3/order/$order/result"},
		{line: "GET /v3/order/$order/result/metadata"},
		{line: "GET /v3/order/$order/result/pdf"},
		{line: "GET /v3/order_transaction/$transaction"},
		{line: "GET /v3/order_transaction/$transaction/result"},
		{line: "POST /v3/order/import", body: `{"user_id":"$user","billing_type":"client_bill","order_set":{"lab_test_ids":null,"add_on":{"marker_ids":null,"provider_ids":["70002"]},"lab_account_id":null},"collection_method":"walk_in_test",
			"physician":null,"patient_details":$patient,"patient_address":$address,"sample_id":"IMPORTED-1","lab_account_id":null}`},
		{line: "GET /v3/lab_test?collection_method=testkit&status=active", keep: "kit_test=data.0.id"},
		{line: "POST /v3/order/testkit", body: `{"user_id":"$user","lab_test_id":"$kit_test","shipping_details":$address,"passthrough":null,"lab_account_id":null}`, keep: "kit=order.sample_id"},
		{line: "POST /v3/order/testkit/register", body: `{"user_id":null,"sample_id":"$kit","patient_details":$patient,"patient_address":$address,"physician":null,
			"health_insurance":{"diagnosis_codes":["E11.9"],"payor_code":null},"consents":[]}`, keep: "diagnosis=order.icd_codes.0"},
		{line: "GET /v3/lab_test?collection_method=on_site_collection&status=active", keep: "site_test=data.0.id"},
		{line: "POST /v3/order", body: `{"user_id":"$user","lab_test_id":"$site_test","patient_details":$patient,"patient_address":$address}`, keep: "site_order=order.id"},
		{line: "POST /v3/order/$site_order/test?final_status=received.on_site_collection.requisition_created"},
		{line: "GET /v3/order/$site_order", until: "last_event.status=received.on_site_collection.requisition_created"},
		{line: "PATCH /v3/order/$site_order/draw_completed"},
	}},
	{"visits", []call{
		{line: "GET /v3/lab_test?collection_method=at_home_phlebotomy&status=active", keep: "home_test=data.0.id"},
		{line: "POST /v3/order", body: `{"user_id":"$user","lab_test_id":"$home_test","patient_details":$patient,"patient_address":$address}`, keep: "visit=order.id"},
		{line: "POST /v3/order/$visit/test?final_status=received.at_home_phlebotomy.requisition_created"},
		{line: "GET /v3/order/$visit", until: "last_event.status=received.at_home_phlebotomy.requisition_created"},
		{
			line: "POST /v3/order/phlebotomy/appointment/availability?start_date=$tomorrow", body: `{"first_line":"1 Example Street","second_line":null,"city":"Phoenix","state":"AZ","zip_code":"85004","unit":null,"access_notes":null}`,
			keep: "key=slots.3.slots.1.booking_key next_key=slots.4.slots.1.booking_key",
		},
		{line: "POST /v3/order/$visit/phlebotomy/appointment/book", body: `{"booking_key":"$key","appointment_notes":null,"async_confirmation":false,"sync_confirmation_timeout_millisecond":null,"async_confirmation_timeout_millisecond":null}`},
		{line: "GET /v3/order/$visit/phlebotomy/appointment"},
		{line: "PATCH /v3/order/$visit/phlebotomy/appointment/reschedule", body: `{"booking_key":"$next_key","appointment_notes":"Ring twice"}`},
		{line: "GET /v3/order/phlebotomy/appointment/cancellation-reasons", keep: "reason=0.id"},
		{line: "PATCH /v3/order/$visit/phlebotomy/appointment/cancel", body: `{"cancellation_reason_id":"$reason","notes":null}`},
		{line: "POST /v3/order/$visit/phlebotomy/appointment/request", body: `{"address":{"first_line":"1 Farm Road","city":"Onalaska","state":"WI","zip_code":"54650"},"provider":"phlebfinders","appointment_notes":null}`},
	}},
	{"reports", []call{
		{line: "POST /lab_report/v1/parser/job content-type=multipart/form-data;boundary=" + formBoundary, body: reportForm("$user", "of a library"), keep: "report=id"},
		{line: "GET /lab_report/v1/parser/job/$report"},
	}},
	{"centers", []call{
		{line: "POST /v3/order", body: `{"user_id":"$user","lab_test_id":"$lab_test","patient_details":$patient,"patient_address":$address}`, keep: "drop_in=order.id"},
		{line: "POST /v3/order/$drop_in/test?final_status=received.walk_in_test.requisition_created"},
		{line: "GET /v3/order/$drop_in", until: "last_event.status=received.walk_in_test.requisition_created"},
		{line: "GET /v3/order/$drop_in/psc/info?radius=50"},
		{line: "POST /v3/order/psc/appointment/availability?lab=quest&zip_code=85004&radius=50&start_date=$tuesday&allow_stale=false", keep: "key=slots.3.slots.0.booking_key site=slots.0.location.code"},
		{line: "POST /v3/order/psc/appointment/availability?lab=quest&site_codes=$site&site_codes=$site&start_date=$tuesday", keep: "key=slots.3.slots.0.booking_key next_key=slots.3.slots.1.booking_key"},
		{line: "POST /v3/order/$drop_in/psc/appointment/book x-idempotency-key=visit", body: `{"booking_key":"$key"}`},
		{line: "PATCH /v3/order/$drop_in/psc/appointment/reschedule", body: `{"booking_key":"$next_key","appointment_notes":null}`},
		{line: "GET /v3/order/$drop_in/psc/appointment/"},
		{line: "GET /v3/order/psc/appointment/cancellation-reasons", keep: "reason=0.id"},
		{line: "PATCH /v3/order/$drop_in/psc/appointment/cancel", body: `{"cancellationReasonId":"$reason","note":null}`},
		{line: "POST /v3/order/psc/appointment/availability?lab=quest&site_codes=nowhere", status: 400},
	}},
	{"results that fit no order", []call{
		{line: "GET /v3/unmatched_result_test/case"},
		{line: "POST /v3/unmatched_result_test x-idempotency-key=run-1", body: `{"case":"match_demo","order_source":"managed","orders":null,
			"result_status":"final","interpretation":"normal","lab_test_id":null,"wrong_lab_test_id":null}`, status: 202, keep: "run=run_id"},
		{line: "GET /v3/unmatched_result_test/$run", until: "status=succeeded", keep: "result=raw_result_id"},
		{line: "GET /v3/unmatched_result/$result"},
		{line: "POST /v3/unmatched_result/$result/accept", body: `{"user_id":null,"order_id":null,"note":null}`},
		{line: "POST /v3/unmatched_result_test x-idempotency-key=run-2", body: `{"case":"no_match","order_source":"managed"}`, status: 202, keep: "run=run_id"},
		{line: "GET /v3/unmatched_result_test/$run", until: "status=succeeded", keep: "result=raw_result_id"},
		{line: "POST /v3/unmatched_result/$result/resolve", body: `{"action":"reject","note":null}`},
		{line: "GET /v3/unmatched_result?limit=10&status=resolved"},
		{line: "GET /v3/unmatched_result?created_at_start=2026-01-01&created_at_end=2036-01-01&lab_slug=quest"},
	}},
	{"continuous queries", []call{
		{line: "POST /v1/org/$team/team/$team/sandbox/validate_continuous_query", body: libraryQuery},
		{line: "POST /v1/org/$team/team/$team/sandbox/continuous_query", body: libraryQuery, keep: "query=id"},
		{line: "PATCH /v1/org/$team/team/$team/sandbox/continuous_query/$query", body: `{"title":"Nights","scheduling_preferences":null}`},
		{line: "GET /v1/org/$team/team/$team/sandbox/continuous_query"},
		{line: "GET /aggregate/v1/user/$user/continuous_query/sleeps/task_history?limit=5"},
		{line: "GET /aggregate/v1/user/$user/continuous_query/$query/result_table"},
		{line: "DELETE /v1/org/$team/team/$team/sandbox/continuous_query/$query"},
	}},
	{"webhooks", []call{
		{line: "POST /v1/org/$team/team/$team/sandbox/webhook", body: `{"description":"","rate_limit":null,"url":"http://127.0.0.1:9/hook","disabled":false,"filter_types":null,"secret":null}`, keep: "webhook=id"},
		{line: "GET /v1/org/$team/team/$team/sandbox/webhook?limit=50"},
		{line: "GET /v1/org/$team/team/$team/sandbox/webhook/$webhook"},
		{line: "PATCH /v1/org/$team/team/$team/sandbox/webhook/$webhook", body: `{"description":null,"rate_limit":null,"url":null,"disabled":true,"filter_types":["daily.data.sleep.created"]}`},
		{line: "PUT /v1/org/$team/team/$team/sandbox/webhook/$webhook/headers", body: `{"headers":{"x-mine":"1"}}`, status: 204},
		{line: "POST /v1/org/$team/team/$team/sandbox/webhook/$webhook/secret/rotate", body: `{"key":null}`, status: 204},
		{line: "DELETE /v1/org/$team/team/$team/sandbox/webhook/$webhook", status: 204},
	}},
}

// libraryQuery is a query with all fields that a library adds.
const libraryQuery = `{"slug":"sleeps","title":"Sleeps","query":{"select":[{"group_key":"*"},{"func":"count","arg":{"sleep":"id"}}],
	"group_by":[{"date_trunc":{"value":1,"unit":"day"},"arg":{"index":"sleep"}}],"where":null},
	"query_config":{"provider_priority_overrides":null},"scheduling_preferences":{"minimum_gap_duration_second":3600},"export_preferences":null}`
