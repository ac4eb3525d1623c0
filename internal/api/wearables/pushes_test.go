package wearables

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"hale/internal/api"
	"hale/internal/api/calltest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/secrets"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
	"hale/internal/wearables"
	"hale/internal/wearables/connections"
	"hale/internal/wearables/ingest"
	"hale/internal/wearables/ledger"
)

func TestABatchSentAgainUnderItsKeyIsAnsweredAsBefore(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		path, body := d.Path("/v2/timeseries/{user_id}/heartrate"), calltest.PushText(calltest.Heartbeats(20_000)) // beyond a plain body's limit
		first := d.SendWithIdempotencyKey("batch-1", path, body)
		announced := d.EventCount()
		again := d.SendWithIdempotencyKey("batch-1", path, body)
		if first.Code != http.StatusOK || !bytes.Equal(first.Body.Bytes(), again.Body.Bytes()) || again.Header().Get("Idempotent-Replayed") != "true" {
			t.Errorf("%d %s\n%d %s", first.Code, first.Body, again.Code, again.Body)
		}
		if n := d.EventCount(); n != announced {
			t.Errorf("%d events more", n-announced)
		}
		d.Status(http.StatusConflict, d.SendWithIdempotencyKey("batch-1", path, calltest.PushText(calltest.Heartbeats(3))))
	})
}

// The node dies after the samples are stored and before the answer is sent. The phone
// sends again and learns that they are stored.
func TestARepeatedBatchAfterALostAnswer(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		path, body := d.Path("/v2/timeseries/{user_id}/heartrate"), calltest.PushText(calltest.Heartbeats(3))
		d.SendWithIdempotencyKey("batch-1", path, body)
		announced := d.EventCount()
		userstest.Write(t, d.DB, func(ctx context.Context, tx *store.Tx) error {
			n, err := tx.Exec(ctx, `UPDATE idempotency_keys SET status = 0, body = $1 WHERE team_id = $2 AND key_hash = $3`,
				[]byte{}, d.Team.ID, secrets.Hash("batch-1"))
			if err == nil && n != 1 {
				t.Errorf("%d claims", n)
			}
			return err
		})
		var pushed pushBody
		if d.Decode(d.SendWithIdempotencyKey("batch-1", path, body), &pushed); pushed.Unchanged != 3 || pushed.Created != 0 {
			t.Errorf("%+v", pushed)
		}
		if again := d.SendWithIdempotencyKey("batch-1", path, body); again.Header().Get("Idempotent-Replayed") != "true" {
			t.Errorf("the answer was not kept: %d %s", again.Code, again.Body)
		}
		if n := d.EventCount(); n != announced {
			t.Errorf("%d events more", n-announced)
		}
	})
}

// Two apps on one phone count the same minutes. Each app keeps its own values, and the
// merged line counts a minute once.
func TestTwoAppsOnOnePhone(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		path := d.Path("/v2/timeseries/{user_id}/steps")
		minute := func(app, value string) string {
			return calltest.PushText(`[{"timestamp":"2026-03-01T10:00:00Z","end":"2026-03-01T10:01:00Z","value":` + value + `,"source_type":"phone","source_app_id":"` + app + `"}]`)
		}
		var pushed pushBody
		d.Post(path, minute("com.example.one", "50"), &pushed)
		if d.Post(path, minute("com.example.two", "60"), &pushed); pushed.Created != 1 {
			t.Errorf("the second app: %+v", pushed)
		}
		if d.Post(path, minute("com.example.one", "50"), &pushed); pushed.Unchanged != 1 {
			t.Errorf("the first app again: %+v", pushed)
		}
		var groups groupsBody
		d.Get(d.Path("/v2/timeseries/{user_id}/steps/grouped?start_date=2026-03-01"), &groups)
		got := map[string]float64{}
		for _, g := range groups.Groups["apple_health_kit"] {
			got[*g.Source.AppID] = *g.Data[0].Value
		}
		if len(got) != 2 || got["com.example.one"] != 50 || got["com.example.two"] != 60 {
			t.Errorf("%v", got)
		}
		var days struct{ Days []struct{ Value float64 } }
		text := d.Get(d.Path("/v2/timeseries/{user_id}/steps/daily?start_date=2026-03-01&end_date=2026-03-01"), &days)
		if strings.Contains(text, `"value":110`) {
			t.Errorf("a minute was counted twice: %s", text)
		}
	})
}

// A push whose values are all rejected does not succeed.
func TestPushesOfRejectedValues(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		for body, want := range map[string]string{
			`[{"timestamp":"2026-02-01T08:00:00Z","value":9000}]`:                                                 `{"success":false,"created":0,"updated":0,"unchanged":0,"rejected":[{"reason":"implausible_value","count":1,"first":0}]}`,
			`[{"timestamp":"2026-02-01T08:00:00Z","value":9000},{"timestamp":"2026-02-01T08:01:00Z","value":60}]`: `{"success":true,"created":1,"updated":0,"unchanged":0,"rejected":[{"reason":"implausible_value","count":1,"first":0}]}`,
			`[]`: `{"success":true,"created":0,"updated":0,"unchanged":0,"rejected":[]}`,
		} {
			var pushed pushBody
			if got := strings.TrimSpace(d.Post(d.Path("/v2/timeseries/{user_id}/heartrate"), calltest.PushText(body), &pushed)); got != want {
				t.Errorf("%s: %s, want %s", body, got, want)
			}
		}
		var series pushedSeriesBody
		d.Post(d.Path("/v2/timeseries/{user_id}"), `{"stage":"daily","provider":"apple_health_kit","series":{"heartrate":[{"timestamp":"2026-02-01T08:00:00Z","value":9000}]}}`, &series)
		if series.Success || len(series.Rejected) != 1 {
			t.Errorf("series %+v", series)
		}
		var summaries pushBody
		d.Post(d.Path("/v2/summary/activity/{user_id}"), calltest.PushText(`[{"calendar_date":"2026-02-01","steps":-5}]`), &summaries)
		if summaries.Success || len(summaries.Rejected) != 1 {
			t.Errorf("summaries %+v", summaries)
		}
	})
}

// A type may be written without the part before the slash.
func TestPushesWithShortTypes(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		path := d.Path("/v2/timeseries/{user_id}/cholesterol")
		var pushed pushBody
		d.Post(path, calltest.PushText(`[{"timestamp":"2026-02-01T08:00:00Z","value":2.5,"type":"ldl"},{"timestamp":"2026-02-01T09:00:00Z","value":1.5,"type":"cholesterol/hdl"}]`), &pushed)
		if pushed.Created != 2 || len(pushed.Rejected) != 0 {
			t.Errorf("%+v", pushed)
		}
		d.Post(path, calltest.PushText(`[{"timestamp":"2026-02-01T08:00:00Z","value":2.5,"type":"cholesterol/ldl"}]`), &pushed)
		if pushed.Unchanged != 1 {
			t.Errorf("the same value by its whole type: %+v", pushed)
		}
		d.Post(path, calltest.PushText(`[{"timestamp":"2026-02-01T10:00:00Z","value":2.5,"type":"lipid/ldl"}]`), &pushed)
		if pushed.Success || pushed.Rejected[0].Reason != wearables.UnknownType {
			t.Errorf("another word: %+v", pushed)
		}
		var all []typedBody
		if got, want := d.Get(path+"/ldl?start_date=2026-02-01", &all), `"type":"cholesterol/ldl"`; !strings.Contains(got, want) {
			t.Errorf("%s has no %s", got, want)
		}
	})
}

func TestPushesAfterTheEndOfCollection(t *testing.T) {
	clock := storetest.NewClock(calltest.March)
	eachCallerAt(t, clock.Now, func(d userCaller) {
		clock.Set(calltest.March)
		path := d.Path("/v2/timeseries/{user_id}/heartrate")
		end := func(day string) {
			d.Status(http.StatusOK, d.Do("PATCH", d.Path("/v2/user/{user_id}"), `{"ingestion_end":"`+day+`"}`))
		}
		var pushed pushBody
		d.Post(path, calltest.PushText(calltest.Heartbeats(2)), &pushed)
		end("2026-03-14")
		if d.Post(path, calltest.PushText(calltest.Heartbeats(3)), &pushed); pushed.Created != 1 {
			t.Errorf("within the catch-up %+v", pushed)
		}
		announced := d.EventCount()
		clock.Set(clock.Now().AddDate(0, 0, 1)) // 22 March: the catch-up is over
		refused := `{"success":false,"created":0,"updated":0,"unchanged":0,"rejected":[{"reason":"connection_paused","count":4,"first":0}]}`
		for _, body := range []string{calltest.PushText(calltest.Heartbeats(4)), historicalPush(calltest.Heartbeats(4), `,"is_final_chunk":true`)} {
			if got := strings.TrimSpace(d.Post(path, body, &pushed)); got != refused {
				t.Errorf("after it %s", got)
			}
		}
		userstest.Write(t, d.DB, func(ctx context.Context, tx *store.Tx) error {
			_, err := connections.PauseEnded(ctx, tx)
			return err
		})
		var connected connectionsBody
		if d.Get(d.Path("/v2/user/providers/{user_id}"), &connected); connected.Providers[0].Status != string(connections.Paused) {
			t.Errorf("%+v", connected)
		}
		end("2026-12-31")
		if got := strings.TrimSpace(d.Post(path, calltest.PushText(calltest.Heartbeats(4)), &pushed)); got != refused {
			t.Errorf("with the end moved %s", got)
		}
		if n := d.EventCount(); n != announced+1 {
			t.Errorf("%d events, want the one about the pause", n-announced)
		}
		d.Status(http.StatusOK, d.Do("DELETE", d.Path("/v2/user/{user_id}/apple_health_kit"), ""))
		if d.Post(path, calltest.PushText(calltest.Heartbeats(4)), &pushed); pushed.Created != 1 || pushed.Unchanged != 3 {
			t.Errorf("connected again %+v", pushed)
		}
	})
}

// A pushed summary without a zone gets the device's zone, or else the user's fallback
// zone.
func TestZonesOfPushedSummaries(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		path := d.Path("/v2/summary/sleep/{user_id}")
		var pushed pushBody
		night := `[{"bedtime_start":"2026-03-01T13:00:00Z","bedtime_stop":"2026-03-01T20:00:00Z"}]`
		d.Post(path, calltest.PushText(night, `,"time_zone":"Asia/Tokyo"`), &pushed)
		var nights struct {
			Sleep []struct {
				Date   string `json:"calendar_date"`
				Offset *int   `json:"timezone_offset"`
			}
		}
		d.Get(d.Path("/v2/summary/sleep/{user_id}?start_date=2026-03-01"), &nights)
		if len(nights.Sleep) != 1 || nights.Sleep[0].Date != "2026-03-02" || *nights.Sleep[0].Offset != 9*3600 {
			t.Errorf("%+v", nights)
		}
		if d.Post(path, calltest.PushText(night, `,"time_zone":"Asia/Tokyo"`), &pushed); pushed.Unchanged != 1 {
			t.Errorf("%+v", pushed)
		}
	})
}

// If the team asks for it, a pushed history also emits the events of daily data, on every
// route. The end of a history always emits an event.
func TestHistoryValueByValue(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		for _, on := range []bool{false, true} {
			d.Team.Settings.PushHistoricalData = on
			userstest.Write(t, d.DB, func(ctx context.Context, tx *store.Tx) error { return teams.Update(ctx, tx, d.Team) })
			d.User = userstest.New(t, d.DB, d.Team.ID, users.NewUser{})
			before := len(d.EventTypes())
			const head = `{"stage":"historical","provider":"apple_health_kit","start_date":"2026-03-01","is_final_chunk":true,`
			for path, data := range map[string]string{
				"/v2/timeseries/{user_id}/heartrate": `"data":` + calltest.Heartbeats(3),
				"/v2/timeseries/{user_id}":           `"series":{"glucose":[{"timestamp":"2026-03-01T10:00:00Z","value":5.1}]}`,
				"/v2/summary/activity/{user_id}":     `"data":[{"calendar_date":"2026-03-01","steps":7}]`,
			} {
				var pushed PushCounts
				if d.Post(d.Path(path), head+data+`}`, &pushed); pushed.Created == 0 {
					t.Errorf("%s: %+v", path, pushed)
				}
			}
			announced := strings.Join(d.EventTypes()[before:], " ")
			for _, resource := range []string{"heartrate", "glucose", "activity"} {
				if n := strings.Count(announced, "daily.data."+resource+".created"); n != map[bool]int{true: 1}[on] {
					t.Errorf("%t: %d of %s in %s", on, n, resource, announced)
				}
				if strings.Count(announced, "historical.data."+resource+".created") != 1 {
					t.Errorf("%t: the end of %s in %s", on, resource, announced)
				}
			}
		}
	})
}

// A session is filed under its local day. The text of its times, the device's zone or the
// user's zone determines the day.
func TestDaysOfPushedSessions(t *testing.T) {
	eachCaller(t, func(d userCaller) {
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
			d.User = userstest.New(t, d.DB, d.Team.ID, person)
			var pushed pushBody
			d.Post(d.Path("/v2/summary/"+c.resource+"/{user_id}"), calltest.PushText("["+c.item+"]", c.head), &pushed)
			path := d.Path("/v2/summary/" + c.resource + "/{user_id}?start_date=" + c.day + "&end_date=" + c.day)
			var found map[string][]struct {
				Day    *string         `json:"calendar_date"`
				Offset json.RawMessage `json:"timezone_offset"`
			}
			d.Get(path, &found)
			all := found[c.resource]
			if len(all) != 1 || all[0].Day != nil && *all[0].Day != c.day || string(all[0].Offset) != c.offset {
				t.Errorf("%s %s: on %s there are %+v", c.resource, c.item, c.day, all)
			}
		}
	})
}

// wakeUp is the body of a phone with data of its watch, of its sensor and of the phone.
const wakeUp = `{"stage":"daily","provider":"apple_health_kit","time_zone":"Europe/Berlin","source":{"type":"watch","app_id":"com.example"},"series":{
	"heartrate":[{"timestamp":"2026-03-01T10:00:00Z","value":61},{"timestamp":"2026-03-01T10:01:00Z","value":62},
		{"timestamp":"2026-03-01T10:02:00Z","value":9000},{"timestamp":"2026-03-01T10:03:00Z","value":1,"unit":"stone"}],
	"glucose":[{"timestamp":"2026-03-01T10:00:00Z","value":90.091,"unit":"mg/dL","source_type":"automatic"}],
	"steps":[{"timestamp":"2026-03-01T10:00:00Z","end":"2026-03-01T10:01:00Z","value":50,"source_type":"phone"},
		{"timestamp":"1999-03-01T10:00:00Z","end":"1999-03-01T10:01:00Z","value":50}]}}`

func TestSeriesArePushedTogether(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		path := d.Path("/v2/timeseries/{user_id}")
		var pushed pushedSeriesBody
		rejected := `"rejected":[{"resource":"heartrate","reason":"implausible_value","count":1,"first":2},` +
			`{"resource":"heartrate","reason":"unknown_unit","count":1,"first":3},{"resource":"steps","reason":"implausible_time","count":1,"first":1}]}`
		if got, want := strings.TrimSpace(d.Post(path, wakeUp, &pushed)), `{"success":true,"created":4,"updated":0,"unchanged":0,`+rejected; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := strings.Join(d.EventTypes(), " "); strings.Count(got, "daily.data.") != 3 {
			t.Errorf("announced %s", got)
		}
		if got, want := strings.TrimSpace(d.Post(path, wakeUp, &pushed)), `{"success":true,"created":0,"updated":0,"unchanged":4,`+rejected; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := strings.Join(d.EventTypes(), " "); strings.Count(got, "daily.data.") != 3 {
			t.Errorf("announced again: %s", got)
		}
		kept := d.payloads(d.User)
		if len(kept) != 1 || kept[0].Kind != ledger.Series || kept[0].Times != 2 || kept[0].Provider != "apple_health_kit" {
			t.Errorf("kept %+v", kept)
		}
	})
}

// The same values give the same reads, whether they are pushed separately or together.
func TestSeriesAreWhatPushesOfEachAre(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		values := map[string]string{
			"heartrate":      calltest.Heartbeats(300), // more than share a transaction
			"glucose":        `[{"timestamp":"2026-03-01T10:00:00Z","value":5.1},{"timestamp":"2026-02-01T10:00:00Z","value":5.2}]`,
			"blood_pressure": `[{"timestamp":"2026-03-01T10:00:00Z","systolic":120,"diastolic":80}]`,
		}
		var together []string
		var pushed pushBody
		for name, list := range values {
			d.Post(d.Path("/v2/timeseries/{user_id}/"+name), calltest.PushText(list), &pushed)
			together = append(together, `"`+name+`":`+list)
		}
		other := d
		other.User = userstest.New(t, d.DB, d.Team.ID, users.NewUser{})
		body := strings.Replace(calltest.PushText("{"+strings.Join(together, ",")+"}"), `"data"`, `"series"`, 1)
		var all pushedSeriesBody
		if other.Post(other.Path("/v2/timeseries/{user_id}"), body, &all); all.Created != 303 || len(all.Rejected) != 0 {
			t.Errorf("%+v", all)
		}
		for name := range values {
			var groups groupsBody
			read := "/v2/timeseries/{user_id}/" + name + "/grouped?start_date=2026-02-01"
			if apart, once := d.Get(d.Path(read), &groups), other.Get(other.Path(read), &groups); apart != once || !strings.Contains(apart, `"timestamp"`) {
				t.Errorf("%s: apart\n%.300s\ntogether\n%.300s", name, apart, once)
			}
		}
	})
}

// A body with a syntax error in one series is refused for all series.
func TestSeriesAreRefusedTogether(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		path, good := d.Path("/v2/timeseries/{user_id}"), `"glucose":[{"timestamp":"2026-03-01T10:00:00Z","value":5.1}]`
		for _, c := range []struct{ body, loc string }{
			{`{"stage":"daily","provider":"apple_health_kit","series":{"heartrate":[{"timestamp":"2026-03-01T10:00:00Z","value":"x"}]}}`, `"body","series","heartrate",0,"value"`},
			{`{"stage":"daily","provider":"apple_health_kit","series":{` + good + `,"heartrate":{}}}`, `"body","series","heartrate"`},
			{`{"stage":"daily","provider":"apple_health_kit","series":{` + good + `,"workouts":[]}}`, `"body","series","workouts"`},
			{`{"stage":"daily","provider":"oura","series":{` + good + `}}`, `"body","provider"`},
			{`{"stage":"daily","provider":"apple_health_kit","data":[]}`, `"body","series"`},
		} {
			w := d.Do(http.MethodPost, path, c.body)
			if w.Code != http.StatusUnprocessableEntity || !strings.Contains(strings.ReplaceAll(w.Body.String(), " ", ""), `[`+c.loc+`]`) {
				t.Errorf("%s: %d %s", c.loc, w.Code, w.Body)
			}
		}
		if kept, announced := d.payloads(d.User), strings.Join(d.EventTypes(), " "); len(kept) > 0 || strings.Contains(announced, "daily.") {
			t.Errorf("stored %+v, announced %s", kept, announced)
		}
		d.Status(http.StatusNotFound, d.Do(http.MethodPost, "/v2/timeseries/3fa85f64-5717-4562-b3fc-2c963f66afa6", wakeUp))
	})
}

// The last chunk of a history ends the history of every series in it, including series
// without samples.
func TestTheEndOfTheHistoryOfSeveralSeries(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		body := `{"stage":"historical","provider":"apple_health_kit","start_date":"2026-02-01","is_final_chunk":true,"series":{"heartrate":` + calltest.Heartbeats(3) + `,"glucose":[]}}`
		var pushed pushedSeriesBody
		for range 2 {
			d.Post(d.Path("/v2/timeseries/{user_id}"), body, &pushed)
		}
		announced := strings.Join(d.EventTypes(), " ")
		for _, event := range []string{"historical.data.heartrate.created", "historical.data.glucose.created"} {
			if strings.Count(announced, event) != 1 {
				t.Errorf("%s in %s", event, announced)
			}
		}
	})
}

// Many phones that push at the same time share transactions, and each gets its own
// answer.
func TestSeriesOfManyPhones(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		const phones, rounds = 8, 4
		done := make(chan error, phones)
		for range phones {
			person := userstest.New(t, d.DB, d.Team.ID, users.NewUser{})
			go func() {
				for round := range rounds {
					at := fmt.Sprintf(`"timestamp":"2026-03-01T10:%02d:00Z"`, round)
					body := `{"stage":"daily","provider":"apple_health_kit","series":{"heartrate":[{` + at + `,"value":61}],"glucose":[{` + at + `,"value":5}]}}`
					r := httptest.NewRequest(http.MethodPost, "/v2/timeseries/"+person.ID.String(), strings.NewReader(body))
					r.Header.Set("x-service-api-key", d.Key)
					w := httptest.NewRecorder()
					d.API.ServeHTTP(w, r)
					if want := `{"success":true,"created":2,"updated":0,"unchanged":0,"rejected":[]}`; strings.TrimSpace(w.Body.String()) != want {
						done <- fmt.Errorf("round %d: %d %s", round, w.Code, w.Body)
						return
					}
				}
				done <- nil
			}()
		}
		for range phones {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		announced := strings.Join(d.EventTypes(), " ")
		for _, event := range []string{"daily.data.heartrate.created", "daily.data.glucose.created"} {
			if n := strings.Count(announced, event); n != phones*rounds {
				t.Errorf("%d of %s", n, event)
			}
		}
	})
}

func (d userCaller) payloads(user users.User) (all []ledger.Payload) {
	d.T.Helper()
	userstest.Read(d.T, d.DB, func(ctx context.Context, tx *store.Tx) (err error) {
		all, err = ledger.List(ctx, tx, d.Team.ID, user.ID)
		return err
	})
	return all
}

// mergePushes returns the body of a push for several users. lists are their heart rates,
// used in turn.
func mergePushes(who []users.User, lists ...string) string {
	all := make([]string, len(who))
	for i, u := range who {
		all[i] = fmt.Sprintf(`{"user_id":"%s","series":{"heartrate":%s}}`, u.ID, lists[i%len(lists)])
	}
	return `{"stage":"daily","provider":"apple_health_kit","source":{"type":"watch"},"users":[` + strings.Join(all, ",") + `]}`
}

func (d userCaller) people(n int) []users.User {
	all := make([]users.User, n)
	for i := range all {
		all[i] = userstest.New(d.T, d.DB, d.Team.ID, users.NewUser{})
	}
	return all
}

// A push for several users gives the same result as a push for each. It holds for a
// user with more samples than fit into a shared transaction, and for repeated pushes.
func TestPeopleArePushedTogether(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		apart, together := d.people(3), d.people(3)
		for _, lists := range [][]string{{calltest.Heartbeats(3), calltest.Heartbeats(300), `[]`}, {calltest.Heartbeats(5), calltest.Heartbeats(5), calltest.Heartbeats(5)}} {
			var all pushedPeopleBody
			d.Post("/v2/timeseries", mergePushes(together, lists...), &all)
			for i := range apart {
				var one pushedSeriesBody
				body := `{"stage":"daily","provider":"apple_health_kit","source":{"type":"watch"},"series":{"heartrate":` + lists[i] + `}}`
				d.Post("/v2/timeseries/"+apart[i].ID.String(), body, &one)
				if got := all.Users[i]; got.UserID != together[i].ID || got.PushCounts != one.PushCounts || len(got.Rejected) != 0 || got.Detail != nil {
					t.Errorf("%+v, apart %+v", got, one)
				}
			}
		}
		for i := range apart {
			var groups groupsBody
			read := func(u users.User) string {
				return d.Get("/v2/timeseries/"+u.ID.String()+"/heartrate/grouped?start_date=2026-02-01", &groups)
			}
			if a, b := read(apart[i]), read(together[i]); a != b || !strings.Contains(a, `"timestamp"`) {
				t.Errorf("apart %.300s\ntogether %.300s", a, b)
			}
			if a, b := d.kept(apart[i]), d.kept(together[i]); a != b || !strings.Contains(a, ledger.Series) {
				t.Errorf("kept apart %s, together %s", a, b)
			}
		}
		announced := strings.Join(d.EventTypes(), " ")
		if n := strings.Count(announced, "daily.data.heartrate.created"); n != 8 { // one of each list that brings something new
			t.Errorf("announced %d: %s", n, announced)
		}
	})
}

// kept describes the bodies in a user's ledger, sorted by the description.
func (d userCaller) kept(user users.User) string {
	var all []string
	for _, p := range d.payloads(user) {
		all = append(all, fmt.Sprint(p.Kind, p.Provider, p.Size, p.Times))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// A refused user does not affect the others. Another team's user is unknown.
func TestARefusedUserAmongPeople(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		stranger := userstest.New(t, d.DB, userstest.Team(t, d.DB).ID, users.NewUser{})
		unknownUser := users.User{ID: users.ID{7}}
		who := d.people(2)
		refused := `"success":false,"created":0,"updated":0,"unchanged":0,"rejected":[],"status":404,"code":"not_found","detail":"Not found"}`
		for round, counts := range []string{`"created":2,"updated":0,"unchanged":0`, `"created":0,"updated":0,"unchanged":2`} {
			w := d.Do(http.MethodPost, "/v2/timeseries", mergePushes([]users.User{who[0], stranger, unknownUser, who[1]}, calltest.Heartbeats(2)))
			d.Status(http.StatusOK, w)
			text := w.Body.String()
			if strings.Count(text, refused) != 2 || strings.Count(text, `"success":true,`+counts+`,"rejected":[]}`) != 2 {
				t.Errorf("round %d: %s", round, text)
			}
		}
		if announced := strings.Join(d.EventTypes(), " "); strings.Count(announced, "daily.data.heartrate.created") != 2 {
			t.Errorf("announced %s", announced)
		}
	})
}

// A value that breaks a rule is left out and reported for its user. A body with a
// syntax error is refused for all users.
func TestPeopleAreRefusedTogether(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		who := d.people(2)
		w := d.Do(http.MethodPost, "/v2/timeseries", mergePushes(who, calltest.Heartbeats(2), `{}`))
		if w.Code != http.StatusUnprocessableEntity || !strings.Contains(w.Body.String(), `["body","users",1,"series","heartrate"]`) {
			t.Errorf("%d %s", w.Code, w.Body)
		}
		if kept := d.payloads(who[0]); len(kept) > 0 {
			t.Errorf("kept %+v", kept)
		}
		var all pushedPeopleBody
		d.Post("/v2/timeseries", mergePushes(who, calltest.Heartbeats(2), `[{"timestamp":"2026-03-01T10:00:00Z","value":9000}]`), &all)
		if got := all.Users[1].Rejected; len(got) != 1 || got[0] != (seriesRejectBody{"heartrate", "implausible_value", 1, 0}) || all.Users[0].Created != 2 {
			t.Errorf("%+v", all)
		}
		d.Post("/v2/timeseries", mergePushes(who, calltest.Heartbeats(2), `[{"timestamp":"2026-03-01T10:00:00Z","value":"x"}]`), &all)
		if got := all.Users[1].Rejected; len(got) != 1 || got[0] != (seriesRejectBody{"heartrate", "malformed_value", 1, 0}) || all.Users[1].Success || all.Users[0].Unchanged != 2 {
			t.Errorf("%+v", all)
		}
		for body, status := range map[string]int{
			`{"stage":"daily","provider":"oura","users":[]}`:             http.StatusUnprocessableEntity,
			`{"stage":"daily","provider":"apple_health_kit","users":[]}`: http.StatusOK,
		} {
			d.Status(status, d.Do(http.MethodPost, "/v2/timeseries", body))
		}
	})
}

// Gateways push the same users at the same moment as their phones. No value is lost, and
// each value has one event.
func TestGatewaysAndPhonesAtOnce(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		const minutes = 8
		who := d.people(5)
		at := func(minute int) string {
			return fmt.Sprintf(`[{"timestamp":"2026-03-01T10:%02d:00Z","value":%d}]`, minute, 60+minute)
		}
		var all sync.WaitGroup
		push := func(path, body string) {
			all.Go(func() {
				if w := d.Do(http.MethodPost, path, body); w.Code != http.StatusOK || strings.Contains(w.Body.String(), `"success":false`) {
					t.Errorf("%d %s", w.Code, w.Body)
				}
			})
		}
		for minute := range minutes {
			push("/v2/timeseries", mergePushes(who, at(minute)))
			push("/v2/timeseries", mergePushes(who[1:], at(minute)))
			push("/v2/timeseries/"+who[minute%len(who)].ID.String(), `{"stage":"daily","provider":"apple_health_kit","source":{"type":"watch"},"series":{"heartrate":`+at(minute)+`}}`)
		}
		all.Wait()
		if n := strings.Count(strings.Join(d.EventTypes(), " "), "daily.data.heartrate.created"); n != len(who)*minutes {
			t.Errorf("announced %d", n)
		}
	})
}

// A pushed sleep and cycle start the job that gives the sleep the totals of its stages.
func TestPushedNightsAreAnnounced(t *testing.T) {
	var announced []wearables.TouchedData
	listen := func(_ context.Context, _ *store.Tx, _ users.User, changes []wearables.TouchedData) error {
		announced = append(announced, changes...)
		return nil
	}
	listening := func(db *store.DB) *api.API {
		return newAPIOf(db, func(h *Handlers) { h.Ingester = ingest.New(db, listen) })
	}
	calltest.EachUserCaller(t, func() time.Time { return calltest.March }, listening, func(d calltest.UserCaller) {
		for resource, night := range map[string]string{
			"sleep":       `{"bedtime_start":"2026-02-27T22:00:00Z","bedtime_stop":"2026-02-28T06:00:00Z"}`,
			"sleep_cycle": `{"session_start":"2026-02-27T22:00:00Z","session_end":"2026-02-28T06:00:00Z","stage_start_offset_second":[0],"stage_end_offset_second":[3600],"stage_type":[1]}`,
		} {
			announced = nil
			d.Post(d.Path("/v2/summary/"+resource+"/{user_id}"), `{"stage":"daily","provider":"health_connect","data":[`+night+`]}`, &struct{}{})
			if len(announced) != 1 || !announced[0].Pushed || announced[0].Resource != resource {
				t.Errorf("%s: %+v", resource, announced)
			}
		}
	})
}
