package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/events"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
	"hale/internal/wearables/connections"
)

// keyed is a push with an Idempotency-Key.
func (d dataDoor) keyed(key, path, body string) *httptest.ResponseRecorder {
	d.t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("x-service-api-key", d.key)
	r.Header.Set("Idempotency-Key", key)
	w := httptest.NewRecorder()
	d.api.ServeHTTP(w, r)
	return w
}

// told counts the events of the user's team.
func (d dataDoor) told() (n int) {
	d.t.Helper()
	sequencer := events.Sequencer{DB: d.db}
	if err := sequencer.Settle(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	userstest.Read(d.t, d.db, func(ctx context.Context, tx *store.Tx) error {
		page, err := events.After(ctx, tx, d.team.ID.UUID(), 0, 1000, nil)
		n = len(page.Events)
		return err
	})
	return n
}

func TestABatchSentAgainUnderItsKeyIsAnsweredAsBefore(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		path, body := d.path("/v2/timeseries/{user_id}/heartrate"), pushText(heartbeats(20_000)) // beyond a plain body's limit
		first := d.keyed("batch-1", path, body)
		told := d.told()
		again := d.keyed("batch-1", path, body)
		if first.Code != http.StatusOK || !bytes.Equal(first.Body.Bytes(), again.Body.Bytes()) || again.Header().Get("Idempotent-Replayed") != "true" {
			t.Errorf("%d %s\n%d %s", first.Code, first.Body, again.Code, again.Body)
		}
		if n := d.told(); n != told {
			t.Errorf("%d events more", n-told)
		}
		d.status(http.StatusConflict, d.keyed("batch-1", path, pushText(heartbeats(3))))
	})
}

// The node died after the samples were stored and before there was an answer:
// the phone sends again, and is told that they are there.
func TestABatchWhoseAnswerWasLostIsTakenAgain(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		path, body := d.path("/v2/timeseries/{user_id}/heartrate"), pushText(heartbeats(3))
		d.keyed("batch-1", path, body)
		told := d.told()
		userstest.Write(t, d.db, func(ctx context.Context, tx *store.Tx) error {
			n, err := tx.Exec(ctx, `UPDATE idempotency_keys SET status = 0, body = $1 WHERE team_id = $2 AND key_hash = $3`,
				[]byte{}, d.team.ID, secrets.Hash("batch-1"))
			if err == nil && n != 1 {
				t.Errorf("%d claims", n)
			}
			return err
		})
		var pushed pushBody
		if d.decode(d.keyed("batch-1", path, body), &pushed); pushed.Unchanged != 3 || pushed.Created != 0 {
			t.Errorf("%+v", pushed)
		}
		if again := d.keyed("batch-1", path, body); again.Header().Get("Idempotent-Replayed") != "true" {
			t.Errorf("the answer was not kept: %d %s", again.Code, again.Body)
		}
		if n := d.told(); n != told {
			t.Errorf("%d events more", n-told)
		}
	})
}

// Two apps on one phone count the same minutes. Each keeps its own values, and
// the merged line counts a minute once.
func TestTwoAppsOnOnePhone(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		path := d.path("/v2/timeseries/{user_id}/steps")
		minute := func(app, value string) string {
			return pushText(`[{"timestamp":"2026-03-01T10:00:00Z","end":"2026-03-01T10:01:00Z","value":` + value + `,"source_type":"phone","source_app_id":"` + app + `"}]`)
		}
		var pushed pushBody
		d.post(path, minute("com.example.one", "50"), &pushed)
		if d.post(path, minute("com.example.two", "60"), &pushed); pushed.Created != 1 {
			t.Errorf("the second app: %+v", pushed)
		}
		if d.post(path, minute("com.example.one", "50"), &pushed); pushed.Unchanged != 1 {
			t.Errorf("the first app again: %+v", pushed)
		}
		var groups groupsBody
		d.get(d.path("/v2/timeseries/{user_id}/steps/grouped?start_date=2026-03-01"), &groups)
		got := map[string]float64{}
		for _, g := range groups.Groups["apple_health_kit"] {
			got[*g.Source.AppID] = *g.Data[0].Value
		}
		if len(got) != 2 || got["com.example.one"] != 50 || got["com.example.two"] != 60 {
			t.Errorf("%v", got)
		}
		var days struct{ Days []struct{ Value float64 } }
		text := d.get(d.path("/v2/timeseries/{user_id}/steps/daily?start_date=2026-03-01&end_date=2026-03-01"), &days)
		if strings.Contains(text, "110") {
			t.Errorf("a minute was counted twice: %s", text)
		}
	})
}

func TestPushesAfterTheEndOfCollection(t *testing.T) {
	now := march
	eachDataDoorAt(t, func() time.Time { return now }, func(d dataDoor) {
		now = march
		path := d.path("/v2/timeseries/{user_id}/heartrate")
		end := func(day string) {
			d.status(http.StatusOK, d.do("PATCH", d.path("/v2/user/{user_id}"), `{"ingestion_end":"`+day+`"}`))
		}
		var pushed pushBody
		d.post(path, pushText(heartbeats(2)), &pushed)
		end("2026-03-14")
		if d.post(path, pushText(heartbeats(3)), &pushed); pushed.Created != 1 {
			t.Errorf("within the catch-up %+v", pushed)
		}
		told := d.told()
		now = now.AddDate(0, 0, 1) // 22 March: the catch-up is over
		refused := `{"success":true,"created":0,"updated":0,"unchanged":0,"rejected":[{"reason":"connection_paused","count":4,"first":0}]}`
		for _, body := range []string{pushText(heartbeats(4)), historical(heartbeats(4), `,"is_final_chunk":true`)} {
			if got := strings.TrimSpace(d.post(path, body, &pushed)); got != refused {
				t.Errorf("after it %s", got)
			}
		}
		userstest.Write(t, d.db, func(ctx context.Context, tx *store.Tx) error {
			_, err := connections.PauseEnded(ctx, tx)
			return err
		})
		var connected connectionsBody
		if d.get(d.path("/v2/user/providers/{user_id}"), &connected); connected.Providers[0].Status != string(connections.Paused) {
			t.Errorf("%+v", connected)
		}
		end("2026-12-31")
		if got := strings.TrimSpace(d.post(path, pushText(heartbeats(4)), &pushed)); got != refused {
			t.Errorf("with the end moved %s", got)
		}
		if n := d.told(); n != told {
			t.Errorf("%d events about nothing", n-told)
		}
		d.status(http.StatusOK, d.do("DELETE", d.path("/v2/user/{user_id}/apple_health_kit"), ""))
		if d.post(path, pushText(heartbeats(4)), &pushed); pushed.Created != 1 || pushed.Unchanged != 3 {
			t.Errorf("connected anew %+v", pushed)
		}
	})
}

// A pushed summary that says nothing of its zone gets the device's, and else
// the user's fallback.
func TestZonesOfPushedSummaries(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		path := d.path("/v2/summary/sleep/{user_id}")
		var pushed pushBody
		night := `[{"bedtime_start":"2026-03-01T13:00:00Z","bedtime_stop":"2026-03-01T20:00:00Z"}]`
		d.post(path, pushText(night, `,"time_zone":"Asia/Tokyo"`), &pushed)
		var nights struct {
			Sleep []struct {
				Date   string `json:"calendar_date"`
				Offset *int   `json:"timezone_offset"`
			}
		}
		d.get(d.path("/v2/summary/sleep/{user_id}?start_date=2026-03-01"), &nights)
		if len(nights.Sleep) != 1 || nights.Sleep[0].Date != "2026-03-02" || *nights.Sleep[0].Offset != 9*3600 {
			t.Errorf("%+v", nights)
		}
		if d.post(path, pushText(night, `,"time_zone":"Asia/Tokyo"`), &pushed); pushed.Unchanged != 1 {
			t.Errorf("%+v", pushed)
		}
	})
}

// History is told value by value as well where the team wants that, through
// every door, and its end is told in any case.
func TestHistoryValueByValue(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		for _, on := range []bool{false, true} {
			d.team.Settings.PushHistoricalData = on
			userstest.Write(t, d.db, func(ctx context.Context, tx *store.Tx) error { return teams.Update(ctx, tx, d.team) })
			d.user = userstest.New(t, d.db, d.team.ID, users.NewUser{})
			before := len(d.eventTypes())
			const head = `{"stage":"historical","provider":"apple_health_kit","start_date":"2026-03-01","is_final_chunk":true,`
			for path, data := range map[string]string{
				"/v2/timeseries/{user_id}/heartrate": `"data":` + heartbeats(3),
				"/v2/timeseries/{user_id}":           `"series":{"glucose":[{"timestamp":"2026-03-01T10:00:00Z","value":5.1}]}`,
				"/v2/summary/activity/{user_id}":     `"data":[{"calendar_date":"2026-03-01","steps":7}]`,
			} {
				var pushed PushCounts
				if d.post(d.path(path), head+data+`}`, &pushed); pushed.Created == 0 {
					t.Errorf("%s: %+v", path, pushed)
				}
			}
			told := strings.Join(d.eventTypes()[before:], " ")
			for _, resource := range []string{"heartrate", "glucose", "activity"} {
				if n := strings.Count(told, "daily.data."+resource+".created"); n != map[bool]int{true: 1}[on] {
					t.Errorf("%t: %d of %s in %s", on, n, resource, told)
				}
				if strings.Count(told, "historical.data."+resource+".created") != 1 {
					t.Errorf("%t: the end of %s in %s", on, resource, told)
				}
			}
		}
	})
}

// A session is filed under the day of the place where it was, whoever says it:
// the text of its instants, the device's zone or the user's.
func TestDaysOfPushedSessions(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		for _, c := range []struct{ resource, item, head, zone, day, offset string }{
			{"sleep", `{"bedtime_start":"2026-03-01T14:00:00Z","bedtime_stop":"2026-03-01T22:00:00Z"}`, `,"time_zone":"Asia/Tokyo"`, "", "2026-03-02", "32400"},
			{"sleep_cycle", `{"session_start":"2026-03-01T14:00:00Z","session_end":"2026-03-01T22:00:00Z"}`, `,"time_zone":"Asia/Tokyo"`, "", "2026-03-02", ""},
			{"electrocardiogram", `{"session_start":"2026-03-01T22:00:00Z","session_end":"2026-03-01T22:00:30Z"}`, `,"time_zone":"Asia/Tokyo"`, "", "2026-03-02", ""},
			{"workouts", `{"time_start":"2026-03-02T03:00:00Z","time_end":"2026-03-02T04:00:00Z"}`, ``, "America/Los_Angeles", "2026-03-01", "-28800"},
			{"workouts", `{"time_start":"2026-03-01T23:30:00-05:00","time_end":"2026-03-01T23:50:00-05:00"}`, `,"time_zone":"Asia/Tokyo"`, "Europe/Berlin", "2026-03-01", "-18000"},
		} {
			d := d
			var person users.NewUser
			if c.zone != "" {
				person.TimeZone = &c.zone
			}
			d.user = userstest.New(t, d.db, d.team.ID, person)
			var pushed pushBody
			d.post(d.path("/v2/summary/"+c.resource+"/{user_id}"), pushText("["+c.item+"]", c.head), &pushed)
			path := d.path("/v2/summary/" + c.resource + "/{user_id}?start_date=" + c.day + "&end_date=" + c.day)
			var found map[string][]struct {
				Day    *string         `json:"calendar_date"`
				Offset json.RawMessage `json:"timezone_offset"`
			}
			d.get(path, &found)
			all := found[c.resource]
			if len(all) != 1 || all[0].Day != nil && *all[0].Day != c.day || string(all[0].Offset) != c.offset {
				t.Errorf("%s %s: on %s there are %+v", c.resource, c.item, c.day, all)
			}
		}
	})
}
