package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hale/internal/connections"
	"hale/internal/ids"
	"hale/internal/store"
	"hale/internal/teams"
	"hale/internal/users"
)

// fixture is one of everything that a team can have, with its identities by
// the names that parameters and body fields have for them.
type fixture struct {
	ids map[string]string
}

// notIdentities are path parameters whose values are words that everybody
// knows. Every other path parameter is an identity, and the fixture must have
// one: a new kind of id cannot go untested.
var notIdentities = []string{"provider", "resource", "environment", "type", "event_type", "kind", "lab_id", "provider_id"}

// alias are names under which the document asks for something that the fixture
// has under another.
var alias = map[string]string{
	"org_id": "team_id",   // each team is its own organisation
	"job_id": "import_id", // an import has its job's id

	"query_id_or_slug": "query_id",
}

func isIdentity(name string) bool {
	return strings.HasSuffix(name, "_id") || alias[name] != ""
}

var count atomic.Int64

// fixture makes one of everything for the team of s.
func (s *service) fixture(t *testing.T) *fixture {
	t.Helper()
	n := count.Add(1)
	f := &fixture{ids: map[string]string{"client_user_id": fmt.Sprintf("somebody-%06d", n)}}
	user := s.make(t, "POST", "/v2/user", fmt.Sprintf(`{"client_user_id":"somebody-%06d"}`, n))
	f.ids["user_id"], f.ids["team_id"] = user["user_id"].(string), user["team_id"].(string)
	base := "/v2/user/" + f.ids["user_id"]
	s.make(t, "PATCH", base+"/info", someInfo)
	s.make(t, "POST", base+"/insurance", someInsurance)
	f.ids["device_id"] = s.device(t, f)
	if s.serves("POST /v2/user/{user_id}/imports") {
		f.ids["import_id"] = s.upload(t, base)
	}
	s.sessions(t, f)
	s.continuousQuery(t, f)
	s.webhooks(t, f)
	s.ledger(t, f)
	s.labs(t, f)
	s.appointments(t)
	s.orders(t, f)
	s.unmatched(t, f)
	s.settle(t)
	return f
}

// make sends a request that must succeed and returns the object it answers.
func (s *service) make(t *testing.T, method, path, body string) map[string]any {
	t.Helper()
	status, text := s.Call(method, path, body)
	if status/100 != 2 {
		t.Fatalf("%s %s was answered %d: %.500s", method, path, status, text)
	}
	if len(text) == 0 || text[0] != '{' {
		return nil
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatalf("%s %s: %v", method, path, err)
	}
	return object
}

func (s *service) serves(name string) bool {
	return slices.ContainsFunc(s.doc.operations, func(o operation) bool { return o.String() == name })
}

// device makes a connection with a device, as an import does.
func (s *service) device(t *testing.T, f *fixture) string {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	team, err := ids.Parse[teams.Team](f.ids["team_id"])
	if err != nil {
		t.Fatal(err)
	}
	id, err := ids.Parse[users.User](f.ids["user_id"])
	if err != nil {
		t.Fatal(err)
	}
	var device connections.DeviceID
	err = s.DB.Write(ctx, func(tx *store.Tx) error {
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
	if err != nil {
		t.Fatal(err)
	}
	return device.String()
}

// sessions pushes a heart rate, a night's sleep and a workout.
func (s *service) sessions(t *testing.T, f *fixture) {
	t.Helper()
	push := func(path, data string) {
		s.make(t, "POST", path, `{"stage":"daily","provider":"apple_health_kit","data":[`+data+`]}`)
	}
	find := func(resource string) string {
		var all map[string][]struct{ ID string }
		s.Get("/v2/summary/"+resource+"/"+f.ids["user_id"]+"?start_date=2026-01-01", &all)
		if len(all[resource]) != 1 {
			t.Fatalf("pushed one of %s and found %v", resource, all)
		}
		return all[resource][0].ID
	}
	s.make(t, "POST", "/v2/timeseries/"+f.ids["user_id"]+"/heartrate", somePush)
	push("/v2/summary/sleep/"+f.ids["user_id"], `{"bedtime_start":"2026-02-01T22:00:00Z","bedtime_stop":"2026-02-02T06:00:00Z","duration":28800,"source_type":"watch"}`)
	push("/v2/summary/workouts/"+f.ids["user_id"], `{"time_start":"2026-02-01T10:00:00Z","time_end":"2026-02-01T11:00:00Z","source_type":"watch"}`)
	push("/v2/summary/profile/"+f.ids["user_id"], `{"height":178}`)
	f.ids["sleep_id"], f.ids["workout_id"] = find("sleep"), find("workouts")
}

// upload imports a file and waits for the end of the import and of its job, so
// that what a test looks at afterwards stands still.
func (s *service) upload(t *testing.T, base string) string {
	t.Helper()
	id := s.make(t, "POST", base+"/imports?kind=apple_health", someExport)["id"].(string)
	s.importEnd(t, base+"/imports/"+id)
	s.importEnd(t, "/v2/jobs/"+id)
	return id
}

// known are values by parameter name, for requests that should get far.
func (f *fixture) known() map[string]string {
	values := maps.Clone(f.ids)
	values["provider"], values["resource"], values["environment"] = "apple_health_kit", "heartrate", "sandbox"
	values["event_type"] = "daily.data.heartrate.created"
	values["lab_id"], values["provider_id"] = "2", "70002" // of the catalogue that all sandbox teams see
	for name, of := range alias {
		values[name] = f.ids[of]
	}
	return values
}

// meant are operations whose parameters mean something else than the fixture
// has under their names: an order whose results are there, another kind of run.
var meant = map[string]map[string]string{}

// knownTo is known with what the parameters of one operation mean.
func (f *fixture) knownTo(o operation) map[string]string {
	values := f.known()
	for name, of := range meant[o.String()] {
		values[name] = f.ids[of]
	}
	return values
}

// identities lists the places of an operation that take an identity which the
// fixture has, in the path, the query and the body.
func (f *fixture) identities(t *testing.T, d *document, o operation) []place {
	t.Helper()
	var places []place
	for _, p := range o.Params {
		_, has := f.known()[p.Name]
		switch {
		case slices.Contains(notIdentities, p.Name):
		case p.In == "path" && !has:
			t.Fatalf("%v: the fixture has no value for {%s}: make one in fixture_test.go", o, p.Name)
		case p.In == "path" || p.In == "query" && has && isIdentity(p.Name):
			places = append(places, place{p.In, p.Name})
		}
	}
	if body := d.resolve(o.Body); body != nil {
		for _, name := range slices.Sorted(maps.Keys(body.Properties)) {
			_, has := f.known()[name]
			if p := (place{"body", name}); has && isIdentity(name) && !slices.Contains(notIdentities, name) && !chosen[o.String()+" "+p.String()] {
				places = append(places, p)
			}
		}
	}
	return places
}

// unknownLike is an identity of the same form that nobody has.
func unknownLike(id string) string {
	if _, err := ids.Parse[users.User](id); err == nil {
		return "019f0000-0000-7000-8000-000000000000"
	}
	if prefix, rest, ok := strings.Cut(id, "_"); ok && len(rest) > 10 {
		return prefix + "_" + rest[:6] + strings.Repeat("0", len(rest)-6)
	}
	return "nobody-at-all"
}

// changing are the parts of an answer that differ from call to call: names of
// the request, clocks, such as the sandbox's and the date of an export, and the
// seals of links, which tell until when these hold.
var changing = regexp.MustCompile(`"(request_id|created_on|created_at|updated_at|now)":"[^"]*"|"type":"collection","timestamp":"[^"]*"|\?token=[^"]*`)

func steady(body []byte) string { return changing.ReplaceAllString(string(body), "") }

// seen is what a team sees of its fixture: every plain read of the document.
func (s *service) seen(t *testing.T, f *fixture) string {
	t.Helper()
	var all strings.Builder
	for _, o := range s.doc.operations {
		if o.Method != http.MethodGet {
			continue
		}
		r := s.whole(t, o, f.knownTo(o))
		got := s.send(t, r, s.Key)
		fmt.Fprintf(&all, "%v %d %s\n", r, got.status, steady(got.body))
	}
	return all.String()
}

const (
	someAddress = `"address":{"first_line":"1 Example Street","second_line":null,"city":"Phoenix","state":"AZ","zip":"85004","country":"US"}`
	someContact = `"email":"person@example.com","phone_number":"+14155550123","gender":"female","dob":"1984-05-17"`
	somePerson  = `"first_name":"Given","last_name":"Family",` + someContact + `,` + someAddress
	someInfo    = `{` + somePerson + `}`

	someInsurance = `{"payor_code":"MEDFED","member_id":"member","group_id":null,"relationship":"Self","is_primary":true,"insured":{` + somePerson + `}}`

	someExport = `<?xml version="1.0"?><HealthData locale="en_US"><ExportDate value="2026-03-01 12:00:00 +0000"/></HealthData>`

	somePush = `{"stage":"daily","provider":"apple_health_kit","data":[
		{"timestamp":"2026-03-01T12:00:00Z","value":61,"unit":"bpm","source_type":"watch"}]}`
)

// indifferent are places where an unknown value is answered with the same
// status as the caller's own, with the reason.
var indifferent = map[string]string{
	"GET /v2/team/users/search query query_id": "a search that finds nothing is an answer",
	"GET /v2/team/outbox query order_id":       "an order of which nothing was said has an empty outbox",
}

// chosen are places whose value the caller makes up, so that nobody else's can
// be meant.
var chosen = map[string]bool{
	"POST /v2/user body client_user_id":            true,
	"PATCH /v2/user/{user_id} body client_user_id": true,
}

// before says what must have happened for an operation to find its object.
var before = map[string]func(t *testing.T, s *service, f *fixture){
	"POST /v2/user/undo_delete": func(t *testing.T, s *service, f *fixture) {
		s.make(t, "DELETE", "/v2/user/"+f.ids["user_id"], "")
	},
}

// webhooks makes an endpoint and an event on its way to it. The endpoint goes
// with the test, since every one of a team gets every later event of its type.
func (s *service) webhooks(t *testing.T, f *fixture) {
	t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(receiver.Close)
	endpoint := s.make(t, "POST", "/v2/webhooks", fmt.Sprintf(`{"url":%q,"filter_types":["daily.data.heartrate.created"]}`, receiver.URL))
	f.ids["webhook_id"] = endpoint["id"].(string)
	base := "/v2/webhooks/" + f.ids["webhook_id"]
	t.Cleanup(func() { s.send(t, request{method: "DELETE", path: base}, s.Key) })
	s.make(t, "POST", "/v2/timeseries/"+f.ids["user_id"]+"/heartrate", strings.ReplaceAll(somePush, "12:00:00", "13:00:00"))
	for range 1000 { // until it has arrived and stands still
		var list struct {
			Data []struct {
				MessageID string `json:"message_id"`
				Attempts  int
			}
		}
		if s.Get(base+"/deliveries", &list); len(list.Data) > 0 && list.Data[0].Attempts > 0 {
			f.ids["message_id"] = list.Data[0].MessageID
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatal("an event was not delivered")
}
