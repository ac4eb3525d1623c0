package wearables

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"hale/internal/api/calltest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables"
	"hale/internal/wearables/providers"
	"hale/internal/wearables/storage"
)

func TestPushedSamplesAreReadBack(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		push := d.Path("/v2/timeseries/{user_id}/heartrate")
		var pushed pushBody
		d.Post(push, calltest.PushText(calltest.Heartbeats(3)), &pushed)
		if pushed.Created != 3 || !pushed.Success || len(pushed.Rejected) != 0 {
			t.Errorf("%+v", pushed)
		}
		d.Post(push+"/", calltest.PushText(`[{"timestamp":"2026-02-01T00:00:00Z","timezone_offset":3600,"value":99,"source":{"type":"watch","app_id":"com.example"}},
			{"timestamp":"2026-02-01T00:05:00Z","value":7},{"timestamp":"2026-02-01T00:06:00Z","value":1,"unit":"stone"},
			{"timestamp":"2026-02-01T00:07:00Z","value":8}]`), &pushed)
		want := `{"success":true,"created":0,"updated":1,"unchanged":0,"rejected":[{"reason":"implausible_value","count":2,"first":1},{"reason":"unknown_unit","count":1,"first":2}]}`
		if got, _ := json.Marshal(pushed); string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}

		var groups groupsBody
		text := d.Get(d.Path("/v2/timeseries/{user_id}/heartrate/grouped?start_date=2026-02-01&end_date=2026-02-01"), &groups)
		wantText := `{"groups":{"apple_health_kit":[{"source":{"provider":"apple_health_kit","type":"watch","app_id":"com.example","device_id":null,` +
			`"sport":null,"workout_id":null,"name":"` + providers.FindOrName("apple_health_kit").Name + `","slug":"apple_health_kit","logo":"/static/providers/apple_health_kit.svg"},` +
			`"data":[{"timestamp":"2026-02-01T00:00:00+00:00","timezone_offset":3600,"type":null,"unit":"bpm","value":99},` +
			`{"timestamp":"2026-02-01T00:01:00+00:00","timezone_offset":3600,"type":null,"unit":"bpm","value":61},` +
			`{"timestamp":"2026-02-01T00:02:00+00:00","timezone_offset":3600,"type":null,"unit":"bpm","value":62}]}]},"next_cursor":null,"next":null}`
		if strings.TrimSpace(text) != wantText {
			t.Errorf("got  %s\nwant %s", text, wantText)
		}
		for query, n := range map[string]int{
			"start_date=2026-02-02":                                                0,
			"start_date=2026-01-01&end_date=2026-01-31":                            0,
			"start_date=2026-02-01T00:01:00Z&end_date=2026-02-01T01:01:00%2B01:00": 1,
			"start_date=2026-02-01&provider=fitbit":                                0,
			"start_date=2026-02-01&provider=apple_health_kit&end_date=2026-02-01":  3,
			"start_date=2026-02-01T00:02:00&end_date=2026-03-01&provider=&cursor=": 1,
			"start_date=2026-02-01T00:00:00.000001Z&end_date=2026-02-01T00:02:00Z": 2,
		} {
			var got groupsBody
			d.Get(d.Path("/v2/timeseries/{user_id}/heartrate/grouped?"+query), &got)
			total := 0
			for _, all := range got.Groups {
				for _, g := range all {
					total += len(g.Data)
				}
			}
			if total != n {
				t.Errorf("%s: %d samples, want %d", query, total, n)
			}
		}
	})
}

func TestPushConnectsAndAnnouncesTheEndOfHistory(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		push := d.Path("/v2/timeseries/{user_id}/body_weight")
		body := strings.Replace(calltest.PushText(`[{"timestamp":"2026-02-01T00:00:00Z","value":154.3235835,"unit":"lb"}]`,
			`,"is_final_chunk":true,"start_date":"2026-01-01","end_date":"2026-02-02"`), "daily", "historical", 1)
		var pushed pushBody
		for range 2 {
			d.Post(push, body, &pushed)
		}
		if got := d.EventTypes(); strings.Join(got, " ") != "provider.connection.created historical.data.weight.created" {
			t.Errorf("events %v", got)
		}
		var groups groupsBody
		d.Get(d.Path("/v2/timeseries/{user_id}/body_weight/grouped?start_date=2026-02-01"), &groups)
		if v := groups.Groups["apple_health_kit"][0].Data[0]; *v.Value < 69.99 || *v.Value > 70.01 || v.Unit != "kg" {
			t.Errorf("stored %+v", v)
		}
	})
}

func TestPagesOfSamples(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		samples := wearables.Samples{Resource: "heartrate", Source: wearables.Source{Type: "watch"}}
		const n = storage.PageSamples + 10_000
		for i := range n {
			samples.Time = append(samples.Time, time.Date(2026, 1, 1, 0, 0, 30*i, 0, time.UTC).UnixMicro())
			samples.Value = append(samples.Value, float64(60+i%40))
		}
		_, err := d.ingester().Ingest(store.WithTeam(t.Context(), d.Team.ID.UUID()), d.User, wearables.Batch{
			Provider: "apple_health_kit", Stage: wearables.Historical, Samples: []wearables.Samples{samples},
		})
		if err != nil {
			t.Fatal(err)
		}
		path := d.Path("/v2/timeseries/{user_id}/heartrate/grouped?start_date=2026-01-01")
		var first, second groupsBody
		d.Get(path, &first)
		if first.NextCursor == nil || first.Next == nil || len(first.Groups["apple_health_kit"][0].Data) != storage.PageSamples {
			t.Fatal("the first page is not full")
		}
		d.Get(path+"&next_cursor="+*first.NextCursor, &second)
		if got := len(second.Groups["apple_health_kit"][0].Data); got != n-storage.PageSamples || second.NextCursor != nil {
			t.Errorf("%d samples in the second page", got)
		}
		d.Get(path+"&cursor="+*first.NextCursor, &second)
		for _, bad := range []string{"x", (*first.NextCursor)[1:]} {
			if w := d.Do(http.MethodGet, path+"&next_cursor="+bad, ""); w.Code != 422 || !strings.Contains(w.Body.String(), "next_cursor") {
				t.Errorf("cursor %s: %d %s", bad, w.Code, w.Body)
			}
		}
		other := d.Path("/v2/timeseries/{user_id}/steps/grouped?start_date=2026-01-01&next_cursor=") + *first.NextCursor
		if w := d.Do(http.MethodGet, other, ""); w.Code != 422 {
			t.Errorf("a cursor of another resource: %d %s", w.Code, w.Body)
		}
	})
}

func TestWearableRefusals(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		foreign := userstest.New(t, d.DB, userstest.Team(t, d.DB).ID, users.NewUser{}).ID.String()
		const unknown = "11111111-1111-4111-8111-111111111111"
		ok := calltest.PushText(`[{"timestamp":"2026-02-01T00:00:00Z","value":60}]`)
		for _, c := range []struct {
			method, path, body string
			status             int
			says               string
		}{
			{"GET", "/v2/timeseries/{user_id}/mood/grouped?start_date=2026-01-01", "", 422, `"resource"`},
			{"GET", "/v2/timeseries/{user_id}/heartrate/grouped", "", 422, `"start_date"`},
			{"GET", "/v2/timeseries/{user_id}/heartrate/grouped?start_date=today", "", 422, `"start_date"`},
			{"GET", "/v2/timeseries/{user_id}/heartrate/grouped?start_date=2026-02-01&end_date=2026-01-31", "", 422, `"end_date"`},
			{"GET", "/v2/timeseries/" + unknown + "/heartrate/grouped?start_date=2026-01-01", "", 404, `"detail"`},
			{"GET", "/v2/timeseries/" + foreign + "/heartrate/grouped?start_date=2026-01-01", "", 404, `"detail"`},
			{"GET", "/v2/timeseries/me/heartrate/grouped?start_date=2026-01-01", "", 422, `"user_id"`},
			{"POST", "/v2/timeseries/{user_id}/mood", ok, 422, `"resource"`},
			{"POST", "/v2/timeseries/{user_id}/hypnogram", ok, 422, `"resource"`},
			{"POST", "/v2/timeseries/" + foreign + "/heartrate", ok, 404, `"detail"`},
			{"POST", "/v2/timeseries/{user_id}/heartrate", strings.Replace(ok, "apple_health_kit", "fitbit", 1), 422, `["body","provider"]`},
			{"POST", "/v2/timeseries/{user_id}/heartrate", strings.Replace(ok, "apple_health_kit", "nobody", 1), 422, `["body","provider"]`},
			{"POST", "/v2/timeseries/{user_id}/heartrate", calltest.PushText(`[{"timestamp":"2026-02-01T00:00:00Z","value":"60"}]`), 422, `["body","data",0,"value"]`},
			{"POST", "/v2/timeseries/{user_id}/heartrate", `{"stage":`, 422, `json_invalid`},
			{"POST", "/v2/timeseries/{user_id}/heartrate", ``, 422, `"detail"`},
			{"GET", "/v2/summary/activity/{user_id}", "", 422, `"start_date"`},
			{"GET", "/v2/summary/activity/{user_id}?start_date=2026-01-02&end_date=2026-01-01", "", 422, `"end_date"`},
			{"GET", "/v2/summary/activity/" + foreign + "?start_date=2026-01-01", "", 404, `"detail"`},
			{"GET", "/v2/summary/profile/{user_id}", "", 404, `No profile found`},
			{"GET", "/v2/summary/profile/" + foreign, "", 404, `"detail"`},
			{"GET", "/v2/summary/mood/{user_id}?start_date=2026-01-01", "", 404, `"detail"`},
			{"POST", "/v2/summary/activity/{user_id}", calltest.PushText(`[{"steps":7}]`), 422, `["body","data",0,"calendar_date"]`},
			{"POST", "/v2/summary/activity/{user_id}", calltest.PushText(`[{"calendar_date":"2026-02-01","steps":"7"}]`), 422, `["body","data",0,"steps"]`},
			{"POST", "/v2/summary/workouts/{user_id}", calltest.PushText(`[{"title":"x"}]`), 422, `["body","data",0,"time_start"]`},
			{"GET", "/v2/timeseries/workouts/" + unknown + "/stream", "", 404, `Workout not found`},
			{"GET", "/v2/timeseries/sleep/" + unknown + "/stream", "", 404, `Sleep not found`},
		} {
			w := d.Do(c.method, d.Path(c.path), c.body)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%s %s %.60s: %d %s, want %d and %s", c.method, c.path, c.body, w.Code, w.Body, c.status, c.says)
			}
		}
	})
}

func TestTooMuchAtOnce(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		one := `{"timestamp":"2026-02-01T00:00:00Z","value":60}`
		body := calltest.PushText("[" + strings.Repeat(one+",", 100_000) + one + "]")
		if w := d.Do("POST", d.Path("/v2/timeseries/{user_id}/heartrate"), body); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%d %.200s", w.Code, w.Body)
		}
		if w := d.Do("POST", d.Path("/v2/timeseries/{user_id}/heartrate"), calltest.PushText("[]", strings.Repeat(" ", 64<<20))); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%d %.200s", w.Code, w.Body)
		}
	})
}

// BenchmarkPushOne pushes one sample through the whole handler.
func BenchmarkPushOne(b *testing.B) {
	db := storetest.SQLite(b)
	team := userstest.Team(b, db)
	d := calltest.UserCaller{T: b, DB: db, Team: team, User: userstest.New(b, db, team.ID, users.NewUser{}), API: newAPI(db)}
	d.Key = d.NewKey(team)
	path := d.Path("/v2/timeseries/{user_id}/heartrate")
	for i := 0; b.Loop(); i++ {
		at := time.Date(2026, 2, 1, 0, 0, i%86_400, 0, time.UTC).Format(time.RFC3339)
		body := []byte(calltest.PushText(fmt.Sprintf(`[{"timestamp":%q,"value":%d}]`, at, 50+i%100)))
		r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
		r.Header.Set("x-service-api-key", d.Key)
		w := httptest.NewRecorder()
		d.API.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}

// Every series has an ungrouped read with the samples of the grouped one, in
// order of time.
func TestPlainSeriesHaveWhatTheGroupedHave(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		for _, r := range wearables.Resources() {
			if !r.Push {
				continue
			}
			value := fmt.Sprintf(`"value":%v`, max(r.Min, min(50, r.Max)))
			if r.Pair {
				value = `"systolic":120,"diastolic":80`
			}
			kind := ""
			if len(r.Types) > 0 {
				kind = `,"type":"` + r.Types[0] + `"`
			} else if r.AnyType {
				kind = `,"type":"lead_1"`
			}
			var pushed pushBody
			d.Post(d.Path("/v2/timeseries/{user_id}/"+r.Name), calltest.PushText(fmt.Sprintf(`[
				{"timestamp":"2026-02-01T00:10:00Z","end":"2026-02-01T00:11:00Z",%[1]s%[2]s,"source_type":"watch"},
				{"timestamp":"2026-02-01T00:05:00Z","end":"2026-02-01T00:06:00Z",%[1]s%[2]s,"source_type":"phone"},
				{"timestamp":"2026-02-01T00:00:00Z","end":"2026-02-01T00:01:00Z",%[1]s%[2]s,"source_type":"watch"}]`, value, kind)), &pushed)
			if pushed.Created != 3 {
				t.Errorf("%s: %+v", r.Name, pushed)
			}
			var plain []sampleBody
			d.Get(d.Path("/v2/timeseries/{user_id}/"+r.Name+"?start_date=2026-02-01&end_date=2026-02-01"), &plain)
			if len(plain) != 3 || !slices.IsSortedFunc(plain, byTime) {
				t.Errorf("%s: %+v", r.Name, plain)
			}
			var groups groupsBody
			d.Get(d.Path("/v2/timeseries/{user_id}/"+r.Name+"/grouped?start_date=2026-02-01"), &groups)
			var all []sampleBody
			for _, g := range groups.Groups["apple_health_kit"] {
				all = append(all, g.Data...)
			}
			slices.SortFunc(all, byTime)
			if !reflect.DeepEqual(all, plain) {
				t.Errorf("%s: plain %+v, grouped %+v", r.Name, plain, all)
			}
		}
	})
}

func byTime(a, b sampleBody) int { return time.Time(a.Timestamp).Compare(time.Time(b.Timestamp)) }

func TestPlainSeriesOnTheWire(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var pushed pushBody
		d.Post(d.Path("/v2/timeseries/{user_id}/cholesterol"), calltest.PushText(`[{"timestamp":"2026-02-01T08:00:00Z","value":2.5,"type":"cholesterol/ldl"},
			{"timestamp":"2026-02-01T08:00:00Z","value":1.5,"type":"cholesterol/hdl"}]`), &pushed)
		for _, c := range []struct{ path, want string }{
			{"cholesterol/ldl?start_date=2026-02-01", `[{"timestamp":"2026-02-01T08:00:00+00:00","timezone_offset":null,"type":"cholesterol/ldl","unit":"mmol/L","value":2.5}]`},
			{"cholesterol/hdl?start_date=2026-02-01&provider=apple_health_kit", `[{"timestamp":"2026-02-01T08:00:00+00:00","timezone_offset":null,"type":"cholesterol/hdl","unit":"mmol/L","value":1.5}]`},
			{"cholesterol/total?start_date=2026-02-01", `[]`},
			{"hypnogram?start_date=2026-02-01", `[]`},
			{"steps?start_date=2026-02-01", `[]`},
		} {
			var any []sampleBody
			if got := d.Get(d.Path("/v2/timeseries/{user_id}/"+c.path), &any); got != c.want {
				t.Errorf("%s: %s", c.path, got)
			}
		}
		for path, status := range map[string]int{
			"/v2/timeseries/{user_id}/steps":                                                              http.StatusUnprocessableEntity,
			"/v2/timeseries/{user_id}/moods?start_date=2026-02-01":                                        http.StatusUnprocessableEntity,
			"/v2/timeseries/019f0000-0000-7000-8000-000000000000/steps?start_date=2026-02-01":             http.StatusNotFound,
			"/v2/timeseries/019f0000-0000-7000-8000-000000000000/cholesterol/total?start_date=2026-02-01": http.StatusNotFound,
		} {
			if w := d.Do(http.MethodGet, d.Path(path), ""); w.Code != status {
				t.Errorf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	})
}

// Of two apps that send samples of the same key, the ungrouped series has the sample
// that was stored last. The grouped series has a group for each app.
func TestPlainSeriesHaveOneSampleOfEachKey(t *testing.T) {
	clock := storetest.NewClock(calltest.March)
	eachCallerAt(t, clock.Now, func(d userCaller) {
		clock.Set(calltest.March)
		push := func(app, kind string, value int, at string) {
			t.Helper()
			clock.Advance(time.Minute)
			var pushed pushBody
			d.Post(d.Path("/v2/timeseries/{user_id}/heartrate"), calltest.PushText(fmt.Sprintf(
				`[{"timestamp":"2026-02-01T08:%s:00Z","value":%d,"source_type":%q,"source_app_id":%q}]`, at, value, kind, app)), &pushed)
			if pushed.Created+pushed.Updated != 1 {
				t.Errorf("%s: %+v", app, pushed)
			}
		}
		plain := func(want ...float64) {
			t.Helper()
			var all []sampleBody
			d.Get(d.Path("/v2/timeseries/{user_id}/heartrate?start_date=2026-02-01"), &all)
			var got []float64
			for _, s := range all {
				got = append(got, *s.Value)
			}
			if !slices.Equal(got, want) {
				t.Errorf("ungrouped %v, want %v", got, want)
			}
		}
		push("com.first", "watch", 61, "00")
		push("com.second", "watch", 62, "00")
		plain(62)
		push("com.first", "watch", 63, "00")
		plain(63)
		push("com.second", "phone", 70, "00") // another source type
		push("com.second", "watch", 64, "05")
		plain(70, 63, 64) // a later sample at another time changes nothing at this one
		push("com.first", "watch", 65, "10")
		push("com.second", "watch", 66, "15")
		plain(70, 63, 64, 65, 66)
		push("com.second", "watch", 67, "00")
		push("com.first", "watch", 68, "20")
		plain(70, 67, 64, 65, 66, 68)
		var groups groupsBody
		d.Get(d.Path("/v2/timeseries/{user_id}/heartrate/grouped?start_date=2026-02-01"), &groups)
		got := map[string]int{}
		for _, g := range groups.Groups["apple_health_kit"] {
			got[g.Source.Type+" "+*g.Source.AppID] = len(g.Data)
		}
		if want := map[string]int{"watch com.first": 3, "watch com.second": 3, "phone com.second": 1}; !maps.Equal(got, want) {
			t.Errorf("groups %v, want %v", got, want)
		}
	})
}

// A sample with words and one without have the same key. Reads have the later one.
func TestTheLaterOfASampleWithAndWithoutWordsIsRead(t *testing.T) {
	clock := storetest.NewClock(calltest.March)
	eachCallerAt(t, clock.Now, func(d userCaller) {
		clock.Set(calltest.March)
		push := func(value float64, words string) {
			t.Helper()
			clock.Advance(time.Minute)
			var pushed pushBody
			d.Post(d.Path("/v2/timeseries/{user_id}/body_temperature"), calltest.PushText(fmt.Sprintf(
				`[{"timestamp":"2026-02-01T08:00:00Z","value":%v%s}]`, value, words)), &pushed)
			if pushed.Created+pushed.Updated != 1 {
				t.Errorf("%v: %+v", value, pushed)
			}
		}
		read := func(want ...string) {
			t.Helper()
			var plain []json.RawMessage
			var groups struct {
				Groups map[string][]struct{ Data []json.RawMessage }
			}
			d.Get(d.Path("/v2/timeseries/{user_id}/body_temperature?start_date=2026-02-01"), &plain)
			d.Get(d.Path("/v2/timeseries/{user_id}/body_temperature/grouped?start_date=2026-02-01"), &groups)
			grouped := groups.Groups["apple_health_kit"][0].Data
			for name, all := range map[string][]json.RawMessage{"plain": plain, "grouped": grouped} {
				var got []string
				for _, s := range all {
					var sample struct {
						Value    float64
						Location *string `json:"sensor_location"`
					}
					if err := json.Unmarshal(s, &sample); err != nil {
						t.Fatal(err)
					}
					text := fmt.Sprint(sample.Value)
					if sample.Location != nil {
						text += " " + *sample.Location
					}
					got = append(got, text)
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
		}
		push(36.1, "")
		push(36.2, `,"sensor_location":"ear"`)
		read("36.2 ear")
		push(36.3, "")
		read("36.3")
		push(36.4, `,"sensor_location":"ear"`)
		push(36.5, `,"sensor_location":"wrist"`)
		read("36.4 ear", "36.5 wrist")
		push(36.6, "")
		read("36.6")
	})
}

// An ungrouped read has no pages: it gives all of them at once.
func TestPlainSeriesReadOverPages(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		const n = storage.PageSamples + 5
		samples := wearables.Samples{Resource: "heartrate", Source: wearables.Source{Type: "watch"}}
		for i := range n {
			samples.Time = append(samples.Time, time.Date(2026, 1, 1, 0, 0, 30*i, 0, time.UTC).UnixMicro())
			samples.Value = append(samples.Value, float64(60+i%40))
		}
		_, err := d.ingester().Ingest(store.WithTeam(t.Context(), d.Team.ID.UUID()), d.User, wearables.Batch{
			Provider: "apple_health_kit", Stage: wearables.Historical, Samples: []wearables.Samples{samples},
		})
		if err != nil {
			t.Fatal(err)
		}
		var plain []sampleBody
		d.Get(d.Path("/v2/timeseries/{user_id}/heartrate?start_date=2026-01-01"), &plain)
		if len(plain) != n || !slices.IsSortedFunc(plain, byTime) {
			t.Errorf("%d samples", len(plain))
		}
	})
}

// Every operation for samples accepts the extra fields whose values are words,
// such as sensor_location. Every read of samples returns them. A word that a field does
// not allow rejects only its own sample, and the answer names the field.
func TestWordsOfSamplesAreReadBack(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		const head = `{"stage":"daily","provider":"apple_health_kit",`
		path := d.Path("/v2/timeseries/{user_id}/body_temperature")
		w := d.Do("POST", path, head+`"data":[{"timestamp":"2026-03-01T08:00:00Z","value":37,"sensor_location":"ear"},
			{"timestamp":"2026-03-01T09:00:00Z","value":36,"sensorLocation":"wrist"},{"timestamp":"2026-03-01T10:00:00Z","value":36.5,"sensor_location":null},
			{"timestamp":"2026-03-01T11:00:00Z","value":36.5,"sensor_location":"knee"}]}`)
		d.Status(http.StatusOK, w)
		if got, want := w.Body.String(), `"created":3,"updated":0,"unchanged":0,"rejected":[{"reason":"unknown_sensor_location","count":1,"first":3}]`; !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
		refused := d.Do("POST", path, head+`"data":[{"timestamp":"2026-03-01T08:00:00Z","value":37,"sensor_location":7}]}`)
		d.Status(http.StatusUnprocessableEntity, refused)
		if !strings.Contains(refused.Body.String(), `["body","data",0,"sensor_location"]`) {
			t.Error(refused.Body)
		}
		d.Status(http.StatusUnprocessableEntity, d.Do("POST", d.Path("/v2/timeseries/{user_id}/hypnogram"), head+`"data":[]}`))
		d.Status(http.StatusOK, d.Do("POST", d.Path("/v2/timeseries/{user_id}"), head+`"series":{"workout_duration":[
			{"timestamp":"2026-03-01T08:00:00Z","end":"2026-03-01T08:10:00Z","value":10,"intensity":"high"}]}}`))
		d.Status(http.StatusOK, d.Do("POST", d.Path("/v2/user/{user_id}/entries"), `{"data":[{"resource":"insulin_injection",
			"timestamp":"2026-03-01T08:00:00Z","value":4,"type":"rapid_acting","delivery_mode":"bolus","bolus_purpose":"meal"}]}`))
		for read, want := range map[string]string{
			"body_temperature/grouped": `"value":37,"sensor_location":"ear"}`, "body_temperature": `"value":36,"sensor_location":"wrist"}`,
			"body_temperature/merged": `"value":36.5,"sensor_location":null,`, "workout_duration/grouped": `"value":10,"intensity":"high"}`,
			"insulin_injection/grouped": `"value":4,"delivery_mode":"bolus","delivery_form":null,"bolus_purpose":"meal"}`,
		} {
			got := d.Do("GET", d.Path("/v2/timeseries/{user_id}/")+read+"?start_date=2026-03-01", "")
			if !strings.Contains(got.Body.String(), want) {
				t.Errorf("%s: %s has no %s", read, got.Body, want)
			}
		}
	})
}

// The document lists the words wherever samples are read or sent.
func TestTheDocumentHasTheWords(t *testing.T) {
	all := newAPI(nil).OpenAPI().Components.Schemas.Map()
	for _, name := range []string{"SampleBody", "PieceBody", "PushedSample", "PushedEntry"} {
		s := all[name]
		if s == nil || s.Properties["bolus_purpose"] == nil || len(s.Properties["bolus_purpose"].Enum) != 5 || !s.Properties["bolus_purpose"].Nullable {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// The document has of each resource what the table says, and offers where
// samples are sent the resources of which they are taken.
func TestTheDocumentHasTheTable(t *testing.T) {
	doc := newAPI(nil).OpenAPI()
	read, sent := doc.Components.Schemas.Map()["SampleBody"].Description, doc.Components.Schemas.Map()["PushedSample"].Description
	series := doc.Paths["/v2/timeseries/{user_id}/{resource}"]
	for _, r := range wearables.Resources() {
		row := fmt.Sprintf("\n| %s | %s | %s | %s | %s | %s |\n", r.Name, r.Unit, r.Shape(), r.Range(), r.TypeWords(), r.FieldWords())
		if strings.Contains(read, row) == r.Text || strings.Contains(sent, row) != r.Push {
			t.Errorf("no row of %s, or one too many", r.Name)
		}
		for _, offer := range []struct {
			op   *huma.Operation
			want bool
		}{{series.Get, !r.Text}, {doc.Paths["/v2/timeseries/{user_id}/{resource}/grouped"].Get, !r.Text}, {series.Post, r.Push}} {
			if names := resourceParameter(offer.op).Enum; slices.Contains(names, any(r.Name)) != offer.want {
				t.Errorf("%s offers %s: %v", offer.op.OperationID, r.Name, !offer.want)
			}
		}
	}
}

func resourceParameter(op *huma.Operation) *huma.Schema {
	for _, p := range op.Parameters {
		if p.Name == "resource" {
			return p.Schema
		}
	}
	return nil
}
