package apitest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/app"
	"hale/internal/labs/critical"
	"hale/internal/people/users"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/webhooks"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
)

// Client libraries of the reference work with this service. Each operation of the
// contract is served, accepts all requests that the contract allows, and returns the
// answers that it promises. knownDifferences lists deliberate differences, with their reasons.
func TestTheContractIsServed(t *testing.T) {
	data, management := readContract(t)
	s := start(t, storetest.NewSQLite(t))
	differences := map[string]bool{}
	for _, c := range []*contract{data, management} {
		for _, theirs := range c.operations {
			ours, ok := s.doc.serving(theirs)
			if _, listed := unservedArea(theirs); listed == ok {
				t.Errorf("%v: served is %v, and listed as not served yet is %v", theirs, ok, listed)
			}
			if ok {
				compareOperations(c.document, s.doc, theirs, ours, func(what string) { differences[what] = true })
			}
		}
	}
	reasons := map[string]string{}
	for _, k := range knownDifferences {
		for _, what := range k.differences {
			reasons[what] = k.reason
			if !differences[what] {
				t.Errorf("kept, and no difference any more: %s", what)
			}
		}
	}
	for _, what := range slices.Sorted(maps.Keys(differences)) {
		if reasons[what] == "" {
			t.Error(what)
		}
	}
}

// serving returns our operation that answers requests of another one: the same path, or
// one with a parameter where the other has a literal.
func (d *document) serving(theirs operation) (operation, bool) {
	best, words := operation{}, -1
	for _, ours := range d.operations {
		if n, ok := covers(ours.Path, theirs.Path); ok && ours.Method == theirs.Method && n > words {
			best, words = ours, n
		}
	}
	return best, words >= 0
}

// covers reports whether a path template matches another, and in how many literals.
func covers(ours, theirs string) (words int, ok bool) {
	a, b := strings.Split(ours, "/"), strings.Split(theirs, "/")
	if len(a) != len(b) {
		return 0, false
	}
	for i := range a {
		switch {
		case a[i] == b[i]:
			words++
		case !strings.HasPrefix(a[i], "{"):
			return 0, false
		}
	}
	return words, true
}

func compareOperations(td, od *document, theirs, ours operation, found func(string)) {
	report := func(direction string) func(at, what string) {
		return func(at, what string) { found(direction + " " + at + " " + what) }
	}
	sent := func() *comparison {
		return &comparison{theirs: td, ours: od, comparedPairs: map[[2]*schema]bool{}, report: report("sent")}
	}
	compareParams(sent, theirs, ours)
	switch {
	case theirs.Body == nil && ours.Required:
		found("sent " + theirs.String() + " body is required")
	case theirs.Body != nil && ours.Body == nil:
		found("sent " + theirs.String() + " body is not taken")
	case theirs.Body != nil:
		sent().compare(theirs.Body, ours.Body, theirs.String()+" body")
		if ours.Required && !theirs.Required {
			found("sent " + theirs.String() + " body is required")
		}
	}
	_, words := strings.CutPrefix(ours.Path, "/v2/timeseries/{user_id}/{resource}")
	for status, declared := range theirs.Responses {
		if status[0] != '2' || words {
			continue // our document has one operation for all series; the comparison of answers is stricter
		}
		answer := ours.Responses[status]
		if answer == nil {
			found("answered " + theirs.String() + " never with " + status)
			continue
		}
		for kind, content := range declared.Content {
			c := comparison{theirs: td, ours: od, isAnswer: true, comparedPairs: map[[2]*schema]bool{}, report: report("answered")}
			if mine, ok := answer.Content[kind]; ok {
				c.compare(content.Schema, mine.Schema, theirs.String())
			} else if content.Schema != nil && (len(content.Schema.Type) > 0 || content.Schema.Ref != "") {
				found(fmt.Sprintf("answered %v not as %s", theirs, kind))
			}
		}
	}
}

func compareParams(sent func() *comparison, theirs, ours operation) {
	for _, t := range theirs.Params {
		if t.In == "path" {
			continue // at this position, under any name
		}
		at := fmt.Sprintf("%v %s %s", theirs, t.In, t.Name)
		i := slices.IndexFunc(ours.Params, func(o parameter) bool { return o.In == t.In && strings.EqualFold(o.Name, t.Name) })
		if i < 0 {
			sent().report(at, "is not taken")
			continue
		}
		o := ours.Params[i]
		if o.Required && !t.Required {
			sent().report(at, "is required")
		}
		c := sent()
		c.compare(notNull(t.Schema), notNull(o.Schema), at)
		c.defaults(notNull(t.Schema), notNull(o.Schema), at)
	}
	for _, o := range ours.Params {
		known := slices.ContainsFunc(theirs.Params, func(t parameter) bool { return o.In == t.In && strings.EqualFold(o.Name, t.Name) })
		if o.In != "path" && o.Required && !known {
			sent().report(fmt.Sprintf("%v %s %s", theirs, o.In, o.Name), "is required")
		}
	}
}

// notNull removes null, which a query or a header cannot express.
func notNull(s *schema) *schema {
	if s == nil || len(s.AnyOf) == 0 {
		return s
	}
	rest := slices.DeleteFunc(slices.Clone(s.AnyOf), func(one *schema) bool { return slices.Equal(one.Type, stringOrList{"null"}) })
	if len(rest) == 1 && s.Default != nil {
		one := *rest[0]
		one.Default = s.Default
		return &one
	}
	if len(rest) == 1 {
		return rest[0]
	}
	return &schema{AnyOf: rest, Default: s.Default}
}

// Answers have properties that documents do not show: nulls, missing fields, other
// forms of dates. For each operation of the contract, this test checks an answer about
// a user with one record of every kind against the contract's schema.
func TestAnswersAreInTheContract(t *testing.T) {
	data, management := readContract(t)
	s := start(t, storetest.NewSQLite(t))
	f := s.fixture(t)
	s.pushEverySeries(t, f)
	for _, c := range []*contract{data, management} {
		for _, theirs := range c.operations {
			if ours, ok := s.doc.serving(theirs); ok && theirs.Method == http.MethodGet {
				t.Run(theirs.String(), func(t *testing.T) { s.answersAs(t, f, c, theirs, ours) })
			}
		}
	}
}

func (s *service) answersAs(t *testing.T, f *fixture, c *contract, theirs, ours operation) {
	ours.Path = theirs.Path // with the contract's literal where our path has a parameter
	var with []place
	if strings.HasPrefix(theirs.Path, "/v3/insurance/search/payor") {
		with = append(with, place{"query", "insurance_name"})
	}
	r := s.minimalRequest(t, ours, f.withDates(ours), with...)
	got := s.send(t, r, s.Key)
	if got.status == http.StatusNotFound && strings.HasSuffix(theirs.Path, "/appointment") {
		return // orders of the fixture have no appointment
	}
	if got.status/100 != 2 {
		t.Errorf("%v was answered %d: %.300s", r, got.status, got.body)
		return
	}
	if err := c.check(theirs, got.status, got.header.Get("content-type"), got.body); err != nil {
		t.Errorf("%v: %v\nanswer: %.1500s", r, err, got.body)
	}
}

func (f *fixture) withDates(o operation) map[string]string {
	values := f.valuesFor(o)
	values["start_date"], values["end_date"], values["insurance_name"] = "2026-01-01", "2026-12-31", "aetna"
	return values
}

// pushEverySeries gives the fixture's user samples of every series and summaries of every
// kind: one with all fields and one with the required fields only.
func (s *service) pushEverySeries(t *testing.T, f *fixture) {
	t.Helper()
	user := f.ids["user_id"]
	push := func(path, data string) {
		t.Helper()
		text := fmt.Sprintf(`{"stage":"daily","provider":"apple_health_kit","time_zone":"Europe/Berlin","data":[%s]}`, data)
		var got struct{ Rejected []any }
		s.Expect(http.StatusOK, "POST", path, text, &got)
		if len(got.Rejected) > 0 {
			t.Errorf("%s: %v", path, got.Rejected)
		}
	}
	for _, r := range wearables.Resources() {
		if r.Push {
			push("/v2/timeseries/"+user+"/"+r.Name, someSample(r))
		}
	}
	for name, data := range someSummaries {
		push("/v2/summary/"+name+"/"+user, data)
	}
}

func someSample(r wearables.Resource) string {
	at := time.Date(2026, 3, 1, 7, 0, 0, 0, time.UTC)
	text := fmt.Sprintf(`{"timestamp":%q,"source_type":"watch"`, at.Format(time.RFC3339))
	if r.Interval {
		text += fmt.Sprintf(`,"end":%q`, at.Add(time.Hour).Format(time.RFC3339))
	}
	if len(r.Types) > 0 {
		text += fmt.Sprintf(`,"type":%q`, r.Types[0])
	}
	if r.Pair {
		return text + `,"systolic":120,"diastolic":80}`
	}
	return text + fmt.Sprintf(`,"value":%v}`, max(r.Min, min(60, r.Max)))
}

func addSummaryBodies() {
	for name, data := range someSummaries {
		validBodies["POST /v2/summary/"+name+"/{user_id}"] = `{"stage":"daily","provider":"apple_health_kit","data":[` + data + `]}`
	}
}

var someSummaries = map[string]string{
	"activity": `{"calendar_date":"2026-03-01"},{"calendar_date":"2026-03-02","steps":8214,"distance":6120.5,"calories_active":412,
		"calories_total":2230,"floors_climbed":9,"low":31,"medium":20,"high":2.5,"time_zone":"Europe/Berlin","timezone_offset":3600,
		"wheelchair_use":true,"wheelchair_push":12,"heart_rate":{"avg_bpm":71,"min_bpm":48,"max_bpm":151,"resting_bpm":52,"avg_walking_bpm":98}}`,
	"body":    `{"calendar_date":"2026-03-01"},{"calendar_date":"2026-03-02","weight":71.4,"fat":18.2}`,
	"profile": `{"height":178,"birth_date":"1984-05-17","gender":"female","sex":"female","wheelchair_use":true}`,
	"sleep": `{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z"},
		{"bedtime_start":"2026-03-02T22:00:00Z","bedtime_stop":"2026-03-03T06:00:00Z","type":"long_sleep","awake":1200,"light":14400,"rem":6300,"deep":5400,
		"hr_lowest":44,"hr_average":52,"efficiency":94.5,"latency":300,"average_hrv":61,"respiratory_rate":13.5,"state":"confirmed"}`,
	"sleep_cycle": `{"session_start":"2026-03-02T22:00:00Z","session_end":"2026-03-03T06:00:00Z","stage_start_offset_second":[0,1800],
		"stage_end_offset_second":[1800,28800],"stage_type":[2,1],"time_zone":"Europe/Berlin"}`,
	"workouts": `{"time_start":"2026-03-01T06:30:00Z","time_end":"2026-03-01T07:05:00Z"},
		{"time_start":"2026-03-02T06:30:00Z","time_end":"2026-03-02T07:05:00Z","title":"Morning run","sport":{"name":"Running","slug":"running"},
		"average_hr":148,"max_hr":171,"distance":6050,"calories":410,"hr_zones":[0,60,120,900,1020,0],"moving_time":2100,"provider_id":"run-1"}`,
	"meal": `{"timestamp":"2026-03-01T12:00:00Z"},{"timestamp":"2026-03-02T12:10:00Z","name":"lunch","energy":{"unit":"kcal","value":640},
		"macros":{"carbs":71,"protein":32,"fats":{"total":21}},"micros":{"minerals":{"sodium":510}},"data":{"soup":{"energy":{"unit":"kcal","value":200}}}}`,
	"menstrual_cycle": `{"period_start":"2026-02-01"},{"period_start":"2026-03-01","period_end":"2026-03-05","cycle_end":"2026-03-28",
		"menstrual_flow":[{"date":"2026-03-01","flow":"light"}],"sexual_activity":[{"date":"2026-03-09","protection_used":null}],
		"basal_body_temperature":[{"date":"2026-03-02","value":36.4}]}`,
	"electrocardiogram": `{"session_start":"2026-03-01T07:00:00Z","session_end":"2026-03-01T07:00:30Z"},
		{"session_start":"2026-03-02T07:00:00Z","session_end":"2026-03-02T07:00:30Z","voltage_sample_count":15360,"heart_rate_mean":64,
		"sampling_frequency_hz":512,"classification":"inconclusive","inconclusive_cause":"poor_reading","algorithm_version":"2"}`,
}

// The document omits some bounds of the contract. Bounds of an order's texts apply after
// spaces are trimmed, and a schema cannot express some others. This test checks that the
// service applies them.
func TestBoundsOutsideOfTheDocument(t *testing.T) {
	s := start(t, storetest.NewSQLite(t))
	f := s.fixture(t)
	queries := "POST /v1/org/" + f.ids["team_id"] + "/team/" + f.ids["team_id"] + "/sandbox/validate_continuous_query"
	query := func(slug, title string) string {
		return strings.NewReplacer(`"beats-%d"`, fmt.Sprintf("%q", slug), `"Beats"`, fmt.Sprintf("%q", title)).Replace(someQuery)
	}
	order := func(operation, old, new string) string {
		text := validBodies[operation]
		for name, value := range f.ids {
			text = strings.ReplaceAll(text, `"$`+name+`"`, `"`+value+`"`)
		}
		if !strings.Contains(text, old) {
			t.Fatalf("%s: no %s", operation, old)
		}
		return strings.ReplaceAll(text, old, new)
	}
	const create, kit, imported = "POST /v3/order", "POST /v3/order/testkit", "POST /v3/order/import"
	const first, last, zip, city = `"first_name":"Given"`, `"last_name":"Family"`, `"zip":"85004"`, `"city":"Phoenix"`
	notes := func(n int) string { return fmt.Sprintf(`"access_notes":%q,`+city, strings.Repeat("x", n)) }
	for _, test := range []struct {
		name, line, body, at string // at is the place of the problem, empty for a valid body
	}{
		{"a plain order", create, order(create, first, first), ""},
		{"spaces around a name", create, order(create, first, `"first_name":"  Given  "`), ""},
		{"no first name", create, order(create, first, `"first_name":"  "`), "first_name"},
		{"no last name", create, order(create, last, `"last_name":""`), "last_name"},
		{"a first name of 50", create, order(create, first, `"first_name":"`+strings.Repeat("x", 50)+` "`), ""},
		{"a first name of 51", create, order(create, first, `"first_name":"`+strings.Repeat("x", 51)+`"`), "first_name"},
		{"a last name of 51", create, order(create, last, `"last_name":"`+strings.Repeat("x", 51)+`"`), "last_name"},
		{"a long ZIP", create, order(create, zip, `"zip":" 85004-1234 "`), ""},
		{"a short ZIP", create, order(create, zip, `"zip":"8500"`), "zip"},
		{"a kit's ZIP", kit, order(kit, zip, `"zip":"8500"`), "zip"},
		{"notes of 1000", create, order(create, city, notes(1000)), ""},
		{"notes of 1001", create, order(create, city, notes(1001)), "access_notes"},
		{"an import's notes of 1001", imported, order(imported, city, notes(1001)), "access_notes"},
		{"a plain query", queries, query("beats", "Beats (1) & more_-."), ""},
		{"a title of 50", queries, query("beats", strings.Repeat("x", 50)), ""},
		{"a title of 51", queries, query("beats", strings.Repeat("x", 51)), "title"},
		{"a title with another sign", queries, query("beats", "beats?"), "title"},
		{"a slug of 129", queries, query(strings.Repeat("x", 129), "Beats"), "slug"},
		{"two hyphens in a slug", queries, query("b--b", "Beats"), "slug"},
		{"a hyphen first", queries, query("-b", "Beats"), "slug"},
		{"a hyphen last", queries, query("b-", "Beats"), "slug"},
		{"a capital in a slug", queries, query("Beats", "Beats"), "slug"},
	} {
		method, path, _ := strings.Cut(test.line, " ")
		r := request{method: method, path: path, body: []byte(test.body), headers: map[string]string{"content-type": "application/json"}}
		got := s.send(t, r, s.Key)
		switch {
		case test.at == "" && got.status != http.StatusOK:
			t.Errorf("%s: %d %.300s", test.name, got.status, got.body)
		case test.at != "" && (got.status != http.StatusUnprocessableEntity || !strings.Contains(string(got.body), fmt.Sprintf("%q],", test.at))):
			t.Errorf("%s: %d %.300s, not at %s", test.name, got.status, got.body, test.at)
		}
	}
}

// ownEventTypes are event types that the contract does not have.
var ownEventTypes = []string{
	webhooks.AttemptExhausted, webhooks.EndpointDisabled, critical.AcknowledgedEvent, critical.EscalatedEvent, critical.ClosedEvent,
	users.CreatedEvent, users.UpdatedEvent, users.DeletedEvent, users.RestoredEvent, connections.UpdatedEvent, connections.DeletedEvent,
}

// shape returns the schema of an event's envelope. The contract has one per type, or
// one for a type's created and updated events.
func (c *contract) shape(eventType string) *schema {
	name, ok := c.events[eventType]
	if !ok {
		name = c.events[eventType[:strings.LastIndex(eventType, ".")]+".*"]
	}
	return c.schemas[name]
}

// checkEvent returns an error if an envelope violates the contract for its type.
func (c *contract) checkEvent(envelope []byte) error {
	value, err := decode(envelope)
	if err != nil {
		return err
	}
	eventType := value.(map[string]any)["event_type"].(string)
	if strings.HasPrefix(eventType, "daily.data.") && strings.HasSuffix(eventType, ".deleted") { // ours
		return nil
	}
	shape := c.shape(eventType)
	if shape == nil {
		if slices.Contains(ownEventTypes, eventType) {
			return nil
		}
		return fmt.Errorf("the contract has no event %s", eventType)
	}
	return c.validate(shape, value, eventType)
}

// Every event type of the contract can be subscribed to. Its example is valid for a
// receiver that follows the contract.
func TestEventExamplesAreInTheContract(t *testing.T) {
	c, _ := readContract(t)
	catalogue := app.EventTypes()
	for _, pattern := range slices.Sorted(maps.Keys(c.events)) {
		name := strings.Replace(pattern, "*", "created", 1)
		if !catalogue.Known(name) {
			t.Errorf("%s is not in our catalogue", name)
		}
	}
	team := uuid.New()
	for _, of := range catalogue.Types() {
		text, err := catalogue.Example(team, of.Name)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.checkEvent(text); err != nil {
			t.Errorf("%v\nexample: %s", err, text)
		}
	}
}

// The events of real changes are valid too.
func TestEventsAreInTheContract(t *testing.T) {
	c, _ := readContract(t)
	s := start(t, storetest.NewSQLite(t))
	s.pushEverySeries(t, s.fixture(t))
	seen := map[string]int{}
	for after := int64(0); ; {
		var page struct {
			Events []struct {
				Seq   int64           `json:"seq"`
				Event json.RawMessage `json:"event"`
			} `json:"events"`
		}
		s.Get(fmt.Sprintf("/v2/events?limit=1000&after=%d", after), &page)
		if len(page.Events) == 0 {
			break
		}
		for _, e := range page.Events {
			after = e.Seq
			var head struct {
				EventType string `json:"event_type"`
			}
			if err := json.Unmarshal(e.Event, &head); err != nil {
				t.Fatal(err)
			}
			seen[head.EventType]++
			if err := c.checkEvent(e.Event); err != nil {
				t.Errorf("%v\nevent: %.1500s", err, e.Event)
			}
		}
	}
	t.Logf("seen %v", seen)
}
