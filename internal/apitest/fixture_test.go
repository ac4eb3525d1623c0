package apitest

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"hale/internal/people/users"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/connections"
)

// fixture has the ids of one record of every kind, by the names of parameters and body
// fields.
type fixture struct {
	ids map[string]string
}

// notIdentities are names of parameters and fields whose values do not belong to a
// team, with the reason. The fixture must have a value for every other path parameter
// and for every other field that looks like an id. So a new kind of id is always
// tested.
var notIdentities = map[string]string{
	"provider": "a fixed word", "resource": "a fixed word", "environment": "a fixed word",
	"type": "a fixed word", "event_type": "a fixed word", "kind": "a fixed word",
	"lab_id": "in the catalogue of all teams", "provider_id": "a lab's or a maker's own code", "marker_id": "in the catalogue of all teams",
	"question_id":            "in the catalogue of all teams",
	"cancellation_reason_id": "in the list of all teams", "cancellationReasonId": "in the list of all teams",
	"app_id": "the name of an app", "source_app_id": "the name of an app",
	"member_id": "an insurer's own number", "group_id": "an insurer's own number", "provider_payor_id": "a code of the directory of all teams",
	"booking_id": "a partner's own id of a visit", "external_id": "a partner's own number", "partner": "a name of the settings",
	"creator_member_id": "any value; no record has this id",
	"page":              "a page number",
}

// alias maps names in the document to names in the fixture.
var alias = map[string]string{
	"org_id": "team_id",   // each team is its own organisation
	"job_id": "import_id", // an import has the id of its job

	"query_id_or_slug": "query_id",
	"after_id":         "message_id", // an event's id

	"source_device_id":  "device_id",
	"wrong_lab_test_id": "lab_test_id",
}

// valuesByOperation lists operations whose parameters need another value of the fixture
// than their name suggests. Examples are an order with results and another kind of run.
var valuesByOperation = map[string]map[string]string{}

var count atomic.Int64

// fixture creates one record of every kind for the team of s.
func (s *service) fixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{ids: map[string]string{}}
	s.person(t, f)
	s.sessions(t, f)
	s.continuousQuery(t, f)
	s.webhooks(t, f)
	s.ledger(t, f)
	s.labs(t, f)
	s.appointments(t)
	s.orders(t, f)
	s.unmatched(t, f)
	s.report(t, f)
	s.settle(t)
	return f
}

// newTeamWithFixture returns another team with a fixture, for an operation that changes its objects.
// So it does not disturb parallel tests.
func (s *service) newTeamWithFixture(t *testing.T) (*service, *fixture) {
	t.Helper()
	own := s.newTeam("Apart")
	return own, own.fixture(t)
}

func (s *service) serves(name string) bool {
	return slices.ContainsFunc(s.doc.operations, func(o operation) bool { return o.String() == name })
}

// values returns values by parameter name, for requests that reach the domain.
func (f *fixture) values() map[string]string {
	values := maps.Clone(f.ids)
	values["provider"], values["resource"], values["environment"] = "apple_health_kit", "heartrate", "sandbox"
	values["partner"] = "acme"
	values["event_type"] = "daily.data.heartrate.created"
	values["lab_id"], values["provider_id"] = "2", "70002" // of the catalogue of all sandbox teams
	for name, of := range alias {
		values[name] = f.ids[of]
	}
	return values
}

// valuesFor returns known with the special values of one operation.
func (f *fixture) valuesFor(o operation) map[string]string {
	values := f.values()
	for name, of := range valuesByOperation[o.String()] {
		values[name] = f.ids[of]
	}
	return values
}

// identities returns the places of an operation that contain an id, in the path, the
// query and the body.
func (f *fixture) identities(t *testing.T, d *document, o operation) []place {
	t.Helper()
	var all []place
	for _, p := range o.Params {
		if p.In == "path" || p.In == "query" && isIdentity(p.Name) {
			all = append(all, place{p.In, p.Name})
		}
	}
	all = append(all, d.identitiesOf(o.Body, "", 0)...)
	known := f.values()
	return slices.DeleteFunc(all, func(p place) bool {
		if notIdentities[p.key()] != "" || inventedByCaller[o.String()+" "+p.String()] != "" || inventedByCaller[p.String()] != "" {
			return true
		}
		if _, has := known[p.key()]; !has {
			t.Fatalf("%v: the fixture has no value for the %v: make one in fixture_test.go, or say why there is none", o, p)
		}
		return false
	})
}

// identitiesOf returns the paths of the fields of a body that look like an id, such as
// order_set.lab_test_ids[] and data[].source.device_id.
func (d *document) identitiesOf(s *schema, at string, depth int) (all []place) {
	if s = d.resolve(s); s == nil || depth > 8 {
		return nil
	}
	if name := (place{"body", at}).leaf(); s.Items == nil && isIdentity(name) {
		return []place{{"body", at}}
	}
	all = d.identitiesOf(s.Items, at+"[]", depth+1)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		all = append(all, d.identitiesOf(s.Properties[name], strings.TrimPrefix(at+"."+name, "."), depth+1)...)
	}
	for _, choice := range slices.Concat(s.AnyOf, s.OneOf, s.AllOf) {
		for _, p := range d.identitiesOf(choice, at, depth+1) {
			if !slices.Contains(all, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

func isIdentity(name string) bool {
	for _, ending := range []string{"_id", "_ids", "Id", "Ids"} {
		if strings.HasSuffix(name, ending) {
			return true
		}
	}
	return name == "id" || name == "ids" || name == "payor_code" || alias[name] != ""
}

// inventedByCaller are places whose value the caller invents, or that are ignored, with the
// reason. They cannot refer to another team. A key is for one operation or for all
// operations.
var inventedByCaller = map[string]string{
	"POST /v2/user body client_user_id":             "a new name",
	"PATCH /v2/user/{user_id} body client_user_id":  "a new name",
	"POST /v2/user/{user_id}/device body device_id": "the phone's own",

	"body deleted[].id":             "the phone's own id of a record, looked up for the user of the path",
	"body data[].id":                "only in answers; absent in requests",
	"body data[].user_id":           "only in answers; absent in requests",
	"body data[].source_id":         "only in answers; absent in requests",
	"body data[].priority_id":       "only in answers; absent in requests",
	"body data[].source.workout_id": "for series only; absent in summaries",
	"body data[].sport.id":          "in the list of sports of all teams",
}

// newUserName returns a new client_user_id.
func newUserName() string { return fmt.Sprintf("user-name-%06d", count.Add(1)) }

const (
	someAddress = `"address":{"first_line":"1 Example Street","second_line":null,"city":"Phoenix","state":"AZ","zip":"85004","country":"US"}`
	someContact = `"email":"person@example.com","phone_number":"+14155550123","gender":"female","dob":"1984-05-17"`
	somePerson  = `"first_name":"Given","last_name":"Family",` + someContact + `,` + someAddress
	someInfo    = `{` + somePerson + `}`

	someInsurance = `{"payor_code":"MEDFED","member_id":"member","group_id":null,"relationship":"Self","is_primary":true,"insured":{` + somePerson + `}}`

	somePayor = `{"name":"Example Mutual","address":{"first_line":"5 Insurer Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US"}}`

	someExport = `<?xml version="1.0"?><HealthData locale="en_US"><ExportDate value="2026-03-01 12:00:00 +0000"/></HealthData>`

	somePush = `{"stage":"daily","provider":"apple_health_kit","data":[
		{"timestamp":"2026-03-01T12:00:00Z","value":61,"unit":"bpm","source_type":"watch"}]}`
)

// person creates a user with complete personal data, a watch and an uploaded export.
func (s *service) person(t *testing.T, f *fixture) {
	t.Helper()
	f.ids["client_user_id"] = newUserName()
	user := s.requestObject(t, "POST", "/v2/user", `{"client_user_id":"`+f.ids["client_user_id"]+`"}`)
	f.ids["user_id"], f.ids["team_id"] = user["user_id"].(string), user["team_id"].(string)
	base := "/v2/user/" + f.ids["user_id"]
	s.requestObject(t, "PATCH", base+"/info", someInfo)
	f.ids["payor_code"] = s.requestField(t, "POST", "/v3/payor", somePayor, "payor_code")
	s.requestObject(t, "POST", base+"/insurance", someInsurance)
	f.ids["device_id"] = s.device(t, f)
	if s.serves("POST /v2/user/{user_id}/imports") {
		f.ids["import_id"] = s.upload(t, base)
	}
}

// device creates a connection with a device, like an import.
func (s *service) device(t *testing.T, f *fixture) string {
	t.Helper()
	team, id := ids.MustParse[teams.Team](f.ids["team_id"]), ids.MustParse[users.User](f.ids["user_id"])
	var device connections.DeviceID
	s.write(t, func(ctx context.Context, tx *store.Tx) error {
		user, err := users.Get(ctx, tx, team, id)
		if err != nil {
			return err
		}
		if err := connections.Ensure(ctx, tx, user, "apple_health_kit", []string{"heartrate"}); err != nil {
			return err
		}
		device, err = connections.EnsureDevice(ctx, tx, user, connections.Device{
			Provider: "apple_health_kit", SourceType: "watch", AppID: "com.example.health", Manufacturer: "Example", Model: "Watch7,1",
		})
		return err
	})
	return device.String()
}

// sessions pushes a heart rate, a night's sleep and a workout.
func (s *service) sessions(t *testing.T, f *fixture) {
	t.Helper()
	push := func(path, data string) {
		s.requestObject(t, "POST", path, `{"stage":"daily","provider":"apple_health_kit","data":[`+data+`]}`)
	}
	find := func(resource string) string {
		var all map[string][]struct{ ID string }
		s.get(t, "/v2/summary/"+resource+"/"+f.ids["user_id"]+"?start_date=2026-01-01", &all)
		if len(all[resource]) != 1 {
			t.Fatalf("pushed one of %s and found %v", resource, all)
		}
		return all[resource][0].ID
	}
	s.requestObject(t, "POST", "/v2/timeseries/"+f.ids["user_id"]+"/heartrate", somePush)
	push("/v2/summary/sleep/"+f.ids["user_id"], `{"bedtime_start":"2026-02-01T22:00:00Z","bedtime_stop":"2026-02-02T06:00:00Z","duration":28800,"source_type":"watch"}`)
	push("/v2/summary/workouts/"+f.ids["user_id"], `{"time_start":"2026-02-01T10:00:00Z","time_end":"2026-02-01T11:00:00Z","source_type":"watch"}`)
	push("/v2/summary/profile/"+f.ids["user_id"], `{"height":178}`)
	f.ids["sleep_id"], f.ids["workout_id"] = find("sleep"), find("workouts")
}

// upload imports a file and waits until the import and its job have ended. The data is
// then stable when a test compares it.
func (s *service) upload(t *testing.T, base string) string {
	t.Helper()
	id := s.requestField(t, "POST", base+"/imports?kind=apple_health", someExport, "id")
	s.waitForEnd(t, base+"/imports/"+id)
	s.waitForEnd(t, "/v2/jobs/"+id)
	return id
}

// waitForEnd waits for the end of a job, an import or another run, and returns its status.
func (s *service) waitForEnd(t *testing.T, path string) (status string) {
	t.Helper()
	waitUntil(t, path, func() bool {
		status = s.requestField(t, "GET", path, "", "status")
		return status != "queued" && status != "running"
	})
	return status
}

// write changes the database in a way that no request can.
func (s *service) write(t *testing.T, fn func(ctx context.Context, tx *store.Tx) error) {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	if err := s.DB.Write(ctx, func(tx *store.Tx) error { return fn(ctx, tx) }); err != nil {
		t.Fatal(err)
	}
}

func addPushBodies() {
	validBodies["POST /v2/timeseries/{user_id}"] = `{"stage":"daily","provider":"apple_health_kit","series":{
		"heartrate":[{"timestamp":"2026-03-01T12:00:00Z","value":70}],"glucose":[{"timestamp":"2026-03-01T12:00:00Z","value":5.1}]}}`
	validBodies["POST /v2/timeseries"] = `{"stage":"daily","provider":"apple_health_kit","users":[
		{"user_id":"$user_id","series":{"heartrate":[{"timestamp":"2026-03-01T12:00:00Z","value":70}]}}]}`
	validBodies["POST /v2/timeseries/{user_id}/note"] = `{"stage":"daily","provider":"apple_health_kit","data":[{"timestamp":"2026-03-01T12:00:00Z","value":"Slept badly."}]}`
	validBodies["POST /v2/user/{user_id}/entries"] = `{"data":[{"resource":"body_weight","timestamp":"2026-03-01T12:00:00Z","value":70}]}`
}

func addAggregationBodies() {
	validBodies["POST /v1/org/{org_id}/team/{team_id}/{environment}/continuous_query"] = fmt.Sprintf(someQuery, 0)
	valuesByOperation["GET /v2/team/users/search"] = map[string]string{"query_id": "user_id"}
}

const someQuery = `{"slug":"beats-%d","title":"Beats","query":{
	"select":[{"group_key":"*"},{"func":"max","arg":{"timeseries":"heartrate","field":"value"}}],
	"group_by":[{"date_trunc":{"unit":"day"},"arg":{"index":"timeseries"}}]}}`

// continuousQuery creates a query and waits for its run for the user, so that the data
// is stable when a test compares it. The query is deleted at the end of the test,
// because each push of the team evaluates every query.
func (s *service) continuousQuery(t *testing.T, f *fixture) {
	t.Helper()
	org := "/v1/org/" + f.ids["team_id"] + "/team/" + f.ids["team_id"] + "/sandbox/continuous_query"
	if !s.serves("POST /v1/org/{org_id}/team/{team_id}/{environment}/continuous_query") {
		return
	}
	f.ids["query_id"] = s.requestField(t, "POST", org, fmt.Sprintf(someQuery, count.Add(1)), "id")
	t.Cleanup(func() { s.send(t, request{method: "DELETE", path: org + "/" + f.ids["query_id"]}, s.Key) })
	s.requestObject(t, "POST", "/v2/timeseries/"+f.ids["user_id"]+"/heartrate",
		`{"stage":"daily","provider":"apple_health_kit","data":[{"timestamp":"2026-02-20T12:00:00Z","value":66,"unit":"bpm","source_type":"watch"}]}`)
	history := "/aggregate/v1/user/" + f.ids["user_id"] + "/continuous_query/" + f.ids["query_id"] + "/task_history"
	waitUntil(t, "the run of a continuous query", func() bool {
		var runs struct{ Data []struct{ Status string } }
		s.get(t, history, &runs)
		return len(runs.Data) > 0 && runs.Data[0].Status == "completed"
	})
}

func addReprocessingValues() {
	valuesByOperation["GET /v2/team/renormalise/{run_id}"] = map[string]string{"run_id": "renormalise_id"}
}

// ledger starts an upload in parts, starts a reprocessing run, and waits until both are
// stable.
func (s *service) ledger(t *testing.T, f *fixture) {
	t.Helper()
	if !s.serves("POST /v2/team/renormalise") {
		return
	}
	f.ids["upload_id"] = s.requestField(t, "POST", "/v2/user/"+f.ids["user_id"]+"/uploads", `{"size":1000000}`, "id")
	f.ids["renormalise_id"] = s.requestField(t, "POST", "/v2/team/renormalise", `{"dry_run":true,"user_id":"`+f.ids["user_id"]+`"}`, "id")
	s.waitForEnd(t, "/v2/jobs/"+f.ids["renormalise_id"])
	f.ids["deletion_id"] = s.requestField(t, "DELETE", "/v2/user/"+f.ids["user_id"]+"/data?resource=caffeine", "", "id")
	s.waitForEnd(t, "/v2/jobs/"+f.ids["deletion_id"])
	f.ids["shift_id"] = s.requestField(t, "POST", "/v2/user/"+f.ids["user_id"]+"/data/shifts", someShift, "id")
	s.waitForEnd(t, "/v2/jobs/"+f.ids["shift_id"])
}

// someShift moves data that no other test reads.
const someShift = `{"provider":"health_connect","resource":"caffeine","start":"2020-03-01","end":"2020-03-01","seconds":3600}`

// webhooks creates an endpoint and an event for it, and waits for the delivery. The
// endpoint is deleted at the end of the test, because it receives every later event of
// its type.
func (s *service) webhooks(t *testing.T, f *fixture) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(receiver.Close)
	f.ids["webhook_id"] = s.requestField(t, "POST", "/v2/webhooks", fmt.Sprintf(`{"url":%q,"filter_types":["daily.data.heartrate.created"]}`, receiver.URL), "id")
	base := "/v2/webhooks/" + f.ids["webhook_id"]
	t.Cleanup(func() { s.send(t, request{method: "DELETE", path: base}, s.Key) })
	s.requestObject(t, "POST", "/v2/timeseries/"+f.ids["user_id"]+"/heartrate", strings.ReplaceAll(somePush, "12:00:00", "13:00:00"))
	waitUntil(t, "an event's arrival", func() bool {
		var list struct {
			Data []struct {
				MessageID string `json:"message_id"`
				Attempts  int
			}
		}
		s.get(t, base+"/deliveries", &list)
		if len(list.Data) == 0 || list.Data[0].Attempts == 0 {
			return false
		}
		f.ids["message_id"] = list.Data[0].MessageID
		return true
	})
}
