package wearables

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hale/internal/api"
	"hale/internal/api/calltest"
	"hale/internal/people/users"
	"hale/internal/people/users/userstest"
	"hale/internal/platform/paging"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/wearables/connections"
)

func historicalPush(data string, more ...string) string {
	return strings.Replace(calltest.PushText(data, more...), "daily", "historical", 1)
}

// A phone sends history, then what is new, then garbage.
func TestIntrospectResources(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var pushed pushBody
		heart, weight := d.Path("/v2/timeseries/{user_id}/heartrate"), d.Path("/v2/timeseries/{user_id}/body_weight")
		d.Post(heart, historicalPush(calltest.Heartbeats(3)), &pushed)
		d.Post(heart, calltest.PushText(`[{"timestamp":"2026-01-30T00:00:00Z","value":61},{"timestamp":"2026-02-03T00:00:00Z","value":62}]`), &pushed)
		d.Post(heart, calltest.PushText(`[{"timestamp":"2026-02-03T00:00:00Z","value":63},{"timestamp":"2026-02-04T00:00:00Z","value":64}]`), &pushed)
		d.Post(weight, calltest.PushText(`[{"timestamp":"2026-02-01T00:00:00Z","value":70}]`), &pushed)
		d.Post(weight, calltest.PushText(`[{"timestamp":"2026-02-05T00:00:00Z","value":7000}]`), &pushed)
		d.Post(d.Path("/v2/summary/activity/{user_id}"), calltest.PushText(`[{"calendar_date":"2026-02-01","steps":7}]`), &pushed)
		d.Post(d.Path("/v2/summary/profile/{user_id}"), calltest.PushText(`[{"height":178}]`), &pushed)

		now := `"last_attempt":{"timestamp":"2026-03-21T12:00:00+00:00","status":"success"}`
		want := `{"data":[{"user_id":"` + d.User.ID.String() + `","provider":{"apple_health_kit":{` +
			`"activity":{` + now + `,"oldest_data":"2026-02-01T00:00:00+00:00","newest_data":"2026-02-01T00:00:00+00:00","sent_count":1},` +
			`"heartrate":{` + now + `,"oldest_data":"2026-01-30T00:00:00+00:00","newest_data":"2026-02-04T00:00:00+00:00","sent_count":3},` +
			`"profile":{` + now + `,"oldest_data":null,"newest_data":null,"sent_count":1},` +
			`"weight":{` + strings.Replace(now, "success", "failure", 1) + `,"oldest_data":"2026-02-01T00:00:00+00:00","newest_data":"2026-02-01T00:00:00+00:00","sent_count":1}` +
			`}}}],"next":null,"next_cursor":null}`
		for _, query := range []string{"", "?user_id=" + d.User.ID.String(), "?provider=apple_health_kit"} {
			if got := strings.TrimSpace(d.Get("/v2/introspect/resources"+query, &struct{}{})); got != want {
				t.Errorf("%s\ngot  %s\nwant %s", query, got, want)
			}
		}
		want = `{"data":[{"user_id":"` + d.User.ID.String() + `","provider":{}}],"next":null,"next_cursor":null}`
		if got := strings.TrimSpace(d.Get("/v2/introspect/resources?provider=oura", &struct{}{})); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestIntrospectHistory(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var pushed pushBody
		var pulls pullsBody
		read := func() providerPullsBody {
			t.Helper()
			pulls = pullsBody{}
			d.Get("/v2/introspect/historical_pull", &pulls)
			if len(pulls.Data) != 1 {
				t.Fatalf("%+v", pulls)
			}
			return pulls.Data[0].Provider["apple_health_kit"]
		}
		ends := func(final bool) string {
			return fmt.Sprintf(`,"start_date":"2026-01-01","end_date":"2026-02-28","is_final_chunk":%v`, final)
		}
		heart, weight := d.Path("/v2/timeseries/{user_id}/heartrate"), d.Path("/v2/timeseries/{user_id}/body_weight")
		d.Post(d.Path("/v2/timeseries/{user_id}/steps"), calltest.PushText(`[{"timestamp":"2026-02-01T00:00:00Z","end":"2026-02-01T00:10:00Z","value":60}]`), &pushed)
		d.Post(heart, historicalPush(calltest.Heartbeats(3), ends(false)), &pushed)
		if got := read(); len(got.Pulled) != 1 || got.Pulled["heartrate"].Status != "in_progress" {
			t.Errorf("after the first chunk %+v", got.Pulled)
		}
		d.Post(heart, historicalPush(`[{"timestamp":"2026-02-20T00:00:00Z","value":61},{"timestamp":"2026-03-20T00:00:00Z","value":61}]`, ends(true)), &pushed)
		d.Post(weight, historicalPush(`[{"timestamp":"2026-01-05T00:00:00Z","value":71},{"timestamp":"2026-01-05T09:00:00Z","value":72},{"timestamp":"2026-02-01T00:00:00Z","value":70}]`, ends(true)), &pushed)
		d.Post(d.Path("/v2/summary/sleep/{user_id}"), historicalPush(`[]`, ends(true)), &pushed)
		d.Post(d.Path("/v2/summary/activity/{user_id}"), historicalPush(`[{"calendar_date":"2026-02-01","steps":7},{"calendar_date":"2026-02-02","steps":7}]`, ends(true)), &pushed)

		got := read()
		for resource, days := range map[string]int64{"heartrate": 2, "weight": 2, "sleep": 0, "activity": 2} {
			if p := got.Pulled[resource]; p.Status != "success" || p.DaysWithData != days || p.RangeStart.Value == nil || p.Timeline.EndedAt.Value == nil {
				t.Errorf("%s: %+v", resource, p)
			}
		}
		if text := strings.Join(got.NotPulled, " "); len(got.Pulled) != 4 || !strings.Contains(text, "steps") || strings.Contains(text, "heartrate ") {
			t.Errorf("pulled %+v, not pulled %s", got.Pulled, text)
		}
		text := d.Get("/v2/introspect/historical_pull?provider=apple_health_kit&user_id="+d.User.ID.String(), &pulls)
		want := `"heartrate":{"status":"success","range_start":"2026-01-01T00:00:00+00:00","range_end":"2026-02-28T23:59:59+00:00",` +
			`"timeline":{"scheduled_at":"2026-03-21T12:00:00+00:00","started_at":"2026-03-21T12:00:00+00:00","ended_at":"2026-03-21T12:00:00+00:00"},` +
			`"days_with_data":2,"release":"","attempts":1,"trace_id":null,"error_details":null}`
		if !strings.Contains(text, want) {
			t.Errorf("got  %s\nwant %s", text, want)
		}
		pulls = pullsBody{}
		if d.Get("/v2/introspect/historical_pull?provider=oura", &pulls); len(pulls.Data[0].Provider) != 0 {
			t.Errorf("another provider: %+v", pulls)
		}
	})
}

// A provider that is connected again has its history to send again.
func TestIntrospectHistoryOfANewConnection(t *testing.T) {
	clock := storetest.NewClock(calltest.March)
	eachCallerAt(t, clock.Now, func(d userCaller) {
		clock.Set(calltest.March)
		var pushed pushBody
		heart := d.Path("/v2/timeseries/{user_id}/heartrate")
		d.Post(heart, historicalPush(calltest.Heartbeats(3), `,"is_final_chunk":true`), &pushed)
		clock.Advance(time.Hour)
		ctx := store.WithTeam(context.Background(), d.Team.ID.UUID())
		err := d.DB.Write(ctx, func(tx *store.Tx) error {
			return connections.Deregister(ctx, tx, d.Team.ID, d.User.ID, "apple_health_kit")
		})
		if err != nil {
			t.Fatal(err)
		}
		d.Post(heart, calltest.PushText(calltest.Heartbeats(4)), &pushed)
		var pulls pullsBody
		d.Get("/v2/introspect/historical_pull", &pulls)
		if p := pulls.Data[0].Provider["apple_health_kit"]; len(p.Pulled) != 0 {
			t.Errorf("of the connection before: %+v", p.Pulled)
		}
		d.Post(heart, historicalPush(calltest.Heartbeats(5)), &pushed)
		pulls = pullsBody{}
		d.Get("/v2/introspect/historical_pull", &pulls)
		if p := pulls.Data[0].Provider["apple_health_kit"].Pulled["heartrate"]; p.Status != "in_progress" || p.Timeline.ScheduledAt.String() != api.Time(clock.Now()).String() {
			t.Errorf("again: %+v", p)
		}
	})
}

func TestIntrospectPages(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		for range 4 {
			userstest.New(t, d.DB, d.Team.ID, users.NewUser{})
		}
		gone := userstest.New(t, d.DB, d.Team.ID, users.NewUser{})
		userstest.Write(t, d.DB, func(ctx context.Context, tx *store.Tx) error { return users.Delete(ctx, tx, gone.Team, gone.ID) })
		stranger := userstest.New(t, d.DB, userstest.Team(t, d.DB).ID, users.NewUser{})
		seen, path, pages := map[string]bool{}, "/v2/introspect/resources?user_limit=2", 0
		for cursor := ""; ; pages++ {
			var body resourcesBody
			d.Get(path+cursor, &body)
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
				if w := d.Do(http.MethodGet, path+query, ""); w.Code != status {
					t.Errorf("%s%s: %d %s", path, query, w.Code, w.Body)
				}
			}
		}
		// One of another list would begin at the beginning, for ever.
		another := paging.Encode(samplesCursor{"heartrate", 1, 1})
		if w := d.Do(http.MethodGet, path+"&next_cursor="+another, ""); w.Code != 422 || !strings.Contains(w.Body.String(), "next_cursor") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	})
}

// A slug that nothing has would be answered with nothing.
func TestIntrospectKnowsProviders(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		for _, c := range []struct {
			provider           string
			resources, history int
		}{{"oura", 200, 200}, {"", 200, 200}, {"apple_health", 422, 422}, {"quest", 422, 200}} {
			for path, want := range map[string]int{"resources": c.resources, "historical_pull": c.history} {
				if w := d.Do(http.MethodGet, "/v2/introspect/"+path+"?provider="+c.provider, ""); w.Code != want {
					t.Errorf("%s of %q: %d %s", path, c.provider, w.Code, w.Body)
				}
			}
		}
	})
}

// If a phone does not state the range of its history, the bounds are those of
// the data that arrived, in any chunks. Data after the end is counted too.
// Every operation refuses a range that ends before it starts.
func TestIntrospectHistoryOfUnknownRange(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var pushed pushBody
		heart := d.Path("/v2/timeseries/{user_id}/heartrate")
		beat := func(date string, more ...string) {
			d.Post(heart, historicalPush(`[{"timestamp":"`+date+`T08:00:00Z","value":61}]`, more...), &pushed)
		}
		beat("2026-02-05")
		beat("2026-01-05", `,"is_final_chunk":true`)
		announced := d.EventTypes()
		if n := len(announced); announced[n-1] != "historical.data.heartrate.created" {
			t.Errorf("announced %v", announced)
		}
		beat("2026-01-20")
		var pulls pullsBody
		d.Get("/v2/introspect/historical_pull", &pulls)
		p := pulls.Data[0].Provider["apple_health_kit"].Pulled["heartrate"]
		if from, to := p.RangeStart.Value, p.RangeEnd.Value; from == nil || from.String() != "2026-01-05T08:00:00+00:00" || to.String() != "2026-02-05T08:00:00+00:00" || p.DaysWithData != 3 {
			t.Errorf("%v to %v, %d days", from, to, p.DaysWithData)
		}
		if n := len(d.EventTypes()); n != len(announced) {
			t.Errorf("%d events more", n-len(announced))
		}
		const wrong = `,"start_date":"2026-02-01","end_date":"2026-01-01","is_final_chunk":true`
		for path, body := range map[string]string{
			heart:                                    historicalPush(calltest.Heartbeats(1), wrong),
			d.Path("/v2/timeseries/{user_id}"):       `{"stage":"historical","provider":"apple_health_kit","series":{}` + wrong + `}`,
			d.Path("/v2/summary/activity/{user_id}"): historicalPush(`[]`, wrong),
		} {
			w := d.Do("POST", path, body)
			if d.Status(http.StatusUnprocessableEntity, w); !strings.Contains(w.Body.String(), `["body","end_date"]`) {
				t.Error(w.Body)
			}
		}
	})
}

// importedRecord is a row of an import as a node would have left it.
type importedRecord struct {
	kind, status, stage, error string
	attempts                   int
}

func (d userCaller) imported(i importedRecord) (id string) {
	d.T.Helper()
	userstest.Write(d.T, d.DB, func(ctx context.Context, tx *store.Tx) error {
		made := tx.NewUUID()
		id = made.String()
		_, err := tx.Exec(ctx, `INSERT INTO imports (team_id, user_id, id, kind, size, sha256, history_only, status, stage, spool,
				step, done, total, records, skipped, error, attempts, created_at, started_at)
			VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $8, $9, '', 0, 0, 0, 0, $10, $11, $12, $12)`,
			d.Team.ID, d.User.ID, made, i.kind, []byte{}, false, i.status, i.stage, uuid.NewString(), i.error, i.attempts, tx.Now())
		return err
	})
	return id
}

// An import that is queued, running, retried or failed appears in the place of
// its history. The entry has the id with which a caller can read the import
// itself.
func TestIntrospectHistoryListsImports(t *testing.T) {
	for _, c := range []struct {
		importedRecord
		status, problem string
	}{
		{importedRecord{"health_connect", "queued", "", "", 0}, "scheduled", ""},
		{importedRecord{"health_connect", "running", "historical", "", 1}, "in_progress", ""},
		{importedRecord{"health_connect", "queued", "historical", "an attempt failed; it will be tried again", 2}, "retrying", "resource_contention"},
		{importedRecord{"health_connect", "failed", "historical", "the file is cut short", 1}, "failure", "non_retriable_error"},
		{importedRecord{"health_connect", "failed", "historical", "an internal error", 6}, "failure", "retry_quota_exhausted"},
	} {
		t.Run(c.importedRecord.status+fmt.Sprint(c.attempts), func(t *testing.T) {
			eachCaller(t, func(d userCaller) {
				id := d.imported(c.importedRecord)
				got := d.pull("health_connect", "heartrate")
				problem := ""
				if got.ErrorDetails != nil {
					problem = *got.ErrorDetails
				}
				if string(got.Status) != c.status || problem != c.problem || got.Attempts != c.attempts || got.TraceID == nil || *got.TraceID != id {
					t.Errorf("%+v, %s", got, problem)
				}
			})
		})
	}
}

// So it is of every kind that brings a past.
func TestIntrospectHistoryListsAllKinds(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		for kind, at := range map[string][2]string{
			"oura": {"oura", "sleep"}, "strava": {"strava", "workouts"}, "whoop": {"whoop_v2", "sleep"}, "suunto": {"manual", "steps"},
		} {
			if got := d.pull(at[0], at[1]); got.Status != "" {
				t.Errorf("%s, before: %+v", kind, got)
			}
			id := d.imported(importedRecord{kind, "failed", "historical", "the file is cut short", 1})
			if got := d.pull(at[0], at[1]); got.Status != "failure" || got.TraceID == nil || *got.TraceID != id {
				t.Errorf("%s: %+v", kind, got)
			}
		}
	})
}

func TestIntrospectHistoryKeepsStoredResources(t *testing.T) {
	eachCaller(t, func(d userCaller) {
		var pushed pushBody
		final := `,"start_date":"2026-01-01","end_date":"2026-02-28","is_final_chunk":true`
		d.Post(d.Path("/v2/timeseries/{user_id}/heartrate"), historicalPush(calltest.Heartbeats(3), final), &pushed)
		d.imported(importedRecord{"apple_health", "failed", "historical", "the file is cut short", 1})
		if got := d.pull("apple_health_kit", "heartrate"); got.Status != "success" {
			t.Errorf("%+v", got)
		}
		if got := d.pull("apple_health_kit", "steps"); got.Status != "failure" {
			t.Errorf("%+v", got)
		}
		d.imported(importedRecord{"apple_health", "succeeded", "historical", "", 1}) // a later one counts
		d.imported(importedRecord{"apple_health", "failed", "daily", "", 1})         // brings no past
		d.imported(importedRecord{"fit", "failed", "historical", "", 1})             // a recording
		if got := d.pull("apple_health_kit", "steps"); got.Status != "" {
			t.Errorf("%+v", got)
		}
	})
}

func (d userCaller) pull(provider, resource string) pullBody {
	d.T.Helper()
	var pulls pullsBody
	d.Get("/v2/introspect/historical_pull?user_id="+d.User.ID.String(), &pulls)
	return pulls.Data[0].Provider[provider].Pulled[resource]
}
