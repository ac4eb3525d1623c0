package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/civil"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
)

func TestPushedSummariesAreReadBack(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		var pushed pushBody
		d.post(d.path("/v2/summary/activity/{user_id}"), pushText(`[
			{"calendarDate":"2026-02-01","steps":100,"caloriesActive":12.5,"somethingNew":[1],"source_type":"phone"},
			{"calendar_date":"2026-02-02","steps":200,"source":{"type":"phone","app_id":null}}]`), &pushed)
		if pushed.Created != 2 {
			t.Errorf("%+v", pushed)
		}
		d.post(d.path("/v2/summary/activity/{user_id}"), pushText(`[{"calendar_date":"2026-02-02","steps":250,"source_type":"phone"}]`), &pushed)
		if pushed.Updated != 1 || pushed.Created != 0 {
			t.Errorf("%+v", pushed)
		}
		var got struct{ Activity []map[string]any }
		text := d.get(d.path("/v2/summary/activity/{user_id}?start_date=2026-02-01&end_date=2026-02-02"), &got)
		if len(got.Activity) != 2 || got.Activity[0]["calories_active"] != 12.5 || got.Activity[1]["steps"] != 250.0 ||
			got.Activity[0]["source"].(map[string]any)["type"] != "phone" || got.Activity[0]["date"] != "2026-02-01T00:00:00+00:00" {
			t.Errorf("%s", text)
		}
		for query, n := range map[string]int{
			"start_date=2026-02-02": 1, "start_date=2026-02-01T10:00:00Z&end_date=2026-02-01": 1, "start_date=2026-02-03": 0,
			"start_date=2026-02-01&provider=fitbit": 0, "start_date=2026-02-01&provider=apple_health_kit": 2,
		} {
			d.get(d.path("/v2/summary/activity/{user_id}?"+query), &got)
			if len(got.Activity) != n {
				t.Errorf("%s: %d summaries, want %d", query, len(got.Activity), n)
			}
		}
	})
}

// More summaries than are read at once come in one answer, in order and each
// once; what is too large for one is refused.
func TestManySummariesInOneAnswer(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		var rows []string
		for i := range 450 {
			day := civil.MustParse("2025-01-01").AddDays(i / 3) // three sources of a day
			rows = append(rows, fmt.Sprintf(`{"calendar_date":"%s","weight":%d,"source_type":"scale","source_app_id":"com.example.app%d"}`, day, 40+i/3, i%3))
		}
		path := d.path("/v2/summary/body/{user_id}")
		for some := range slices.Chunk(rows, 150) {
			var pushed pushBody
			if d.post(path, pushText("["+strings.Join(some, ",")+"]"), &pushed); pushed.Created != len(some) {
				t.Fatalf("%+v", pushed)
			}
		}
		var got struct {
			Body []struct {
				ID  string     `json:"id"`
				Day civil.Date `json:"calendar_date"`
			}
		}
		text := d.get(path+"?start_date=2025-01-01", &got)
		seen := map[string]bool{}
		for i, b := range got.Body {
			if seen[b.ID] = true; b.Day != civil.MustParse("2025-01-01").AddDays(i/3) {
				t.Fatalf("%d. is of %v", i, b.Day)
			}
		}
		if len(got.Body) != 450 || len(seen) != 450 {
			t.Errorf("%d summaries, %d different ones", len(got.Body), len(seen))
		}
		before := mostSummaries
		defer func() { mostSummaries = before }()
		mostSummaries = len(text) / 2
		if w := d.do(http.MethodGet, path+"?start_date=2025-01-01", ""); w.Code != 422 || !strings.Contains(w.Body.String(), `["query","start_date"]`) {
			t.Errorf("%d %.200s", w.Code, w.Body)
		}
	})
}

// The calendar dates of instants bound a read by days, each as its own offset
// has it.
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
		first, last, err := daysBetween(c.start, c.end)
		if refused := c.first == ""; refused != (err != nil) || !refused && (first != c.first || last != c.last) {
			t.Errorf("%s to %s gives %s to %s, %v", c.start, c.end, first, last, err)
		}
	}
}

func TestEveryReadHasItsKey(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		for name, key := range map[string]string{
			"activity": "activity", "body": "body", "sleep": "sleep", "sleep_cycle": "sleep_cycle", "workouts": "workouts", "meal": "meals",
			"menstrual_cycle": "menstrual_cycle", "electrocardiogram": "electrocardiogram",
		} {
			var got map[string][]any
			d.get(d.path("/v2/summary/"+name+"/{user_id}?start_date=2026-02-01"), &got)
			if list, ok := got[key]; !ok || list == nil || len(got) != 1 {
				t.Errorf("%s answers %v", name, got)
			}
		}
	})
}

func TestProfileIsOneObject(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		var pushed pushBody
		d.post(d.path("/v2/summary/profile/{user_id}"), pushText(`[{"height":178,"birth_date":"1984-12-10"}]`), &pushed)
		var got map[string]any
		d.get(d.path("/v2/summary/profile/{user_id}"), &got)
		if got["height"] != 178.0 || got["birth_date"] != "1984-12-10" || got["gender"] != nil || got["user_id"] != d.user.ID.String() {
			t.Errorf("%v", got)
		}
		if w := d.do("GET", d.path("/v2/summary/profile/{user_id}?provider=fitbit"), ""); w.Code != 404 {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

func TestStreamsOfSessions(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		var pushed pushBody
		d.post(d.path("/v2/summary/sleep/{user_id}"), pushText(`[{"bedtime_start":"2026-01-31T23:59:00Z","bedtime_stop":"2026-02-01T00:01:30Z",
			"duration":150,"source_type":"watch","timezone_offset":3600}]`), &pushed)
		d.post(d.path("/v2/timeseries/{user_id}/heartrate"), pushText(heartbeats(5)), &pushed)
		var read struct{ Sleep []map[string]any }
		d.get(d.path("/v2/summary/sleep/{user_id}?start_date=2026-02-01"), &read)
		if len(read.Sleep) != 1 {
			t.Fatalf("%+v", read)
		}
		sleep := read.Sleep[0]["id"].(string)
		d.post(d.path("/v2/summary/sleep_cycle/{user_id}"), pushText(`[{"sleep_id":"`+sleep+`","session_start":"2026-01-31T23:59:00Z","session_end":"2026-02-01T00:01:30Z",
			"stage_start_offset_second":[0,60],"stage_end_offset_second":[60,150],"stage_type":[2,1],"source_type":"watch"}]`), &pushed)
		var got sleepStreamBody
		d.get("/v2/timeseries/sleep/"+sleep+"/stream", &got)
		if len(got.HeartRate) != 2 || len(got.Hypnogram) != 2 || got.HRV == nil || got.Hypnogram[1].Value != 1 {
			t.Errorf("%+v", got)
		}
		var hypnogram groupsBody
		d.get(d.path("/v2/timeseries/{user_id}/hypnogram/grouped?start_date=2026-02-01"), &hypnogram)
		if groups := hypnogram.Groups["apple_health_kit"]; len(groups) != 1 || len(groups[0].Data) != 1 || groups[0].Data[0].Unit != "stage" {
			t.Errorf("%+v", hypnogram)
		}

		d.post(d.path("/v2/summary/workouts/{user_id}"), pushText(`[{"time_start":"2026-02-01T10:00:00Z","time_end":"2026-02-01T11:00:00Z"}]`), &pushed)
		var workouts struct{ Workouts []map[string]any }
		d.get(d.path("/v2/summary/workouts/{user_id}?start_date=2026-02-01"), &workouts)
		var stream map[string][]any
		workout := workouts.Workouts[0]["id"].(string)
		d.get("/v2/timeseries/workouts/"+workout+"/stream", &stream)
		if len(stream) != 11 || stream["time"] == nil || len(stream["time"]) != 0 {
			t.Errorf("%v", stream)
		}

		own := d.signedIn()
		other := d
		other.user = userstest.New(d.t, d.db, d.user.Team, users.NewUser{})
		phone := other.signedIn()
		for _, path := range []string{"/v2/timeseries/workouts/" + workout + "/stream", "/v2/timeseries/sleep/" + sleep + "/stream"} {
			d.status(http.StatusOK, d.as(own.AccessToken, "GET", path, ""))
			d.status(http.StatusNotFound, d.as(phone.AccessToken, "GET", path, ""))
		}

		foreign := d
		foreign.key = d.newKey(otherTeam(d))
		for _, path := range []string{"/v2/timeseries/workouts/" + workout + "/stream", "/v2/timeseries/sleep/" + sleep + "/stream"} {
			if w := foreign.do("GET", path, ""); w.Code != 404 || strings.Contains(w.Body.String(), workout) {
				t.Errorf("another team: %d %s", w.Code, w.Body)
			}
		}
	})
}

// TestDocumentedFieldsAreServed holds the schemas of summaries against what a
// full read answers.
func TestDocumentedFieldsAreServed(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		paths := d.api.OpenAPI().Paths
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
			ctx := store.WithTeam(t.Context(), d.team.ID.UUID())
			if _, err := d.api.Wearables.Ingest(ctx, d.user, wearables.Batch{Provider: "apple_health_kit", Summaries: []wearables.Summary{s}}); err != nil {
				t.Fatal(err)
			}
			var got map[string][]map[string]any
			d.get(d.path("/v2/summary/"+document.Name+"/{user_id}?start_date=2026-02-01"), &got)
			if len(got[document.Key]) != 1 {
				t.Fatalf("%s: %v", document.Name, got)
			}
			for name := range got[document.Key][0] {
				if item.Properties[name] == nil || !slices.Contains(item.Required, name) {
					t.Errorf("%s.%s is served and not documented", document.Name, name)
				}
			}
			if len(item.Properties) != len(got[document.Key][0]) {
				t.Errorf("%s: %d fields are documented and %d served", document.Name, len(item.Properties), len(got[document.Key][0]))
			}
		}
	})
}

func otherTeam(d dataDoor) teams.Team { return userstest.Team(d.t, d.db) }

func civilDay(text string) civil.Date { return civil.MustParse(text) }
