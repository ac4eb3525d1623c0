package apitest

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/app"
	"hale/internal/platform/store/storetest"
)

// The pages of the documentation show one request of each operation, its answer and the
// events that it caused. Record them again after a change of the wire:
//
//	go test ./internal/apitest -run TestDocsExamples -update-examples
//	go test ./internal/apitest -run TestDocsExamples -update-examples -example-operations '/v3/order/'

var (
	updateExamples    = flag.Bool("update-examples", false, "record docs/examples.json")
	exampleOperations = flag.String("example-operations", "", "record only operations that match this regular expression")
)

const examplesFile = "../../docs/examples.json"

// exchange is a row of docs/examples.json.
type exchange struct {
	Path       string          `json:"path"`
	Headers    [][2]string     `json:"headers,omitempty"`
	Body       json.RawMessage `json:"body,omitempty"`
	Status     int             `json:"status"`
	AnswerType string          `json:"answer_type,omitempty"`
	Answer     json.RawMessage `json:"answer,omitempty"`
	Events     []string        `json:"events,omitempty"`
}

// exampleRequests are operations whose smallest request is refused, or says little. $name
// is a value of the fixture.
var exampleRequests = map[string]struct{ query, body string }{
	"POST /v1/org/{org_id}/team/{team_id}/{environment}/validate_continuous_query": {body: fmt.Sprintf(someQuery, 0)},
	"POST /v2/user":                     {body: `{"client_user_id":"anna"}`},
	"DELETE /v2/user/{user_id}/data":    {query: "resource=heartrate&start=2026-02-01T00:00:00Z"},
	"POST /v2/user/undo_delete":         {query: "user_id=$user_id", body: `{}`},
	"POST /v3/compendium/convert":       {body: `{"lab_test_id":"$lab_test_id","target_lab":"labcorp"}`},
	"GET /v3/insurance/search/payor":    {query: "insurance_name=aetna"},
	"PATCH /v2/webhooks/{webhook_id}":   {body: `{"filter_types":["daily.data.sleep.created"],"rate_limit":50}`},
	"PATCH /v3/lab_tests/{lab_test_id}": {body: `{"name":"Annual check"}`},
	"GET /v2/user":                      {query: "limit=2"},
	"GET /v2/events":                    {query: "after=0&limit=2"},
	"GET /v3/orders":                    {query: "size=2"},
	"GET /v2/team/users/search":         {query: "query_id=$client_user_id"},
	"POST /v2/link/connect/demo":        {body: `{"provider":"oura","user_id":"$new_user_id"}`},
	"POST /v2/link/exchange":            {body: `{"sign_in_token":"$sign_in_token"}`},
	"POST /v2/link/refresh":             {body: `{"refresh_token":"$refresh_token"}`},
	"PATCH /v2/team/message_settings":   {body: `{"practice_name":"Example Clinic"}`},
	"PATCH /v3/order/{order_id}":        {body: `{"activate_by":"$day"}`},

	"POST /v3/order/psc/appointment/availability":                  {query: "lab=quest&zip_code=85004&radius=50"},
	"POST /v3/order/{order_id}/phlebotomy/appointment/book":        {body: bookBody},
	"POST /v3/order/{order_id}/phlebotomy/appointment/request":     {body: `{"provider":"phlebfinders","address":{"first_line":"1 Farm Road","city":"Onalaska","state":"WI","zip_code":"54650"}}`},
	"PATCH /v3/order/{order_id}/phlebotomy/appointment/reschedule": {body: bookBody},
	"POST /v3/order/{order_id}/psc/appointment/book":               {body: bookBody},
	"PATCH /v3/order/{order_id}/psc/appointment/reschedule":        {body: bookBody},
}

const bookBody = `{"booking_key":"$booking_key"}`

// atSandboxLab are the paths of operations that need a lab with free times, or one that
// accepts orders. The other operations are recorded at a lab that waits.
var atSandboxLab = regexp.MustCompile(`^/v3/order/((phlebotomy|psc)/appointment/availability|\{order_id\}/((phlebotomy|psc)/appointment.*|draw_completed))$`)

// examplePreparations create what the requests above need, and add its values.
var examplePreparations = map[string]func(t *testing.T, s *service, values map[string]string){
	"DELETE /v2/team/practice": func(t *testing.T, s *service, _ map[string]string) {
		s.requestOK(t, "PUT", "/v2/team/practice", validBodies["PUT /v2/team/practice"])
	},
	"POST /v2/link/connect/demo": func(t *testing.T, s *service, values map[string]string) {
		values["new_user_id"] = s.requestField(t, "POST", "/v2/user", `{"client_user_id":"bert"}`, "user_id")
	},
	"POST /v2/jobs/{job_id}/cancel":                 queuedImport,
	"DELETE /v2/user/{user_id}/imports/{import_id}": queuedImport,
	"GET /v3/requisition_form": func(t *testing.T, s *service, values map[string]string) {
		link := s.requestField(t, "GET", "/v3/order/"+values["reported_order_id"], "", "requisition_form_url")
		_, values["token"], _ = strings.Cut(link, "token=")
	},
	"PATCH /v3/order/{order_id}": func(t *testing.T, s *service, values map[string]string) {
		day := func(days int) string { return time.Now().AddDate(0, 0, days).Format(time.DateOnly) }
		body := strings.Replace(validBodies["POST /v3/order"], "{", `{"activate_by":"`+day(20)+`",`, 1)
		for _, name := range []string{"user_id", "lab_test_id", "lab_account_id"} {
			body = strings.ReplaceAll(body, `"$`+name+`"`, `"`+values[name]+`"`)
		}
		order := s.requestObject(t, "POST", "/v3/order", body)["order"].(map[string]any)
		values["order_id"], values["day"] = order["id"].(string), day(30)
	},
	"PATCH /v3/order/{order_id}/draw_completed": func(t *testing.T, s *service, values map[string]string) {
		test := s.activeTest(t, `{"name":"Draw","description":"","method":"on_site_collection","provider_ids":["CR0002"],"lab_slug":"crl"}`)
		values["order_id"] = s.acceptedOrder(t, test, "on_site_collection")
	},
	"GET /v3/order/{order_id}/phlebotomy/appointment":              bookingValues(bookings[0]),
	"POST /v3/order/{order_id}/phlebotomy/appointment/book":        bookable(bookings[0]),
	"POST /v3/order/{order_id}/phlebotomy/appointment/request":     bookable(bookings[0]),
	"PATCH /v3/order/{order_id}/phlebotomy/appointment/reschedule": bookingValues(bookings[0]),
	"PATCH /v3/order/{order_id}/phlebotomy/appointment/cancel":     bookingValues(bookings[0]),
	"GET /v3/order/{order_id}/psc/appointment":                     bookingValues(bookings[1]),
	"POST /v3/order/{order_id}/psc/appointment/book":               bookable(bookings[1]),
	"PATCH /v3/order/{order_id}/psc/appointment/reschedule":        bookingValues(bookings[1]),
	"PATCH /v3/order/{order_id}/psc/appointment/cancel":            bookingValues(bookings[1]),
	"POST /v2/link/exchange":                                       signInToken,
	"POST /v2/link/refresh": func(t *testing.T, s *service, values map[string]string) {
		signInToken(t, s, values)
		values["refresh_token"] = s.requestField(t, "POST", "/v2/link/exchange", `{"sign_in_token":"`+values["sign_in_token"]+`"}`, "refresh_token")
	},
}

func signInToken(t *testing.T, s *service, values map[string]string) {
	t.Helper()
	values["sign_in_token"] = s.requestField(t, "POST", "/v2/user/"+values["user_id"]+"/sign_in_token", "", "sign_in_token")
}

// bookable creates an order for which an appointment can be booked.
func bookable(b booking) func(t *testing.T, s *service, values map[string]string) {
	return func(t *testing.T, s *service, values map[string]string) {
		t.Helper()
		values["order_id"], values["booking_key"] = s.createVisitOrder(t, b.method), s.bookingKeys(t, b)[0]
	}
}

// bookingValues creates an order with an appointment, and finds another free time.
func bookingValues(b booking) func(t *testing.T, s *service, values map[string]string) {
	return func(t *testing.T, s *service, values map[string]string) {
		t.Helper()
		bookable(b)(t, s, values)
		s.requestObject(t, "POST", "/v3/order/"+values["order_id"]+b.path+"/book", strings.ReplaceAll(bookBody, "$booking_key", values["booking_key"]))
		values["booking_key"] = s.bookingKeys(t, b)[1]
	}
}

// queuedImport uploads a long file, and another one whose import waits for its end.
func queuedImport(t *testing.T, s *service, values map[string]string) {
	t.Helper()
	record := `<Record type="HKQuantityTypeIdentifierHeartRate" sourceName="Watch" unit="count/min" startDate="2026-01-01 12:00:00 +0000" endDate="2026-01-01 12:00:00 +0000" value="61"/>`
	long := strings.Replace(someExport, "</HealthData>", strings.Repeat(record, 200_000)+"</HealthData>", 1)
	path := "/v2/user/" + values["user_id"] + "/imports?kind=apple_health"
	s.requestField(t, "POST", path, long, "id")
	values["import_id"] = s.requestField(t, "POST", path, strings.Replace(someExport, "12:00:00", "13:00:00", 1), "id") // another file
	values["job_id"] = values["import_id"]
}

// exampleRequest returns the request of an operation that the docs show.
func (s *service) exampleRequest(t *testing.T, o operation, values map[string]string) request {
	t.Helper()
	if prepare := examplePreparations[o.String()]; prepare != nil {
		prepare(t, s, values)
	}
	r := s.minimalRequest(t, o, values)
	special := exampleRequests[o.String()]
	fill := func(text string) string {
		for name, value := range values {
			text = strings.ReplaceAll(text, "$"+name, value)
		}
		return text
	}
	if special.query != "" {
		path, _, _ := strings.Cut(r.path, "?")
		r.path = path + "?" + fill(special.query)
	}
	if special.body != "" {
		r.body = []byte(fill(special.body))
		r.headers["content-type"] = "application/json"
	}
	if strings.HasSuffix(o.Path, "/uploads/{upload_id}") && o.Method == http.MethodPatch {
		r.headers["upload-offset"], r.headers["content-type"], r.body = "0", "application/octet-stream", []byte("x")
	}
	return r
}

// Every operation has an example, and each answer matches the document.
func TestDocsExamples(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	if *updateExamples {
		s.recordExamples(t)
	}
	text, err := os.ReadFile(examplesFile)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]exchange
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, o := range s.doc.operations {
		e, ok := all[o.String()]
		delete(all, o.String())
		if !ok {
			t.Errorf("%v has no example: record one", o)
		}
		if len(e.Answer) == 0 {
			continue
		}
		if err := s.doc.check(o, e.Status, e.AnswerType, e.Answer); err != nil {
			t.Errorf("the example of %v does not match the document: %v; record it again", o, err)
		}
	}
	for name := range all {
		t.Errorf("%s has an example, but is no operation", name)
	}
}

// recordExamples sends a request to every operation. Operations that change something
// have a team of their own.
func (s *service) recordExamples(t *testing.T) {
	t.Helper()
	all := map[string]exchange{}
	only := regexp.MustCompile(*exampleOperations)
	if *exampleOperations != "" {
		text, err := os.ReadFile(examplesFile)
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	read := s.fixture(t)
	production, partner := startProduction(t)
	sandbox := start(t, storetest.NewSQLite(t), func(o *app.Options) { o.Networks = nil })
	for _, o := range s.doc.operations {
		if !only.MatchString(o.String()) {
			continue
		}
		own, f := s, read
		fulfils := o.Method == http.MethodPost && strings.Contains(o.Path, "/fulfilment")
		switch {
		case fulfils:
			own = production
		case atSandboxLab.MatchString(o.Path):
			own, f = sandbox.newTeam("Apart"), &fixture{ids: map[string]string{}}
			own.appointments(t)
		case o.Method != http.MethodGet:
			own, f = s.newTeamWithFixture(t)
		}
		if prepare := preparations[o.String()]; prepare != nil {
			prepare(t, own, f)
		}
		var r request
		if fulfils {
			r = own.fulfilmentRequest(t, o, partner)
		} else {
			r = own.exampleRequest(t, o, f.valuesFor(o))
		}
		after := own.lastEvent(t)
		got := own.send(t, r, own.Key)
		if got.status/100 != 2 {
			t.Errorf("no example: %v: %d %.200s", r, got.status, got.body)
			continue
		}
		e := exchange{Path: r.path, Status: got.status}
		e.AnswerType, _, _ = strings.Cut(got.header.Get("content-type"), ";")
		for _, name := range slices.Sorted(maps.Keys(r.headers)) {
			if name != "content-type" && name != "idempotency-key" {
				e.Headers = append(e.Headers, [2]string{name, r.headers[name]})
			}
		}
		if o.Body != nil {
			e.Body = r.body
		}
		if json.Valid(got.body) {
			e.Answer = shortAnswer(t, got.body)
		}
		if o.Method != http.MethodGet {
			e.Events = own.eventTypes(t, after)
		}
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		var clean exchange
		if err := json.Unmarshal(withoutSecrets(text, s.URL()), &clean); err != nil {
			t.Fatal(err)
		}
		all[o.String()] = clean
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	if err := encoder.Encode(all); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(examplesFile, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (s *service) lastEvent(t *testing.T) int64 {
	t.Helper()
	var page struct{ Last int64 }
	s.get(t, "/v2/events?after=0&limit=1", &page)
	return page.Last
}

// eventTypes returns the types of the events after a number.
func (s *service) eventTypes(t *testing.T, after int64) (types []string) {
	t.Helper()
	var page struct {
		Events []struct {
			EventType string `json:"event_type"`
		}
	}
	s.get(t, fmt.Sprintf("/v2/events?after=%d&limit=1000", after), &page)
	for _, e := range page.Events {
		types = append(types, e.EventType)
	}
	slices.Sort(types)
	return slices.Compact(types)
}

// shortAnswer cuts the lists and the long texts of an answer.
func shortAnswer(t *testing.T, body []byte) []byte {
	t.Helper()
	for items := 2; ; items-- {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(cutLists(mustDecode(t, string(body)), items)); err != nil {
			t.Fatal(err)
		}
		if b.Len() < 4000 || items == 1 {
			return bytes.TrimSpace(b.Bytes())
		}
	}
}

const longestText = 300

func cutLists(value any, items int) any {
	switch v := value.(type) {
	case map[string]any:
		for name := range v {
			v[name] = cutLists(v[name], items)
		}
	case []any:
		v = v[:min(len(v), items)]
		for i := range v {
			v[i] = cutLists(v[i], items)
		}
		return v
	case string:
		if len(v) > longestText {
			return strings.ToValidUTF8(v[:60], "") + "…"
		}
	}
	return value
}

var (
	anyUUID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	// bookingKeys are long, and of no use after their time.
	bookingKeys = regexp.MustCompile(`("booking_key":")([^"]{16})[^"]+`)
	secrets     = regexp.MustCompile(`\b((?:sk|pk|whsec|si|ua|ur)_)[A-Za-z0-9+/=_-]{16,}|(\btoken=|/portal/enter/|8080/p/)[^"&\\ ]+`)
)

// withoutSecrets replaces keys and tokens, cuts booking keys, and names ids in their order.
func withoutSecrets(text []byte, url string) []byte {
	text = bytes.ReplaceAll(text, []byte(url), []byte("http://127.0.0.1:8080"))
	text = secrets.ReplaceAll(text, []byte("$1$2…"))
	text = bookingKeys.ReplaceAll(text, []byte("$1$2…"))
	known := map[string]string{}
	return anyUUID.ReplaceAllFunc(text, func(id []byte) []byte {
		name := known[string(id)]
		if name == "" {
			name = fmt.Sprintf("0199d3a0-7c00-7000-8000-%012d", len(known)+1)
			known[string(id)] = name
		}
		return []byte(name)
	})
}
