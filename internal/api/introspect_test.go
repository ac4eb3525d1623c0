package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
	"hale/internal/wearables/connections"
)

func historical(data string, more ...string) string {
	return strings.Replace(pushText(data, more...), "daily", "historical", 1)
}

// A phone sends history, then what is new, then garbage.
func TestIntrospectResources(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		var pushed pushBody
		heart, weight := d.path("/v2/timeseries/{user_id}/heartrate"), d.path("/v2/timeseries/{user_id}/body_weight")
		d.post(heart, historical(heartbeats(3)), &pushed)
		d.post(heart, pushText(`[{"timestamp":"2026-01-30T00:00:00Z","value":61},{"timestamp":"2026-02-03T00:00:00Z","value":62}]`), &pushed)
		d.post(heart, pushText(`[{"timestamp":"2026-02-03T00:00:00Z","value":63},{"timestamp":"2026-02-04T00:00:00Z","value":64}]`), &pushed)
		d.post(weight, pushText(`[{"timestamp":"2026-02-01T00:00:00Z","value":70}]`), &pushed)
		d.post(weight, pushText(`[{"timestamp":"2026-02-05T00:00:00Z","value":7000}]`), &pushed)
		d.post(d.path("/v2/summary/activity/{user_id}"), pushText(`[{"calendar_date":"2026-02-01","steps":7}]`), &pushed)
		d.post(d.path("/v2/summary/profile/{user_id}"), pushText(`[{"height":178}]`), &pushed)

		now := `"last_attempt":{"timestamp":"2026-03-21T12:00:00+00:00","status":"success"}`
		want := `{"data":[{"user_id":"` + d.user.ID.String() + `","provider":{"apple_health_kit":{` +
			`"activity":{` + now + `,"oldest_data":"2026-02-01T00:00:00+00:00","newest_data":"2026-02-01T00:00:00+00:00","sent_count":1},` +
			`"heartrate":{` + now + `,"oldest_data":"2026-01-30T00:00:00+00:00","newest_data":"2026-02-04T00:00:00+00:00","sent_count":3},` +
			`"profile":{` + now + `,"oldest_data":null,"newest_data":null,"sent_count":1},` +
			`"weight":{` + strings.Replace(now, "success", "failure", 1) + `,"oldest_data":"2026-02-01T00:00:00+00:00","newest_data":"2026-02-01T00:00:00+00:00","sent_count":1}` +
			`}}}],"next":null,"next_cursor":null}`
		for _, query := range []string{"", "?user_id=" + d.user.ID.String(), "?provider=apple_health_kit"} {
			if got := strings.TrimSpace(d.get("/v2/introspect/resources"+query, &struct{}{})); got != want {
				t.Errorf("%s\ngot  %s\nwant %s", query, got, want)
			}
		}
		want = `{"data":[{"user_id":"` + d.user.ID.String() + `","provider":{}}],"next":null,"next_cursor":null}`
		if got := strings.TrimSpace(d.get("/v2/introspect/resources?provider=oura", &struct{}{})); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestIntrospectHistory(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		var pushed pushBody
		var pulls pullsBody
		read := func() providerPullsBody {
			t.Helper()
			pulls = pullsBody{}
			d.get("/v2/introspect/historical_pull", &pulls)
			if len(pulls.Data) != 1 {
				t.Fatalf("%+v", pulls)
			}
			return pulls.Data[0].Provider["apple_health_kit"]
		}
		ends := func(final bool) string {
			return fmt.Sprintf(`,"start_date":"2026-01-01","end_date":"2026-02-28","is_final_chunk":%v`, final)
		}
		heart, weight := d.path("/v2/timeseries/{user_id}/heartrate"), d.path("/v2/timeseries/{user_id}/body_weight")
		d.post(d.path("/v2/timeseries/{user_id}/steps"), pushText(`[{"timestamp":"2026-02-01T00:00:00Z","end":"2026-02-01T00:10:00Z","value":60}]`), &pushed)
		d.post(heart, historical(heartbeats(3), ends(false)), &pushed)
		if got := read(); len(got.Pulled) != 1 || got.Pulled["heartrate"].Status != "in_progress" {
			t.Errorf("after the first chunk %+v", got.Pulled)
		}
		d.post(heart, historical(`[{"timestamp":"2026-02-20T00:00:00Z","value":61},{"timestamp":"2026-03-20T00:00:00Z","value":61}]`, ends(true)), &pushed)
		d.post(weight, historical(`[{"timestamp":"2026-01-05T00:00:00Z","value":71},{"timestamp":"2026-01-05T09:00:00Z","value":72},{"timestamp":"2026-02-01T00:00:00Z","value":70}]`, ends(true)), &pushed)
		d.post(d.path("/v2/summary/sleep/{user_id}"), historical(`[]`, ends(true)), &pushed)
		d.post(d.path("/v2/summary/activity/{user_id}"), historical(`[{"calendar_date":"2026-02-01","steps":7},{"calendar_date":"2026-02-02","steps":7}]`, ends(true)), &pushed)

		got := read()
		for resource, days := range map[string]int64{"heartrate": 2, "weight": 2, "sleep": 0, "activity": 2} {
			if p := got.Pulled[resource]; p.Status != "success" || p.DaysWithData != days || p.RangeStart.Value == nil || p.Timeline.EndedAt.Value == nil {
				t.Errorf("%s: %+v", resource, p)
			}
		}
		if text := strings.Join(got.NotPulled, " "); len(got.Pulled) != 4 || !strings.Contains(text, "steps") || strings.Contains(text, "heartrate ") {
			t.Errorf("pulled %+v, not pulled %s", got.Pulled, text)
		}
		text := d.get("/v2/introspect/historical_pull?provider=apple_health_kit&user_id="+d.user.ID.String(), &pulls)
		want := `"heartrate":{"status":"success","range_start":"2026-01-01T00:00:00+00:00","range_end":"2026-02-28T23:59:59+00:00",` +
			`"timeline":{"scheduled_at":"2026-03-21T12:00:00+00:00","started_at":"2026-03-21T12:00:00+00:00","ended_at":"2026-03-21T12:00:00+00:00"},` +
			`"days_with_data":2,"release":"","attempts":1,"trace_id":null,"error_details":null}`
		if !strings.Contains(text, want) {
			t.Errorf("got  %s\nwant %s", text, want)
		}
		pulls = pullsBody{}
		if d.get("/v2/introspect/historical_pull?provider=oura", &pulls); len(pulls.Data[0].Provider) != 0 {
			t.Errorf("another provider: %+v", pulls)
		}
	})
}

// A provider that is connected anew has its past before it again.
func TestIntrospectHistoryOfANewConnection(t *testing.T) {
	now := march
	eachDataDoorAt(t, func() time.Time { return now }, func(d dataDoor) {
		now = march
		var pushed pushBody
		heart := d.path("/v2/timeseries/{user_id}/heartrate")
		d.post(heart, historical(heartbeats(3), `,"is_final_chunk":true`), &pushed)
		now = now.Add(time.Hour)
		ctx := store.WithTeam(context.Background(), d.team.ID.UUID())
		err := d.db.Write(ctx, func(tx *store.Tx) error {
			return connections.Deregister(ctx, tx, d.team.ID, d.user.ID, "apple_health_kit")
		})
		if err != nil {
			t.Fatal(err)
		}
		d.post(heart, pushText(heartbeats(4)), &pushed)
		var pulls pullsBody
		d.get("/v2/introspect/historical_pull", &pulls)
		if p := pulls.Data[0].Provider["apple_health_kit"]; len(p.Pulled) != 0 {
			t.Errorf("of the connection before: %+v", p.Pulled)
		}
		d.post(heart, historical(heartbeats(5)), &pushed)
		pulls = pullsBody{}
		d.get("/v2/introspect/historical_pull", &pulls)
		if p := pulls.Data[0].Provider["apple_health_kit"].Pulled["heartrate"]; p.Status != "in_progress" || p.Timeline.ScheduledAt.String() != Time(now).String() {
			t.Errorf("anew: %+v", p)
		}
	})
}

func TestIntrospectPages(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		for range 4 {
			userstest.New(t, d.db, d.team.ID, users.NewUser{})
		}
		gone := userstest.New(t, d.db, d.team.ID, users.NewUser{})
		userstest.Write(t, d.db, func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, gone.Team, gone.ID) })
		stranger := userstest.New(t, d.db, userstest.Team(t, d.db).ID, users.NewUser{})
		seen, path, pages := map[string]bool{}, "/v2/introspect/resources?user_limit=2", 0
		for cursor := ""; ; pages++ {
			var body resourcesBody
			d.get(path+cursor, &body)
			for _, row := range body.Data {
				seen[row.UserID.String()] = true
			}
			if body.NextCursor == nil {
				break
			}
			cursor = "&next_cursor=" + *body.NextCursor
			if pages%2 == 0 {
				cursor = "&cursor=" + *body.Next
			}
		}
		if len(seen) != 5 || pages != 2 || seen[gone.ID.String()] || seen[stranger.ID.String()] {
			t.Errorf("%d users on %d further pages", len(seen), pages)
		}
		for query, status := range map[string]int{
			"?user_id=" + stranger.ID.String(): 404, "?user_id=" + gone.ID.String(): 404, "?user_id=me": 422, "?user_id=" + strings.ReplaceAll(gone.ID.String(), "-", ""): 422,
			"?user_limit=0": 422, "?user_limit=501": 422, "?next_cursor=x": 422,
		} {
			for _, path := range []string{"/v2/introspect/resources", "/v2/introspect/historical_pull"} {
				if w := d.do(http.MethodGet, path+query, ""); w.Code != status {
					t.Errorf("%s%s: %d %s", path, query, w.Code, w.Body)
				}
			}
		}
		// One of another list would begin at the beginning, for ever.
		another := paging.Encode(samplesCursor{"heartrate", 1, 1})
		if w := d.do(http.MethodGet, path+"&next_cursor="+another, ""); w.Code != 422 || !strings.Contains(w.Body.String(), "next_cursor") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// A slug that nothing has would be answered with nothing.
func TestIntrospectKnowsProviders(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		for _, c := range []struct {
			provider           string
			resources, history int
		}{{"oura", 200, 200}, {"", 200, 200}, {"apple_health", 422, 422}, {"quest", 422, 200}} {
			for path, want := range map[string]int{"resources": c.resources, "historical_pull": c.history} {
				if w := d.do(http.MethodGet, "/v2/introspect/"+path+"?provider="+c.provider, ""); w.Code != want {
					t.Errorf("%s of %q: %d %s", path, c.provider, w.Code, w.Body)
				}
			}
		}
	})
}

// A phone that does not say what its history covers: the bounds are those of
// what came, in whatever chunks, and what comes after the end is counted too. A
// range that ends before it starts is refused at every door.
func TestIntrospectHistoryOfUnknownRange(t *testing.T) {
	eachDataDoor(t, func(d dataDoor) {
		var pushed pushBody
		heart := d.path("/v2/timeseries/{user_id}/heartrate")
		beat := func(date string, more ...string) {
			d.post(heart, historical(`[{"timestamp":"`+date+`T08:00:00Z","value":61}]`, more...), &pushed)
		}
		beat("2026-02-05")
		beat("2026-01-05", `,"is_final_chunk":true`)
		told := d.eventTypes()
		if n := len(told); told[n-1] != "historical.data.heartrate.created" {
			t.Errorf("told %v", told)
		}
		beat("2026-01-20")
		var pulls pullsBody
		d.get("/v2/introspect/historical_pull", &pulls)
		p := pulls.Data[0].Provider["apple_health_kit"].Pulled["heartrate"]
		if from, to := p.RangeStart.Value, p.RangeEnd.Value; from == nil || from.String() != "2026-01-05T08:00:00+00:00" || to.String() != "2026-02-05T08:00:00+00:00" || p.DaysWithData != 3 {
			t.Errorf("%v to %v, %d days", from, to, p.DaysWithData)
		}
		if n := len(d.eventTypes()); n != len(told) {
			t.Errorf("%d events more", n-len(told))
		}
		const wrong = `,"start_date":"2026-02-01","end_date":"2026-01-01","is_final_chunk":true`
		for path, body := range map[string]string{
			heart:                                    historical(heartbeats(1), wrong),
			d.path("/v2/timeseries/{user_id}"):       `{"stage":"historical","provider":"apple_health_kit","series":{}` + wrong + `}`,
			d.path("/v2/summary/activity/{user_id}"): historical(`[]`, wrong),
		} {
			w := d.do("POST", path, body)
			if d.status(http.StatusUnprocessableEntity, w); !strings.Contains(w.Body.String(), `["body","end_date"]`) {
				t.Error(w.Body)
			}
		}
	})
}
