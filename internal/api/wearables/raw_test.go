package wearables

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hale/internal/api"
	"hale/internal/api/calltest"
	"hale/internal/platform/store"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/sports"
)

// pushSummary sends summaries of a resource.
func (d userCaller) pushSummary(resource, data string) {
	d.T.Helper()
	var pushed pushBody
	d.Post(d.Path("/v2/summary/"+resource+"/{user_id}"), calltest.PushText(data), &pushed)
	if len(pushed.Rejected) != 0 {
		d.T.Fatalf("%s: %+v", resource, pushed)
	}
}

// the parts of a raw answer that differ from run to run.
func (d userCaller) fixed(text string) string {
	text = strings.ReplaceAll(text, d.User.ID.String(), "USER")
	text = strings.ReplaceAll(text, api.Time(calltest.March).String(), "NOW")
	for _, key := range []string{`"id":"`, `"provider_id":"`} {
		from := 0
		for {
			at := strings.Index(text[from:], key)
			if at < 0 {
				break
			}
			from += at + len(key)
			if end := strings.IndexByte(text[from:], '"'); end == 36 {
				text = text[:from] + "ID" + text[from+end:]
			}
		}
	}
	return strings.TrimSpace(text)
}

func TestRawEqualsThePush(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		d.pushSummary("activity", `[{"calendarDate":"2026-03-01","steps":10,"ownWord":{"x":[1, 2]}},{"calendar_date":"2026-03-02","steps":20,"source_type":"watch"}]`)
		d.pushSummary("workouts", `[{"time_start":"2026-03-01T10:00:00Z","time_end":"2026-03-01T11:00:00Z","title":"Early","provider_id":"w-1"}]`)
		d.pushSummary("body", `[{"calendar_date":"2026-03-01","weight":70.5}]`)
		d.pushSummary("sleep", `[{"bedtime_start":"2026-03-01T22:00:00Z","bedtime_stop":"2026-03-02T06:00:00Z"}]`)
		d.pushSummary("profile", `[{"height":178, "mine": true}]`)
		tail := `,"source_id":0,"id":"ID","source_device_id":null,"created_at":"NOW","updated_at":"NOW","source":`
		for _, c := range []struct{ path, want string }{
			{"activity/{user_id}/raw?start_date=2026-03-01&end_date=2026-03-01", `{"activity":[{"timestamp":"2026-03-01T00:00:00+00:00",` +
				`"data":{"calendarDate":"2026-03-01","steps":10,"ownWord":{"x":[1,2]}},"user_id":"USER","provider_id":"ID"` + tail + `SOURCE,"priority_id":0}]}`},
			{"workouts/{user_id}/raw?start_date=2026-03-01", `{"workouts":[{"timestamp":"2026-03-01T10:00:00+00:00",` +
				`"data":{"time_start":"2026-03-01T10:00:00Z","time_end":"2026-03-01T11:00:00Z","title":"Early","provider_id":"w-1"},"user_id":"USER","provider_id":"w-1"` +
				tail + `SOURCE,"priority_id":null,"sport_id":SPORTID,"sport":SPORT}]}`},
			{"body/{user_id}/raw?start_date=2026-03-01", `{"body":[{"timestamp":"2026-03-01T00:00:00+00:00","data":{"calendar_date":"2026-03-01","weight":70.5},` +
				`"user_id":"USER","provider_id":"ID"` + tail + `SOURCE,"priority_id":null,"priority":null}]}`},
			{"sleep/{user_id}/raw?start_date=2026-03-01", `{"sleep":[{"timestamp":"2026-03-01T22:00:00+00:00","data":{"bedtime_start":"2026-03-01T22:00:00Z",` +
				`"bedtime_stop":"2026-03-02T06:00:00Z"},"user_id":"USER","provider_id":"ID"` + tail + `SOURCE,"priority_id":null,"priority":null}]}`},
			{"profile/{user_id}/raw", `{"profile":{"id":"ID","data":{"height":178,"mine":true},"user_id":"USER","source_id":0,"priority_id":null,"source":SOURCE,` +
				`"created_at":"NOW","updated_at":"NOW"}}`},
			{"activity/{user_id}/raw?start_date=2026-03-01&provider=oura", `{"activity":[]}`},
		} {
			var any map[string]json.RawMessage
			got := d.fixed(d.Get(d.Path("/v2/summary/"+c.path), &any))
			source, _ := json.Marshal(rawSourceOf("apple_health_kit", ""))
			sport, _ := json.Marshal(sports.OtherSport)
			want := strings.NewReplacer("SOURCE", string(source), "SPORTID", strconv.Itoa(sports.OtherSport.ID), "SPORT", string(sport)).Replace(c.want)
			if got != want {
				t.Errorf("%s\ngot  %s\nwant %s", c.path, got, want)
			}
		}
		if w := d.Do(http.MethodGet, "/v2/summary/activity/019f0000-0000-7000-8000-000000000000/raw?start_date=2026-03-01", ""); w.Code != http.StatusNotFound {
			t.Errorf("an unknown user: %d", w.Code)
		}
	})
}

// A later push takes the place of an earlier one, also in the raw reads, and
// what is forgotten is left out.
func TestRawFollowsTheNewestPayload(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		d.pushSummary("activity", `[{"calendar_date":"2026-03-01","steps":10}]`)
		d.pushSummary("activity", `[{"calendar_date":"2026-02-01","steps":1},{"calendar_date":"2026-03-01","steps":11}]`)
		var got rawActivities
		path := d.Path("/v2/summary/activity/{user_id}/raw?start_date=2026-03-01")
		d.Get(path, &got)
		if len(got.Activity) != 1 || !strings.Contains(string(got.Activity[0].Data), `"steps":11`) {
			t.Errorf("%+v", got)
		}
		ctx := store.WithTeam(t.Context(), d.Team.ID.UUID())
		if n, err := ledger.RemoveExpired(ctx, d.DB, d.Team.ID, calltest.March.AddDate(0, 0, 1)); n != 2 || err != nil {
			t.Fatalf("forgot %d, %v", n, err)
		}
		d.Get(path, &got)
		if len(got.Activity) != 0 {
			t.Errorf("forgotten, and still there: %+v", got)
		}
	})
}

// The data is that of the stored version, however the summary was found.
func TestRawIsTheStoredVersion(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		night := func(id, from, to string, deep int) string {
			return fmt.Sprintf(`[{%s"bedtime_start":"2026-03-%s:00:00Z","bedtime_stop":"2026-03-%s:00:00Z","deep":%d}]`, id, from, to, deep)
		}
		path := d.Path("/v2/summary/sleep/{user_id}/raw?start_date=2026-03-02&end_date=2026-03-02")
		for _, c := range []struct {
			name, pushed string
			want         []int
		}{
			{"a half", night("", "01T22", "02T02", 3600), []int{3600}},
			{"the other half", night("", "02T03", "02T06", 600), []int{3600, 600}},
			{"the whole", night("", "01T22", "02T06", 5000), []int{5000}},
			{"a half again", night("", "02T03", "02T06", 600), []int{5000}},
			{"a half with an id", night(`"id":"n",`, "02T03", "02T06", 700), []int{700}},
			{"moved", night(`"id":"n",`, "02T02", "02T06", 800), []int{800}},
		} {
			d.pushSummary("sleep", c.pushed)
			var got rawSleeps
			d.Get(path, &got)
			var deep []int
			for _, one := range got.Sleep {
				var said struct {
					Deep  int       `json:"deep"`
					Start time.Time `json:"bedtime_start"`
				}
				if err := json.Unmarshal(one.Data, &said); err != nil || !said.Start.Equal(time.Time(one.Timestamp)) {
					t.Errorf("%s: %s at %v, %v", c.name, one.Data, one.Timestamp, err)
				}
				deep = append(deep, said.Deep)
			}
			if !slices.Equal(deep, c.want) {
				t.Errorf("%s: got %v, want %v", c.name, deep, c.want)
			}
		}
	})
}

// One read decompresses a bounded number of bytes, however small they are when stored.
// A single body is always readable.
func TestRawIsBounded(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		padding := strings.Repeat(" ", 40<<20)
		for _, day := range []string{"2026-03-01", "2026-03-02"} {
			d.pushSummary("activity", `[{"calendar_date":"`+day+`","steps":10},`+padding+`{"calendar_date":"2026-01-01","steps":10}]`)
		}
		path := d.Path("/v2/summary/activity/{user_id}/raw?end_date=2026-03-02&start_date=2026-03-0")
		var got rawActivities
		if d.Get(path+"2", &got); len(got.Activity) != 1 || !strings.Contains(string(got.Activity[0].Data), "2026-03-02") {
			t.Errorf("%+v", got)
		}
		if w := d.Do(http.MethodGet, path+"1", ""); w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), "shorter time") {
			t.Errorf("%d %.300s", w.Code, w.Body)
		}
	})
}

func TestRawDevices(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		ctx := store.WithTeam(t.Context(), d.Team.ID.UUID())
		err := d.DB.Write(ctx, func(tx *store.Tx) error {
			_, err := connections.EnsureDevice(ctx, tx, d.User, connections.Device{
				Provider: "garmin", SourceType: "watch", Manufacturer: "Garmin", Model: "Forerunner", ExternalID: "77", Version: "2.1",
			})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var any map[string]json.RawMessage
		source, _ := json.Marshal(rawSourceOf("garmin", ""))
		want := `{"devices":[{"data":{"app_id":"","device_id":"77","manufacturer":"Garmin","model":"Forerunner","source_type":"watch","version":"2.1"},` +
			`"provider_id":"77","user_id":"USER","source_id":0,"id":"ID","source":` + string(source) + `}]}`
		if got := d.fixed(d.Get(d.Path("/v2/summary/devices/{user_id}/raw"), &any)); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := d.fixed(d.Get(d.Path("/v2/summary/devices/{user_id}/raw?provider=oura"), &any)); got != `{"devices":[]}` {
			t.Errorf("of another provider: %s", got)
		}
	})
}
