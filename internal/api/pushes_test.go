package api

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hale/internal/connections"
	"hale/internal/events"
	"hale/internal/secrets"
	"hale/internal/store"
	"hale/internal/users/userstest"
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
