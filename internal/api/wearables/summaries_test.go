package wearables

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api"
	"hale/internal/api/calltest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
)

func TestPushedSummariesAreReadBack(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var pushed pushBody
		d.Post(d.Path("/v2/summary/activity/{user_id}"), calltest.PushText(`[
			{"calendarDate":"2026-02-01","steps":100,"caloriesActive":12.5,"somethingNew":[1],"source_type":"phone"},
			{"calendar_date":"2026-02-02","steps":200,"source":{"type":"phone","app_id":null}}]`), &pushed)
		if pushed.Created != 2 {
			t.Errorf("%+v", pushed)
		}
		d.Post(d.Path("/v2/summary/activity/{user_id}"), calltest.PushText(`[{"calendar_date":"2026-02-02","steps":250,"source_type":"phone"}]`), &pushed)
		if pushed.Updated != 1 || pushed.Created != 0 {
			t.Errorf("%+v", pushed)
		}
		var got struct{ Activity []map[string]any }
		text := d.Get(d.Path("/v2/summary/activity/{user_id}?start_date=2026-02-01&end_date=2026-02-02"), &got)
		if len(got.Activity) != 2 || got.Activity[0]["calories_active"] != 12.5 || got.Activity[1]["steps"] != 250.0 ||
			got.Activity[0]["source"].(map[string]any)["type"] != "phone" || got.Activity[0]["date"] != "2026-02-01T00:00:00+00:00" {
			t.Errorf("%s", text)
		}
		for query, n := range map[string]int{
			"start_date=2026-02-02": 1, "start_date=2026-02-01T10:00:00Z&end_date=2026-02-01": 1, "start_date=2026-02-03": 0,
			"start_date=2026-02-01&provider=fitbit": 0, "start_date=2026-02-01&provider=apple_health_kit": 2,
		} {
			d.Get(d.Path("/v2/summary/activity/{user_id}?"+query), &got)
			if len(got.Activity) != n {
				t.Errorf("%s: %d summaries, want %d", query, len(got.Activity), n)
			}
		}
	})
}

// An answer may contain more summaries than one read of the database. They are in order,
// each once. A too large answer is refused.
func TestManySummariesInOneAnswer(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var rows []string
		for i := range 450 {
			day := civil.MustParse("2025-01-01").AddDays(i / 3) // three sources of a day
			rows = append(rows, fmt.Sprintf(`{"calendar_date":"%s","weight":%d,"source_type":"scale","source_app_id":"com.example.app%d"}`, day, 40+i/3, i%3))
		}
		path := d.Path("/v2/summary/body/{user_id}")
		for some := range slices.Chunk(rows, 150) {
			var pushed pushBody
			if d.Post(path, calltest.PushText("["+strings.Join(some, ",")+"]"), &pushed); pushed.Created != len(some) {
				t.Fatalf("%+v", pushed)
			}
		}
		var got struct {
			Body []struct {
				ID  string     `json:"id"`
				Day civil.Date `json:"calendar_date"`
			}
		}
		text := d.Get(path+"?start_date=2025-01-01", &got)
		seen := map[string]bool{}
		for i, b := range got.Body {
			if seen[b.ID] = true; b.Day != civil.MustParse("2025-01-01").AddDays(i/3) {
				t.Fatalf("%d. is of %v", i, b.Day)
			}
		}
		if len(got.Body) != 450 || len(seen) != 450 {
			t.Errorf("%d summaries, %d different ones", len(got.Body), len(seen))
		}
		d.API = newAPIOf(d.DB, func(h *Handlers) { h.maxSummaryBytes = len(text) / 2 })
		if w := d.Do(http.MethodGet, path+"?start_date=2025-01-01", ""); w.Code != 422 || !strings.Contains(w.Body.String(), `["query","start_date"]`) {
			t.Errorf("%d %.200s", w.Code, w.Body)
		}
	})
}

// A time in start_date or end_date selects its calendar date, in the offset of that time.
func TestInstantsNameTheirDays(t *testing.T) {
	for _, c := range []struct{ start, end, first, last string }{
		{"2026-03-01", "2026-03-02", "2026-03-01", "2026-03-02"},
		{"2026-03-01", "", "2026-03-01", "9999-12-31"},
		{"2026-03-01T23:00:00-05:00", "2026-03-01", "2026-03-01", "2026-03-01"},
		{"2026-03-01T01:00:00Z", "2026-03-01T01:00:00Z", "2026-03-01", "2026-03-01"},
		{"2026-03-01T23:00:00Z", "2026-03-01T01:00:00Z", "", ""},
		{"2026-03-02T01:00:00+02:00", "2026-03-01", "", ""},
		{"2026-03-02", "2026-03-01", "", ""},
	} {
		first, last, err := api.ParseDays(c.start, c.end)
		if refused := c.first == ""; refused != (err != nil) || !refused && (first != c.first || last != c.last) {
			t.Errorf("%s to %s gives %s to %s, %v", c.start, c.end, first, last, err)
		}
	}
}

func TestEveryReadHasItsKey(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		for name, key := range map[string]string{
			"activity": "activity", "body": "body", "sleep": "sleep", "sleep_cycle": "sleep_cycle", "workouts": "workouts", "meal": "meals",
			"menstrual_cycle": "menstrual_cycle", "electrocardiogram": "electrocardiogram",
		} {
			var got map[string][]any
			d.Get(d.Path("/v2/summary/"+name+"/{user_id}?start_date=2026-02-01"), &got)
			if list, ok := got[key]; !ok || list == nil || len(got) != 1 {
				t.Errorf("%s answers %v", name, got)
			}
		}
	})
}

func TestProfileIsOneObject(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var pushed pushBody
		d.Post(d.Path("/v2/summary/profile/{user_id}"), calltest.PushText(`[{"height":178,"birth_date":"1984-12-10"}]`), &pushed)
		var got map[string]any
		d.Get(d.Path("/v2/summary/profile/{user_id}"), &got)
		if got["height"] != 178.0 || got["birth_date"] != "1984-12-10" || got["gender"] != nil || got["user_id"] != d.User.ID.String() {
			t.Errorf("%v", got)
		}
		if w := d.Do("GET", d.Path("/v2/summary/profile/{user_id}?provider=fitbit"), ""); w.Code != 404 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func TestStreamsOfSessions(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var pushed pushBody
		d.Post(d.Path("/v2/summary/sleep/{user_id}"), calltest.PushText(`[{"bedtime_start":"2026-01-31T23:59:00Z","bedtime_stop":"2026-02-01T00:01:30Z",
			"duration":150,"source_type":"watch","timezone_offset":3600}]`), &pushed)
		d.Post(d.Path("/v2/timeseries/{user_id}/heartrate"), calltest.PushText(calltest.Heartbeats(5)), &pushed)
		var read struct{ Sleep []map[string]any }
		d.Get(d.Path("/v2/summary/sleep/{user_id}?start_date=2026-02-01"), &read)
		if len(read.Sleep) != 1 {
			t.Fatalf("%+v", read)
		}
		sleep := read.Sleep[0]["id"].(string)
		d.Post(d.Path("/v2/summary/sleep_cycle/{user_id}"), calltest.PushText(`[{"sleep_id":"`+sleep+`","session_start":"2026-01-31T23:59:00Z","session_end":"2026-02-01T00:01:30Z",
			"stage_start_offset_second":[0,60],"stage_end_offset_second":[60,150],"stage_type":[2,1],"source_type":"watch"}]`), &pushed)
		var got sleepStreamBody
		d.Get("/v2/timeseries/sleep/"+sleep+"/stream", &got)
		if len(got.HeartRate) != 2 || len(got.Hypnogram) != 2 || got.HRV == nil || got.Hypnogram[1].Value != 1 {
			t.Errorf("%+v", got)
		}
		var hypnogram groupsBody
		d.Get(d.Path("/v2/timeseries/{user_id}/hypnogram/grouped?start_date=2026-02-01"), &hypnogram)
		if groups := hypnogram.Groups["apple_health_kit"]; len(groups) != 1 || len(groups[0].Data) != 1 || groups[0].Data[0].Unit != "stage" {
			t.Errorf("%+v", hypnogram)
		}

		d.Post(d.Path("/v2/summary/workouts/{user_id}"), calltest.PushText(`[{"time_start":"2026-02-01T10:00:00Z","time_end":"2026-02-01T11:00:00Z"}]`), &pushed)
		var workouts struct{ Workouts []map[string]any }
		d.Get(d.Path("/v2/summary/workouts/{user_id}?start_date=2026-02-01"), &workouts)
		var stream map[string][]any
		workout := workouts.Workouts[0]["id"].(string)
		d.Get("/v2/timeseries/workouts/"+workout+"/stream", &stream)
		if len(stream) != 11 || stream["time"] == nil || len(stream["time"]) != 0 {
			t.Errorf("%v", stream)
		}

		own := d.SignedIn()
		other := d
		other.User = userstest.New(d.T, d.DB, d.User.Team, users.NewUser{})
		phone := other.SignedIn()
		for _, path := range []string{"/v2/timeseries/workouts/" + workout + "/stream", "/v2/timeseries/sleep/" + sleep + "/stream"} {
			d.Status(http.StatusOK, d.SendWithToken(own.AccessToken, "GET", path, ""))
			d.Status(http.StatusNotFound, d.SendWithToken(phone.AccessToken, "GET", path, ""))
		}

		foreign := d
		foreign.Key = d.NewKey(otherTeam(d))
		for _, path := range []string{"/v2/timeseries/workouts/" + workout + "/stream", "/v2/timeseries/sleep/" + sleep + "/stream"} {
			if w := foreign.Do("GET", path, ""); w.Code != 404 || strings.Contains(w.Body.String(), workout) {
				t.Errorf("another team: %d %s", w.Code, w.Body)
			}
		}
	})
}

// TestDocumentedFieldsAreServed compares the schemas of summaries with a complete answer.
func TestDocumentedFieldsAreServed(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		paths := d.API.OpenAPI().Paths
		for _, document := range wearables.Documents() {
			if document.Key == "" {
				continue
			}
			op := paths["/v2/summary/"+document.Name+"/{user_id}"].Get
			item := op.Responses["200"].Content["application/json"].Schema.Properties[document.Key].Items
			s := wearables.Summary{Resource: document.Name, Key: "k", Date: civilDay("2026-02-01"), Body: json.RawMessage(`{}`)}
			if document.Start != "" {
				s.Start = s.Date.In(time.UTC)
				s.End = s.Start.Add(time.Hour)
			}
			ctx := store.WithTeam(t.Context(), d.Team.ID.UUID())
			if _, err := d.ingester().Ingest(ctx, d.User, wearables.Batch{Provider: "apple_health_kit", Summaries: []wearables.Summary{s}}); err != nil {
				t.Fatal(err)
			}
			var got map[string][]map[string]any
			d.Get(d.Path("/v2/summary/"+document.Name+"/{user_id}?start_date=2026-02-01"), &got)
			if len(got[document.Key]) != 1 {
				t.Fatalf("%s: %v", document.Name, got)
			}
			for name := range got[document.Key][0] {
				if item.Properties[name] == nil || !slices.Contains(item.Required, name) {
					t.Errorf("%s.%s is served and not documented", document.Name, name)
				}
			}
			delete(item.Properties, "duplicate_of") // of merged reads that explain
			if len(item.Properties) != len(got[document.Key][0]) {
				t.Errorf("%s: %d fields are documented and %d served", document.Name, len(item.Properties), len(got[document.Key][0]))
			}
		}
	})
}

func otherTeam(d userCaller) teams.Team { return userstest.Team(d.T, d.DB) }

func civilDay(text string) civil.Date { return civil.MustParse(text) }

// leastValues contains the fields that a summary of a document needs.
var leastValues = map[string]map[string]any{
	"activity": {"calendar_date": "2026-02-01"}, "body": {"calendar_date": "2026-02-01"}, "profile": {},
	"sleep":           {"bedtime_start": "2026-02-01T00:00:00Z", "bedtime_stop": "2026-02-01T07:00:00Z"},
	"sleep_cycle":     {"session_start": "2026-02-01T00:00:00Z", "session_end": "2026-02-01T07:00:00Z"},
	"workouts":        {"time_start": "2026-02-01T10:00:00Z", "time_end": "2026-02-01T11:00:00Z"},
	"meal":            {"timestamp": "2026-02-01T12:00:00Z"},
	"menstrual_cycle": {"period_start": "2026-02-01"}, "electrocardiogram": {"session_start": "2026-02-01T10:00:00Z", "session_end": "2026-02-01T10:01:00Z"},
}

// stages are fields that a push must contain together.
var stages = map[string]any{"stage_start_offset_second": []int{0}, "stage_end_offset_second": []int{60}, "stage_type": []int{2}}

// sentValue returns a value that the schema and all bounds of a field allow.
func sentValue(field string, s *huma.Schema) any {
	switch {
	case len(s.Enum) > 1 && s.Enum[1] != nil:
		return s.Enum[1]
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Format == "date":
		return "2026-02-02"
	case s.Format == "date-time":
		return "2026-02-01T13:00:00Z"
	case s.Format == "uuid":
		return "0195c0a8-0000-7000-8000-000000000001"
	case s.Type == "array":
		return slices.Repeat([]any{sentValue(field, s.Items)}, 6)
	case s.Type == "object":
		all := map[string]any{}
		for name, inner := range s.Properties {
			all[name] = sentValue(name, inner)
		}
		if inner, ok := s.AdditionalProperties.(*huma.Schema); ok {
			all["one"] = sentValue(field, inner)
		}
		return all
	case s.Type == "string":
		return "UTC"
	case s.Type == "boolean":
		return true
	case field == "value": // °C, among others
		return 36
	case strings.Contains(field, "hr") || strings.Contains(field, "bpm") || strings.Contains(field, "heart_rate") || field == "height":
		return 60
	}
	return 17
}

// pushedItem returns the schema of a summary in a push. readItem returns the one in a
// read.
func pushedItem(d userCaller, name string) *huma.Schema {
	op := d.API.OpenAPI().Paths["/v2/summary/"+name+"/{user_id}"].Post
	return op.RequestBody.Content["application/json"].Schema.Properties["data"].Items
}

func readItem(d userCaller, of *wearables.Document) *huma.Schema {
	schema := d.API.OpenAPI().Paths["/v2/summary/"+of.Name+"/{user_id}"].Get.Responses["200"].Content["application/json"].Schema
	if of.Name == "profile" {
		return schema
	}
	return schema.Properties[of.Key].Items
}

// reads pushes a summary for a new user and reads it.
func (d userCaller) reads(of *wearables.Document, fields map[string]any) map[string]any {
	d.T.Helper()
	d.User = userstest.New(d.T, d.DB, d.Team.ID, users.NewUser{})
	source, _ := fields["source"].(map[string]any)
	if fields["source_device_id"] != nil || source != nil {
		var device struct{ ID string }
		d.Post(d.Path("/v2/user/{user_id}/device"), `{"provider":"apple_health_kit","source_type":"watch","device_manufacturer":"Example","device_model":"One"}`, &device)
		if source != nil {
			source["device_id"] = device.ID
		} else {
			fields["source_device_id"] = device.ID
		}
	}
	raw, err := json.Marshal([]any{fields})
	if err != nil {
		d.T.Fatal(err)
	}
	var pushed pushBody
	d.Post(d.Path("/v2/summary/"+of.Name+"/{user_id}"), calltest.PushText(string(raw)), &pushed)
	if pushed.Created != 1 || len(pushed.Rejected) > 0 {
		d.T.Errorf("%s: %s: %+v", of.Name, raw, pushed)
		return nil
	}
	if of.Name == "profile" {
		var one map[string]any
		d.Get(d.Path("/v2/summary/profile/{user_id}"), &one)
		return one
	}
	var all map[string][]map[string]any
	d.Get(d.Path("/v2/summary/"+of.Name+"/{user_id}?start_date=2026-01-01"), &all)
	return all[of.Key][0]
}

// Every field that the OpenAPI document lists for a push is accepted and read back.
// Fields that only a read has are not.
func TestDocumentedFieldsAreAccepted(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		for name, needed := range leastValues {
			of, _ := wearables.DocumentNamed(name)
			pushed, read := pushedItem(d, name), readItem(d, of)
			base := map[string]any{}
			if of.Dated {
				base = d.reads(of, maps.Clone(needed))
			}
			for field, schema := range pushed.Properties {
				body := maps.Clone(needed)
				if body[field] != nil {
					continue
				}
				if body[field] = sentValue(field, schema); stages[field] != nil {
					maps.Copy(body, stages)
				}
				if name == "profile" && strings.Contains(field, "source") || field == "product_type" {
					continue // see below
				}
				got := d.reads(of, body)
				if read.Properties[field] == nil {
					if reflect.DeepEqual(got["source"], base["source"]) && field != "timezone_offset" {
						t.Errorf("%s.%s is documented and not taken", name, field)
					}
					continue
				}
				if field != "source" && asJSON(got[field]) != asJSON(body[field]) && (base[field] == nil || reflect.DeepEqual(got[field], base[field])) {
					t.Errorf("%s.%s: %v was sent and %v is read", name, field, body[field], got[field])
				}
			}
			for field, schema := range read.Properties {
				if pushed.Properties[field] != nil || schema.Ref != "" || schema.Type == "null" || !of.Dated {
					continue
				}
				body := maps.Clone(needed)
				if body[field] = sentValue(field, schema); schema.Format == "date-time" {
					body[field] = "2020-05-05T05:05:05Z"
				}
				if got := d.reads(of, body); strings.TrimSuffix(asJSON(got[field]), `+00:00"`) == strings.TrimSuffix(asJSON(body[field]), `Z"`) {
					t.Errorf("%s.%s is taken and not documented", name, field)
				}
			}
		}
	})
}

func asJSON(v any) string {
	raw, _ := json.Marshal(v)
	return string(raw)
}

// A summary without a required field is refused. A summary with only the required fields
// is accepted.
func TestRequiredFieldsOfSummaries(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		if len(leastValues) < len(wearables.Documents())-1 {
			t.Errorf("%d documents of %d", len(leastValues), len(wearables.Documents()))
		}
		for name, fields := range leastValues {
			item := pushedItem(d, name)
			needed := slices.Clone(item.Required)
			slices.Sort(needed)
			if !slices.Equal(needed, slices.Sorted(maps.Keys(fields))) {
				t.Errorf("%s requires %v", name, needed)
			}
			for _, field := range needed {
				if item.Properties[field].Nullable {
					t.Errorf("%s.%s may be null", name, field)
				}
				body := maps.Clone(fields)
				delete(body, field)
				w := d.Do("POST", d.Path("/v2/summary/"+name+"/{user_id}"), calltest.PushText(fmt.Sprintf("[%s]", asJSON(body))))
				if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `0,"`+field+`"]`) {
					t.Errorf("%s without %s: %d %s", name, field, w.Code, w.Body)
				}
			}
			if item.Properties["source_type"] == nil || !slices.Contains(item.Properties["source_type"].Enum, any("chest_strap")) {
				t.Errorf("%s has no source_type", name)
			}
		}
		of, _ := wearables.DocumentNamed("activity")
		if got := d.reads(of, map[string]any{"calendar_date": "2026-02-01", "product_type": "Watch7,1"}); got["source"].(map[string]any)["type"] != "watch" {
			t.Errorf("%v", got["source"])
		}
	})
}
