package continuous_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"hale/internal/app/apptest"
	"hale/internal/platform/store/storetest"
)

// scenario is a running service with a user and a receiver of its events.
type scenario struct {
	*apptest.Service
	t    *testing.T
	user string
	org  string // the management path of the team

	mu  sync.Mutex
	got []string // data of change events, in order of arrival
}

func begin(t *testing.T, d storetest.Database) *scenario {
	t.Helper()
	s := &scenario{Service: apptest.Start(t, d), t: t}
	var user struct {
		ID   string `json:"user_id"`
		Team string `json:"team_id"`
	}
	s.Expect(http.StatusOK, "POST", "/v2/user", `{"client_user_id":"ann","fallback_time_zone":"Europe/Berlin"}`, &user)
	s.user, s.org = user.ID, "/v1/org/"+user.Team+"/team/"+user.Team+"/sandbox/"
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var e struct{ Data json.RawMessage }
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		s.got = append(s.got, string(e.Data))
		s.mu.Unlock()
	}))
	t.Cleanup(receiver.Close)
	s.Expect(http.StatusOK, "POST", "/v2/webhooks", fmt.Sprintf(`{"url":%q,"filter_types":["continuous_query.result_table.changed"]}`, receiver.URL), nil)
	return s
}

const stepsByDay = `{"slug":"steps-by-day","title":"Steps","query":{
	"select":[{"group_key":"*"},{"func":"sum","arg":{"timeseries":"steps","field":"value"}}],
	"group_by":[{"date_trunc":{"unit":"day"},"arg":{"index":"timeseries"}}]}}`

// create makes a query and returns its id.
func (s *scenario) create(body string) string {
	s.t.Helper()
	var q struct{ ID string }
	s.Expect(http.StatusOK, "POST", s.org+"continuous_query", body, &q)
	return q.ID
}

// push sends an hour of steps.
func (s *scenario) push(at string, value int) {
	s.t.Helper()
	s.Expect(http.StatusOK, "POST", "/v2/timeseries/"+s.user+"/steps", fmt.Sprintf(`{"stage":"daily","provider":"apple_health_kit","data":[
		{"timestamp":"%s:00:00Z","end":"%[1]s:59:00Z","value":%d,"source_type":"watch"}]}`, at, value), nil)
}

// await waits for the n-th change event.
func (s *scenario) await(n int) string {
	s.t.Helper()
	for range 9000 {
		s.mu.Lock()
		if len(s.got) >= n {
			defer s.mu.Unlock()
			return s.got[n-1]
		}
		s.mu.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Fatalf("the %d. event did not come; log:\n%s", n, s.Log)
	return ""
}

func (s *scenario) result(query string) string {
	s.t.Helper()
	status, body := s.Call("GET", "/aggregate/v1/user/"+s.user+"/continuous_query/"+query+"/result_table", "")
	if status != http.StatusOK {
		s.t.Fatalf("%d %s", status, body)
	}
	return strings.TrimSpace(string(body))
}

// Steps are pushed and the result changes. Each event has only the changed rows.
func TestContinuousQueryScenario(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := begin(t, d)
		s.push("2026-03-01T10", 100) // before the query: its first run counts it too
		id := s.create(stepsByDay)
		if got := s.result("steps-by-day"); got != `{"table":{"group_key.0":[],"sum.value":[]}}` {
			t.Errorf("before any run %s", got)
		}
		delta := func(days, sums string) string {
			return `[{"query_id":"` + id + `","query_slug":"steps-by-day","data":{"group_key.0":[` + days + `],"sum.value":[` + sums + `]}}]`
		}
		s.push("2026-03-02T10", 50)
		if got := s.await(1); got != delta(`"2026-03-01T00:00:00","2026-03-02T00:00:00"`, `100,50`) {
			t.Errorf("the first event %s", got)
		}
		s.push("2026-03-02T22", 7) // 23:00 in Berlin
		s.push("2026-03-02T22", 7) // again: no changes, no event
		if got := s.await(2); got != delta(`"2026-03-02T00:00:00"`, `57`) {
			t.Errorf("the second event %s", got)
		}
		s.push("2026-03-02T23", 3) // the 3rd in Berlin
		if got := s.await(3); got != delta(`"2026-03-03T00:00:00"`, `3`) {
			t.Errorf("the third event %s", got)
		}
		const days = `"2026-03-01T00:00:00","2026-03-02T00:00:00","2026-03-03T00:00:00"`
		if got := s.result(id); got != `{"table":{"group_key.0":[`+days+`],"sum.value":[100,57,3]}}` {
			t.Errorf("the result %s", got)
		}
		s.parquet(id)
		s.history(id)

		s.Expect(http.StatusOK, "DELETE", s.org+"continuous_query/"+id, "", nil)
		s.Expect(http.StatusNotFound, "GET", "/aggregate/v1/user/"+s.user+"/continuous_query/steps-by-day/result_table", "", nil)
		s.push("2026-03-05T10", 9)
		again := s.create(stepsByDay) // the slug is free
		s.push("2026-03-06T10", 9)
		if got := s.await(4); !strings.Contains(got, again) || strings.Count(got, "T00:00:00") != 5 {
			t.Errorf("a new query begins with everything: %s", got)
		}
		if got := s.result(id); strings.Contains(got, "2026-03-05") {
			t.Errorf("an archived query continued: %s", got)
		}
	})
}

func (s *scenario) parquet(id string) {
	s.t.Helper()
	status, body := s.Call("GET", "/aggregate/v1/user/"+s.user+"/continuous_query/"+id+"/result_table", "", "Accept", "application/vnd.apache.parquet")
	type row struct {
		Day int64    `parquet:"group_key.0,optional,timestamp(microsecond)"`
		Sum *float64 `parquet:"sum.value,optional"`
	}
	rows, err := parquet.Read[row](strings.NewReader(string(body)), int64(len(body)))
	if status != http.StatusOK || err != nil || len(rows) != 3 || *rows[1].Sum != 57 || rows[0].Day != time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixMicro() {
		s.t.Errorf("Parquet %d: %+v, %v", status, rows, err)
	}
}

func (s *scenario) history(id string) {
	s.t.Helper()
	type page struct {
		Data []struct {
			QueryID   string  `json:"query_id"`
			Status    string  `json:"status"`
			EndedAt   *string `json:"ended_at"`
			Error     *string `json:"error_details"`
			Scheduled string  `json:"scheduled_at"`
		}
		Next *string `json:"next_cursor"`
	}
	base := "/aggregate/v1/user/" + s.user + "/continuous_query/" + id + "/task_history"
	var all page
	s.Get(base, &all)
	if len(all.Data) < 3 || all.Next != nil {
		s.t.Fatalf("runs %+v", all)
	}
	for _, run := range all.Data {
		if run.Status != "completed" || run.EndedAt == nil || run.Error != nil || run.QueryID != id {
			s.t.Errorf("a run %+v", run)
		}
	}
	seen := 0
	for next := ""; ; {
		var p page
		s.Get(base+"?limit=2"+next, &p)
		seen += len(p.Data)
		if p.Next == nil {
			break
		}
		next = "&next_cursor=" + *p.Next
	}
	if seen != len(all.Data) {
		s.t.Errorf("%d runs in pages, %d at once", seen, len(all.Data))
	}
}

// A row whose data was deleted leaves the result, and the event names its keys.
func TestDeletedDayScenario(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := begin(t, d)
		s.push("2026-03-01T10", 100)
		s.push("2026-03-02T10", 50)
		id := s.create(stepsByDay)
		s.push("2026-03-02T12", 7)
		s.await(1)
		s.Expect(http.StatusOK, "DELETE", "/v2/user/"+s.user+"/data?resource=steps&start=2026-03-01&end=2026-03-01", "", nil)
		want := `[{"query_id":"` + id + `","query_slug":"steps-by-day","data":{"group_key.0":[],"sum.value":[]},"removed":{"group_key.0":["2026-03-01T00:00:00"]}}]`
		if got := s.await(2); got != want {
			t.Errorf("the event %s\nwant      %s", got, want)
		}
		if got := s.result(id); got != `{"table":{"group_key.0":["2026-03-02T00:00:00"],"sum.value":[57]}}` {
			t.Errorf("the result %s", got)
		}
	})
}

// A revised summary changes or removes its rows, and events name removed rows.
// A query can switch off webhooks, but not the feed.
func TestRevisedSummariesScenario(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := begin(t, d)
		loud := s.create(`{"slug":"weights","title":"","query":{"select":[{"group_key":"*"},{"func":"newest","arg":{"body":"weight_kilogram"}}],
			"group_by":[{"date_trunc":{"unit":"month"},"arg":{"index":"body"}},{"body":"source_type"}]},"scheduling_preferences":{"minimum_gap_duration_second":null}}`)
		quiet := s.create(`{"slug":"quiet","title":"Q","export_preferences":{"data_events":{"enabled":false}},"query":{"select":[{"group_key":0},{"func":"count","arg":{"body":"weight_kilogram"}}],
			"group_by":[{"date_trunc":{"unit":"year"},"arg":{"index":"body"}}],"where":"weight_kilogram > 70"}}`)
		push := func(day string, weight float64) {
			s.Expect(http.StatusOK, "POST", "/v2/summary/body/"+s.user, fmt.Sprintf(
				`{"stage":"daily","provider":"apple_health_kit","data":[{"calendar_date":%q,"weight":%v,"source_type":"scale"}]}`, day, weight), nil)
		}
		awaitQuiet := func(want string) { // which runs at any time, and sends no event
			t.Helper()
			got := ""
			for range 9000 {
				if got = s.result(quiet); got == want {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Errorf("the quiet query has %s, want %s", got, want)
		}
		push("2026-03-01", 80)
		awaitQuiet(`{"table":{"group_key.0":["2026-01-01T00:00:00"],"count.weight_kilogram":[1]}}`)
		if got := s.await(1); !strings.Contains(got, loud) || !strings.Contains(got, `"newest.weight_kilogram":[80]`) {
			t.Errorf("the first event %s", got)
		}
		push("2026-03-01", 60)
		if got := s.await(2); !strings.Contains(got, loud) || !strings.Contains(got, `"newest.weight_kilogram":[60]`) {
			t.Errorf("the second event %s", got)
		}
		awaitQuiet(`{"table":{"group_key.0":[],"count.weight_kilogram":[]}}`) // and no row that is not true any more
		push("2026-03-02", 75)
		if got := s.await(3); !strings.Contains(got, loud) {
			t.Errorf("the quiet query spoke: %s", got)
		}
		var feed struct {
			Events []struct {
				Event struct{ Data json.RawMessage }
			}
		}
		said := []string{}
		s.Get("/v2/events?types=continuous_query.result_table.changed", &feed)
		for _, e := range feed.Events {
			if text := string(e.Event.Data); strings.Contains(text, quiet) {
				said = append(said, text[strings.Index(text, `"data"`):])
			}
		}
		if got, want := strings.Join(said, " "), `"data":{"group_key.0":["2026-01-01T00:00:00"],"count.weight_kilogram":[1]}}] `+
			`"data":{"group_key.0":[],"count.weight_kilogram":[]},"removed":{"group_key.0":["2026-01-01T00:00:00"]}}]`; !strings.HasPrefix(got, want) {
			t.Errorf("the feed of the quiet query %s", got)
		}
	})
}
