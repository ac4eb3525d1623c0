package wearables

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hale/internal/api/calltest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/wearables/providers"
)

// pushOverlap pushes the steps of a phone and a watch, hour by hour; the watch covers
// the second hour only.
const pushOverlap = `[
	{"timestamp":"2026-02-01T08:00:00Z","end":"2026-02-01T09:00:00Z","value":600,"source_type":"phone","source_app_id":"com.example.phone","timezone_offset":3600},
	{"timestamp":"2026-02-01T09:00:00Z","end":"2026-02-01T10:00:00Z","value":900,"source_type":"phone","source_app_id":"com.example.phone","timezone_offset":3600},
	{"timestamp":"2026-02-01T09:30:00Z","end":"2026-02-01T10:30:00Z","value":1200,"source_type":"watch","timezone_offset":3600},
	{"timestamp":"2026-02-01T22:30:00Z","end":"2026-02-01T23:30:00Z","value":60,"source_type":"phone","source_app_id":"com.example.phone","timezone_offset":3600}]`

func sourceText(kind, app string) string {
	return `{"provider":"apple_health_kit","type":"` + kind + `","app_id":` + app + `,"device_id":null,"sport":null,"workout_id":null,"name":"` +
		providers.FindOrName("apple_health_kit").Name + `","slug":"apple_health_kit","logo":"/static/providers/apple_health_kit.svg"}`
}

func TestMergedIsOneLine(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var pushed pushBody
		d.Post(d.Path("/v2/timeseries/{user_id}/steps"), calltest.PushText(pushOverlap), &pushed)
		base := d.Path("/v2/timeseries/{user_id}/steps")
		head := `{"resource":"steps","unit":"count","sources":[` + sourceText("watch", "null") + `,` + sourceText("phone", `"com.example.phone"`) + `],`
		data := `"data":[` +
			`{"start":"2026-02-01T08:00:00+00:00","end":"2026-02-01T09:00:00+00:00","timezone_offset":3600,"type":null,"value":600,"source":1},` +
			`{"start":"2026-02-01T09:00:00+00:00","end":"2026-02-01T09:30:00+00:00","timezone_offset":3600,"type":null,"value":450,"source":1},` +
			`{"start":"2026-02-01T09:30:00+00:00","end":"2026-02-01T10:30:00+00:00","timezone_offset":3600,"type":null,"value":1200,"source":0},` +
			`{"start":"2026-02-01T22:30:00+00:00","end":"2026-02-01T23:30:00+00:00","timezone_offset":3600,"type":null,"value":60,"source":1}],`
		aside := `"set_aside":[` +
			`{"start":"2026-02-01T09:30:00+00:00","end":"2026-02-01T10:00:00+00:00","timezone_offset":3600,"type":null,"value":450,"source":1,"covered_by":0}],`
		days := `"data":[{"date":"2026-02-01","type":null,"total":2280,"sources":[0,1]},{"date":"2026-02-02","type":null,"total":30,"sources":[1]}],`
		early := `"data":[{"start":"2026-02-01T08:00:00+00:00","end":"2026-02-01T08:30:00+00:00","timezone_offset":3600,"type":null,"value":300,"source":0}],`
		nothing := `{"resource":"steps","unit":"count","sources":[],`
		phone := `{"resource":"steps","unit":"count","sources":[` + sourceText("phone", `"com.example.phone"`) + `],`
		for query, want := range map[string]string{
			"/merged?start_date=2026-02-01":                                                      head + data + `"next_cursor":null}`,
			"/merged?start_date=2026-02-01&end_date=2026-02-01&explain=true":                     head + data + aside + `"next_cursor":null}`,
			"/merged?start_date=2026-02-02":                                                      `{"resource":"steps","unit":"count","sources":[],"data":[],"next_cursor":null}`,
			"/merged?start_date=2026-02-01&provider=fitbit":                                      `{"resource":"steps","unit":"count","sources":[],"data":[],"next_cursor":null}`,
			"/merged?start_date=2026-02-02&explain=true":                                         `{"resource":"steps","unit":"count","sources":[],"data":[],"set_aside":[],"next_cursor":null}`,
			"/daily?start_date=2026-02-01":                                                       head + days + `"next_cursor":null}`,
			"/daily?start_date=2026-02-02&end_date=2026-02-02&provider=apple_health_kit":         phone + `"data":[{"date":"2026-02-02","type":null,"total":30,"sources":[0]}],"next_cursor":null}`,
			"/daily?start_date=2026-02-03":                                                       `{"resource":"steps","unit":"count","sources":[],"data":[],"next_cursor":null}`,
			"/merged?start_date=2026-02-01T08:00:00Z&end_date=2026-02-01T08:30:00Z":              phone + early + `"next_cursor":null}`,
			"/merged?start_date=2026-02-01T07:00:00Z&end_date=2026-02-01T08:00:00Z&explain=true": nothing + `"data":[],"set_aside":[],"next_cursor":null}`,
			"/merged?start_date=2026-02-01T08:15:00Z&end_date=2026-02-01T08:15:00Z":              nothing + `"data":[],"next_cursor":null}`,
		} {
			var body struct{}
			if got := strings.TrimSpace(d.Get(base+query, &body)); got != want {
				t.Errorf("%s\ngot  %s\nwant %s", query, got, want)
			}
		}
		var groups groupsBody // plain reads stay as they are
		d.Get(base+"/grouped?start_date=2026-02-01", &groups)
		if n := len(groups.Groups["apple_health_kit"]); n != 2 {
			t.Errorf("%d groups", n)
		}
	})
}

func TestDailyLevels(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var pushed pushBody
		d.Post(d.Path("/v2/timeseries/{user_id}/heartrate"), calltest.PushText(calltest.Heartbeats(3)), &pushed)
		d.Post(d.Path("/v2/timeseries/{user_id}/blood_pressure"), calltest.PushText(`[{"timestamp":"2026-02-01T23:30:00Z","systolic":120,"diastolic":80,"source_type":"cuff"},
			{"timestamp":"2026-02-01T23:40:00Z","systolic":130,"diastolic":70,"source_type":"cuff"}]`), &pushed)
		d.Decode(d.Do(http.MethodPatch, d.Path("/v2/user/{user_id}"), `{"fallback_time_zone":"Europe/Berlin"}`), &struct{}{})
		for path, want := range map[string]string{
			"heartrate/daily":      `[{"date":"2026-02-01","type":null,"min":60,"avg":61,"max":62,"count":3,"sources":[0]}]`,
			"blood_pressure/daily": `[{"date":"2026-02-02","type":null,"systolic":{"min":120,"avg":125,"max":130},"diastolic":{"min":70,"avg":75,"max":80},"count":2,"sources":[0]}]`,
			"blood_pressure/merged": `[{"start":"2026-02-01T23:30:00+00:00","end":"2026-02-01T23:30:00+00:00","timezone_offset":null,"type":null,"systolic":120,"diastolic":80,"source":0},` +
				`{"start":"2026-02-01T23:40:00+00:00","end":"2026-02-01T23:40:00+00:00","timezone_offset":null,"type":null,"systolic":130,"diastolic":70,"source":0}]`,
		} {
			text := d.Get(d.Path("/v2/timeseries/{user_id}/"+path+"?start_date=2026-02-01"), &struct{}{})
			if !strings.Contains(text, `"data":`+want+`,"next_cursor":null}`) {
				t.Errorf("%s\ngot  %s\nwant %s", path, text, want)
			}
		}
	})
}

// Pages of a merged line, and a cursor that belongs to another read.
func TestMergedPages(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var pushed pushBody
		push := d.Path("/v2/timeseries/{user_id}/heartrate")
		var rows []string
		for i := range 60_000 {
			at := time.Date(2026, 1, 1, 0, 0, 30*i, 0, time.UTC).Format(time.RFC3339)
			rows = append(rows, fmt.Sprintf(`{"timestamp":%q,"value":%d}`, at, 60+i%40))
		}
		d.Post(push, calltest.PushText("["+strings.Join(rows, ",")+"]"), &pushed)
		var first, second mergedBody
		d.Get(push+"/merged?start_date=2026-01-01", &first)
		if len(first.Data) != 50_000 || first.NextCursor == nil {
			t.Fatalf("%d in the first page", len(first.Data))
		}
		d.Get(push+"/merged?start_date=2026-01-01&next_cursor="+*first.NextCursor, &second)
		if len(second.Data) != 10_000 || second.NextCursor != nil || !time.Time(second.Data[0].Start).After(time.Time(first.Data[49_999].Start)) {
			t.Errorf("%d in the second page", len(second.Data))
		}
		for _, other := range []string{"steps/merged", "heartrate/daily", "heartrate/grouped"} {
			path := d.Path("/v2/timeseries/{user_id}/" + other + "?start_date=2026-01-01&next_cursor=")
			if w := d.Do("GET", path+*first.NextCursor, ""); w.Code != 422 {
				t.Errorf("%s: %d %.200s", other, w.Code, w.Body)
			}
		}
	})
}

func TestPriorities(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		const path = "/v2/team/source/priorities"
		var rows []priorityBody
		if text := d.Get(path, &rows); strings.TrimSpace(text) != "[]" {
			t.Errorf("at first %s", text)
		}
		change := func(body string) string {
			return strings.TrimSpace(d.Decode(d.Do(http.MethodPatch, path, body), &rows))
		}
		got := change(`[{"data_type":"timeseries","provider":"oura","priority":1},{"data_type":"timeseries","provider":"fitbit","priority":2},{"data_type":"sleep","provider":"oura","priority":-7}]`)
		want := `[{"data_type":"sleep","provider":"oura","priority":-7},{"data_type":"timeseries","provider":"fitbit","priority":2},{"data_type":"timeseries","provider":"oura","priority":1}]`
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		got = change(`[{"data_type":"timeseries","provider":"fitbit","priority":null},{"data_type":"timeseries","provider":"oura","priority":5}]`)
		want = `[{"data_type":"sleep","provider":"oura","priority":-7},{"data_type":"timeseries","provider":"oura","priority":5}]`
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		for _, nothing := range []string{"", "[]"} {
			if same := change(nothing); same != want {
				t.Errorf("a change of nothing, %q, answered %s", nothing, same)
			}
		}
		if text := d.Get(path+"?data_type=sleep", &rows); len(rows) != 1 {
			t.Errorf("sleep alone: %s", text)
		}
		stranger := d
		stranger.Key = d.NewKey(userstest.Team(t, d.DB))
		if text := stranger.Get(path, &rows); len(rows) != 0 {
			t.Errorf("another team sees %s", text)
		}
		for body, says := range map[string]string{
			`{}`: `["body"]`,
			`[{"data_type":"steps","provider":"oura","priority":1}]`:                                                        `["body",0,"data_type"]`,
			`[{"data_type":null,"provider":"oura","priority":1}]`:                                                           `["body",0,"data_type"]`,
			`[{"data_type":"sleep","provider":"oura","priority":1},{"data_type":"sleep","provider":"nobody","priority":1}]`: `["body",1,"provider"]`,
			`[{"data_type":"sleep","provider":"oura","priority":1.5}]`:                                                      `["body",0,"priority"]`,
			`[{"data_type":"sleep","provider":"oura","priority":"1"}]`:                                                      `["body",0,"priority"]`,
			`[{"data_type":"sleep","provider":"oura"}]`:                                                                     `["body",0,"priority"]`,
			`[{"data_type":"sleep","provider":"oura","priority":1},{"data_type":"sleep","provider":"oura","priority":2}]`:   `["body",1,"provider"]`,
			`[{"data_type":"sleep","provider":"oura","priority":99999999999}]`:                                              `["body",0,"priority"]`,
		} {
			if w := d.Do(http.MethodPatch, path, body); w.Code != 422 || !strings.Contains(w.Body.String(), says) {
				t.Errorf("%s: %d %s, want %s", body, w.Code, w.Body, says)
			}
		}
		if w := d.Do(http.MethodGet, path+"?data_type=mood", ""); w.Code != 422 || !strings.Contains(w.Body.String(), `["query","data_type",0]`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if d.Get(path, &rows); len(rows) != 2 {
			t.Errorf("a refusal changed %+v", rows)
		}
	})
}

func TestMergedRefusals(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		foreign := userstest.New(t, d.DB, userstest.Team(t, d.DB).ID, users.NewUser{}).ID.String()
		for path, want := range map[string]struct {
			status int
			says   string
		}{
			"/v2/timeseries/{user_id}/note/merged?start_date=2026-01-01":                     {422, `["path","resource"]`},
			"/v2/timeseries/{user_id}/hypnogram/daily?start_date=2026-01-01":                 {422, `["path","resource"]`},
			"/v2/timeseries/{user_id}/steps/merged":                                          {422, `["query","start_date"]`},
			"/v2/timeseries/{user_id}/steps/daily?start_date=x":                              {422, `["query","start_date"]`},
			"/v2/timeseries/{user_id}/steps/daily?start_date=2026-01-02&end_date=2026-01-01": {422, `["query","end_date"]`},
			"/v2/timeseries/{user_id}/steps/daily?start_date=0000-01-01":                     {422, `["query","start_date"]`},
			"/v2/timeseries/{user_id}/steps/daily?start_date=0001-01-01&end_date=0000-01-01": {422, `["query","end_date"]`},
			"/v2/timeseries/{user_id}/steps/merged?start_date=2026-01-02&explain=perhaps":    {422, `["query","explain"]`},
			"/v2/timeseries/{user_id}/steps/merged?start_date=2026-01-02&next_cursor=x":      {422, `["query","next_cursor"]`},
			"/v2/timeseries/" + foreign + "/steps/merged?start_date=2026-01-01":              {404, `"detail"`},
			"/v2/timeseries/" + foreign + "/steps/daily?start_date=2026-01-01":               {404, `"detail"`},
		} {
			if w := d.Do(http.MethodGet, d.Path(path), ""); w.Code != want.status || !strings.Contains(w.Body.String(), want.says) {
				t.Errorf("%s: %d %s, want %+v", path, w.Code, w.Body, want)
			}
		}
	})
}
