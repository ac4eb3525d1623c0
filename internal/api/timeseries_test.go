package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/events"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/ledger"
	"hale/internal/wearables/providers"
)

// dataDoor is the door with a team, its key and a user, for what comes from
// wearables.
type dataDoor struct {
	t    *testing.T
	api  *API
	db   *store.DB
	team teams.Team
	key  string
	user users.User
}

var march = time.Date(2026, 3, 21, 12, 0, 0, 0, time.UTC)

func eachDataDoor(t *testing.T, fn func(d dataDoor)) {
	eachDataDoorAt(t, func() time.Time { return march }, fn)
}

func eachDataDoorAt(t *testing.T, now func() time.Time, fn func(d dataDoor)) {
	storetest.EachAt(t, now, func(t *testing.T, db *store.DB) {
		devices := &connections.KnownDevices{DB: db}
		ingester := &wearables.Ingester{DB: db, Devices: devices.Mark, Connect: connections.Ensure, Run: connections.Run, Linked: connections.Linked, Hold: connections.Hold, Describe: func(slug string) (string, string) {
			return providers.Named(slug).Name, "https://hale.example/logo/" + slug
		}}
		d := dataDoor{
			t: t, db: db, team: userstest.Team(t, db),
			api: New(Deps{DB: db, BaseURL: "https://hale.example", Services: Services{Wearables: ingester, Ledger: &ledger.Ledger{}}}),
		}
		d.user = userstest.New(t, db, d.team.ID, users.NewUser{})
		d.key = d.newKey(d.team)
		fn(d)
	})
}

func (d dataDoor) newKey(team teams.Team) (text string) {
	ctx := store.AsSystem(context.Background())
	err := d.db.Write(ctx, func(tx *store.Tx) error {
		_, secret, err := teams.CreateKey(ctx, tx, team, "test")
		text = secret.Reveal()
		return err
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return text
}

func (d dataDoor) do(method, path, body string) *httptest.ResponseRecorder {
	d.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("x-service-api-key", d.key)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	w := httptest.NewRecorder()
	d.api.ServeHTTP(w, r)
	return w
}

// get decodes the answer, which must be 200.
func (d dataDoor) get(path string, into any) string {
	d.t.Helper()
	return d.decode(d.do(http.MethodGet, path, ""), into)
}

func (d dataDoor) post(path, body string, into any) string {
	d.t.Helper()
	return d.decode(d.do(http.MethodPost, path, body), into)
}

func (d dataDoor) decode(w *httptest.ResponseRecorder, into any) string {
	d.t.Helper()
	if w.Code != http.StatusOK {
		d.t.Fatalf("%d: %s", w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		d.t.Fatalf("%s: %v", w.Body, err)
	}
	return w.Body.String()
}

func (d dataDoor) path(format string) string {
	return strings.ReplaceAll(format, "{user_id}", d.user.ID.String())
}

func pushText(data string, more ...string) string {
	return `{"stage":"daily","provider":"apple_health_kit","data":` + data + strings.Join(more, "") + `}`
}

func heartbeats(n int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		at := time.Date(2026, 2, 1, 0, i, 0, 0, time.UTC).Format("2006-01-02T15:04:05+00:00")
		fmt.Fprintf(&b, `{"timestamp":"%s","timezone_offset":3600,"type":null,"unit":"bpm","value":%d,"source_type":"watch","source_app_id":"com.example"}`, at, 60+i%40)
	}
	return b.String() + "]"
}

func TestPushedSamplesAreReadBack(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		push := d.path("/v2/timeseries/{user_id}/heartrate")
		var pushed pushBody
		d.post(push, pushText(heartbeats(3)), &pushed)
		if pushed.Created != 3 || !pushed.Success || len(pushed.Rejected) != 0 {
			t.Errorf("%+v", pushed)
		}
		d.post(push+"/", pushText(`[{"timestamp":"2026-02-01T00:00:00Z","timezone_offset":3600,"value":99,"source":{"type":"watch","app_id":"com.example"}},
			{"timestamp":"2026-02-01T00:05:00Z","value":7},{"timestamp":"2026-02-01T00:06:00Z","value":1,"unit":"stone"},
			{"timestamp":"2026-02-01T00:07:00Z","value":8}]`), &pushed)
		want := `{"success":true,"created":0,"updated":1,"unchanged":0,"rejected":[{"reason":"implausible_value","count":2,"first":1},{"reason":"unknown_unit","count":1,"first":2}]}`
		if got, _ := json.Marshal(pushed); string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}

		var groups groupsBody
		text := d.get(d.path("/v2/timeseries/{user_id}/heartrate/grouped?start_date=2026-02-01&end_date=2026-02-01"), &groups)
		wantText := `{"groups":{"apple_health_kit":[{"source":{"provider":"apple_health_kit","type":"watch","app_id":"com.example","device_id":null,` +
			`"sport":null,"workout_id":null,"name":"` + providers.Named("apple_health_kit").Name + `","slug":"apple_health_kit","logo":"https://hale.example/logo/apple_health_kit"},` +
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
			d.get(d.path("/v2/timeseries/{user_id}/heartrate/grouped?"+query), &got)
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
	eachDataDoor(t, func(d dataDoor) {
		push := d.path("/v2/timeseries/{user_id}/body_weight")
		body := strings.Replace(pushText(`[{"timestamp":"2026-02-01T00:00:00Z","value":154.3235835,"unit":"lb"}]`,
			`,"is_final_chunk":true,"start_date":"2026-01-01","end_date":"2026-02-02"`), "daily", "historical", 1)
		var pushed pushBody
		for range 2 {
			d.post(push, body, &pushed)
		}
		if got := d.eventTypes(); strings.Join(got, " ") != "provider.connection.created historical.data.weight.created" {
			t.Errorf("events %v", got)
		}
		var groups groupsBody
		d.get(d.path("/v2/timeseries/{user_id}/body_weight/grouped?start_date=2026-02-01"), &groups)
		if v := groups.Groups["apple_health_kit"][0].Data[0]; *v.Value < 69.99 || *v.Value > 70.01 || v.Unit != "kg" {
			t.Errorf("stored %+v", v)
		}
	})
}

// eventTypes are those of the team's events, in the order of their numbers.
func (d dataDoor) eventTypes() (names []string) {
	d.t.Helper()
	ctx := store.AsSystem(context.Background())
	if err := (&events.Sequencer{DB: d.db}).Settle(ctx); err != nil {
		d.t.Fatal(err)
	}
	err := d.db.Read(ctx, func(tx *store.Tx) error {
		rows, err := tx.Query(ctx, `SELECT type FROM events WHERE team_id = $1 ORDER BY seq`, d.team.ID)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name string
			if err := rows.Scan(&name); err != nil {
				return err
			}
			names = append(names, name)
		}
		return rows.Err()
	})
	if err != nil {
		d.t.Fatal(err)
	}
	return names
}

func TestPagesOfSamples(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		samples := wearables.Samples{Resource: "heartrate", Source: wearables.Source{Type: "watch"}}
		const n = wearables.PageSamples + 10_000
		for i := range n {
			samples.Time = append(samples.Time, time.Date(2026, 1, 1, 0, 0, 30*i, 0, time.UTC).UnixMicro())
			samples.Value = append(samples.Value, float64(60+i%40))
		}
		_, err := d.api.Wearables.Ingest(store.WithTeam(t.Context(), d.team.ID.UUID()), d.user, wearables.Batch{
			Provider: "apple_health_kit", Stage: wearables.Historical, Samples: []wearables.Samples{samples},
		})
		if err != nil {
			t.Fatal(err)
		}
		path := d.path("/v2/timeseries/{user_id}/heartrate/grouped?start_date=2026-01-01")
		var first, second groupsBody
		d.get(path, &first)
		if first.NextCursor == nil || first.Next == nil || len(first.Groups["apple_health_kit"][0].Data) != wearables.PageSamples {
			t.Fatal("the first page is not full")
		}
		d.get(path+"&next_cursor="+*first.NextCursor, &second)
		if got := len(second.Groups["apple_health_kit"][0].Data); got != n-wearables.PageSamples || second.NextCursor != nil {
			t.Errorf("%d samples in the second page", got)
		}
		d.get(path+"&cursor="+*first.NextCursor, &second)
		for _, bad := range []string{"x", (*first.NextCursor)[1:]} {
			if w := d.do(http.MethodGet, path+"&next_cursor="+bad, ""); w.Code != 422 || !strings.Contains(w.Body.String(), "next_cursor") {
				t.Errorf("cursor %s: %d %s", bad, w.Code, w.Body)
			}
		}
		other := d.path("/v2/timeseries/{user_id}/steps/grouped?start_date=2026-01-01&next_cursor=") + *first.NextCursor
		if w := d.do(http.MethodGet, other, ""); w.Code != 422 {
			t.Errorf("a cursor of another resource: %d %s", w.Code, w.Body)
		}
	})
}

func TestWearableRefusals(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		foreign := userstest.New(t, d.db, userstest.Team(t, d.db).ID, users.NewUser{}).ID.String()
		const unknown = "11111111-1111-4111-8111-111111111111"
		ok := pushText(`[{"timestamp":"2026-02-01T00:00:00Z","value":60}]`)
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
			{"POST", "/v2/timeseries/{user_id}/heartrate", pushText(`[{"timestamp":"2026-02-01T00:00:00Z","value":"60"}]`), 422, `["body","data",0,"value"]`},
			{"POST", "/v2/timeseries/{user_id}/heartrate", `{"stage":`, 422, `json_invalid`},
			{"POST", "/v2/timeseries/{user_id}/heartrate", ``, 422, `"detail"`},
			{"GET", "/v2/summary/activity/{user_id}", "", 422, `"start_date"`},
			{"GET", "/v2/summary/activity/{user_id}?start_date=2026-01-02&end_date=2026-01-01", "", 422, `"end_date"`},
			{"GET", "/v2/summary/activity/" + foreign + "?start_date=2026-01-01", "", 404, `"detail"`},
			{"GET", "/v2/summary/profile/{user_id}", "", 404, `No profile found`},
			{"GET", "/v2/summary/profile/" + foreign, "", 404, `"detail"`},
			{"GET", "/v2/summary/mood/{user_id}?start_date=2026-01-01", "", 404, `"detail"`},
			{"POST", "/v2/summary/activity/{user_id}", pushText(`[{"steps":7}]`), 422, `["body","data",0,"calendar_date"]`},
			{"POST", "/v2/summary/activity/{user_id}", pushText(`[{"calendar_date":"2026-02-01","steps":"7"}]`), 422, `["body","data",0,"steps"]`},
			{"POST", "/v2/summary/workouts/{user_id}", pushText(`[{"title":"x"}]`), 422, `["body","data",0,"time_start"]`},
			{"GET", "/v2/timeseries/workouts/" + unknown + "/stream", "", 404, `Workout not found`},
			{"GET", "/v2/timeseries/sleep/" + unknown + "/stream", "", 404, `Sleep not found`},
		} {
			w := d.do(c.method, d.path(c.path), c.body)
			if w.Code != c.status || !strings.Contains(w.Body.String(), c.says) {
				t.Errorf("%s %s %.60s: %d %s, want %d and %s", c.method, c.path, c.body, w.Code, w.Body, c.status, c.says)
			}
		}
	})
}

func TestTooMuchAtOnce(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		one := `{"timestamp":"2026-02-01T00:00:00Z","value":60}`
		body := pushText("[" + strings.Repeat(one+",", 100_000) + one + "]")
		if w := d.do("POST", d.path("/v2/timeseries/{user_id}/heartrate"), body); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%d %.200s", w.Code, w.Body)
		}
		if w := d.do("POST", d.path("/v2/timeseries/{user_id}/heartrate"), pushText("[]", strings.Repeat(" ", 64<<20))); w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("%d %.200s", w.Code, w.Body)
		}
	})
}

// BenchmarkPushOne is one sample through the whole door.
func BenchmarkPushOne(b *testing.B) {
	db := storetest.SQLite(b)
	team := userstest.Team(b, db)
	d := dataDoor{t: nil, db: db, team: team, user: userstest.New(b, db, team.ID, users.NewUser{})}
	d.api = New(Deps{DB: db, Services: Services{Wearables: &wearables.Ingester{DB: db, Connect: connections.Ensure}}})
	d.key = d.newKey(team)
	path := d.path("/v2/timeseries/{user_id}/heartrate")
	for i := 0; b.Loop(); i++ {
		at := time.Date(2026, 2, 1, 0, 0, i%86_400, 0, time.UTC).Format(time.RFC3339)
		body := []byte(pushText(fmt.Sprintf(`[{"timestamp":%q,"value":%d}]`, at, 50+i%100)))
		r := httptest.NewRequest(http.MethodPost, path, bytes.NewReader(body))
		r.Header.Set("x-service-api-key", d.key)
		w := httptest.NewRecorder()
		d.api.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}
