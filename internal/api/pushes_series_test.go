package api

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/store"
	"hale/internal/wearables/ledger"
)

// wokeUp is what a phone has at once: of its watch, its sensor and itself.
const wokeUp = `{"stage":"daily","provider":"apple_health_kit","time_zone":"Europe/Berlin","source":{"type":"watch","app_id":"com.example"},"series":{
	"heartrate":[{"timestamp":"2026-03-01T10:00:00Z","value":61},{"timestamp":"2026-03-01T10:01:00Z","value":62},
		{"timestamp":"2026-03-01T10:02:00Z","value":9000},{"timestamp":"2026-03-01T10:03:00Z","value":1,"unit":"stone"}],
	"glucose":[{"timestamp":"2026-03-01T10:00:00Z","value":90.091,"unit":"mg/dL","source_type":"automatic"}],
	"steps":[{"timestamp":"2026-03-01T10:00:00Z","end":"2026-03-01T10:01:00Z","value":50,"source_type":"phone"},
		{"timestamp":"1999-03-01T10:00:00Z","end":"1999-03-01T10:01:00Z","value":50}]}}`

func TestSeriesArePushedTogether(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		path := d.path("/v2/timeseries/{user_id}")
		var pushed pushedSeriesBody
		rejected := `"rejected":[{"resource":"heartrate","reason":"implausible_value","count":1,"first":2},` +
			`{"resource":"heartrate","reason":"unknown_unit","count":1,"first":3},{"resource":"steps","reason":"implausible_time","count":1,"first":1}]}`
		if got, want := strings.TrimSpace(d.post(path, wokeUp, &pushed)), `{"success":true,"created":4,"updated":0,"unchanged":0,`+rejected; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := strings.Join(d.eventTypes(), " "); strings.Count(got, "daily.data.") != 3 {
			t.Errorf("told %s", got)
		}
		if got, want := strings.TrimSpace(d.post(path, wokeUp, &pushed)), `{"success":true,"created":0,"updated":0,"unchanged":4,`+rejected; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if got := strings.Join(d.eventTypes(), " "); strings.Count(got, "daily.data.") != 3 {
			t.Errorf("told again: %s", got)
		}
		kept := d.payloads(d.user)
		if len(kept) != 1 || kept[0].Kind != ledger.Series || kept[0].Times != 2 || kept[0].Provider != "apple_health_kit" {
			t.Errorf("kept %+v", kept)
		}
	})
}

// The same values, pushed apart and together, are read back as the same.
func TestSeriesAreWhatPushesOfEachAre(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		values := map[string]string{
			"heartrate":      heartbeats(300), // more than share a transaction
			"glucose":        `[{"timestamp":"2026-03-01T10:00:00Z","value":5.1},{"timestamp":"2026-02-01T10:00:00Z","value":5.2}]`,
			"blood_pressure": `[{"timestamp":"2026-03-01T10:00:00Z","systolic":120,"diastolic":80}]`,
		}
		var together []string
		var pushed pushBody
		for name, list := range values {
			d.post(d.path("/v2/timeseries/{user_id}/"+name), pushText(list), &pushed)
			together = append(together, `"`+name+`":`+list)
		}
		other := d
		other.user = userstest.New(t, d.db, d.team.ID, users.NewUser{})
		body := strings.Replace(pushText("{"+strings.Join(together, ",")+"}"), `"data"`, `"series"`, 1)
		var all pushedSeriesBody
		if other.post(other.path("/v2/timeseries/{user_id}"), body, &all); all.Created != 303 || len(all.Rejected) != 0 {
			t.Errorf("%+v", all)
		}
		for name := range values {
			var groups groupsBody
			read := "/v2/timeseries/{user_id}/" + name + "/grouped?start_date=2026-02-01"
			if apart, once := d.get(d.path(read), &groups), other.get(other.path(read), &groups); apart != once || !strings.Contains(apart, `"timestamp"`) {
				t.Errorf("%s: apart\n%.300s\ntogether\n%.300s", name, apart, once)
			}
		}
	})
}

// A body that cannot be read in one place is not stored in any.
func TestSeriesAreRefusedTogether(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		path, good := d.path("/v2/timeseries/{user_id}"), `"glucose":[{"timestamp":"2026-03-01T10:00:00Z","value":5.1}]`
		for _, c := range []struct{ body, loc string }{
			{`{"stage":"daily","provider":"apple_health_kit","series":{` + good + `,"heartrate":[{"timestamp":"2026-03-01T10:00:00Z","value":"x"}]}}`, `"body","series","heartrate",0,"value"`},
			{`{"stage":"daily","provider":"apple_health_kit","series":{` + good + `,"workouts":[]}}`, `"body","series","workouts"`},
			{`{"stage":"daily","provider":"oura","series":{` + good + `}}`, `"body","provider"`},
			{`{"stage":"daily","provider":"apple_health_kit","data":[]}`, `"body","series"`},
		} {
			w := d.do(http.MethodPost, path, c.body)
			if w.Code != http.StatusUnprocessableEntity || !strings.Contains(strings.ReplaceAll(w.Body.String(), " ", ""), `[`+c.loc+`]`) {
				t.Errorf("%s: %d %s", c.loc, w.Code, w.Body)
			}
		}
		if kept, told := d.payloads(d.user), strings.Join(d.eventTypes(), " "); len(kept) > 0 || strings.Contains(told, "daily.") {
			t.Errorf("stored %+v, told %s", kept, told)
		}
		d.status(http.StatusNotFound, d.do(http.MethodPost, "/v2/timeseries/3fa85f64-5717-4562-b3fc-2c963f66afa6", wokeUp))
	})
}

// The last chunk of a history ends that of every series in it, also of those
// of which there was nothing.
func TestTheEndOfTheHistoryOfSeveralSeries(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		body := `{"stage":"historical","provider":"apple_health_kit","start_date":"2026-02-01","is_final_chunk":true,"series":{"heartrate":` + heartbeats(3) + `,"glucose":[]}}`
		var pushed pushedSeriesBody
		for range 2 {
			d.post(d.path("/v2/timeseries/{user_id}"), body, &pushed)
		}
		told := strings.Join(d.eventTypes(), " ")
		for _, event := range []string{"historical.data.heartrate.created", "historical.data.glucose.created"} {
			if strings.Count(told, event) != 1 {
				t.Errorf("%s in %s", event, told)
			}
		}
	})
}

// Many phones that wake up together share transactions, and each is answered
// with its own.
func TestSeriesOfManyPhones(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		const phones, rounds = 8, 4
		done := make(chan error, phones)
		for range phones {
			person := userstest.New(t, d.db, d.team.ID, users.NewUser{})
			go func() {
				for round := range rounds {
					at := fmt.Sprintf(`"timestamp":"2026-03-01T10:%02d:00Z"`, round)
					body := `{"stage":"daily","provider":"apple_health_kit","series":{"heartrate":[{` + at + `,"value":61}],"glucose":[{` + at + `,"value":5}]}}`
					r := httptest.NewRequest(http.MethodPost, "/v2/timeseries/"+person.ID.String(), strings.NewReader(body))
					r.Header.Set("x-service-api-key", d.key)
					w := httptest.NewRecorder()
					d.api.ServeHTTP(w, r)
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
		told := strings.Join(d.eventTypes(), " ")
		for _, event := range []string{"daily.data.heartrate.created", "daily.data.glucose.created"} {
			if n := strings.Count(told, event); n != phones*rounds {
				t.Errorf("%d of %s", n, event)
			}
		}
	})
}

func (d dataDoor) payloads(user users.User) (all []ledger.Payload) {
	d.t.Helper()
	userstest.Read(d.t, d.db, func(ctx context.Context, tx *store.Tx) (err error) {
		all, err = ledger.List(ctx, tx, d.team.ID, user.ID)
		return err
	})
	return all
}
