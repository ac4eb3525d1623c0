package continuous_test

import (
	"net/http"
	"strings"
	"testing"

	"hale/internal/platform/store/storetest"
)

// The test calls the management operations, with valid and with refused requests.
func TestManagement(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := begin(t, d)
		id := s.create(stepsByDay)
		path := s.org + "continuous_query"
		refused := func(status int, method, at, body, says string) {
			t.Helper()
			got, text := s.Call(method, at, body)
			if got != status || !strings.Contains(string(text), says) {
				t.Errorf("%s %s %s: %d %s", method, at, body, got, text)
			}
		}
		with := func(old, text string) string { return strings.Replace(stepsByDay, old, text, 1) }
		refused(409, "POST", path, stepsByDay, "slug")
		refused(422, "POST", path, with("steps-by-day", "Steps--"), `"slug"`)
		refused(422, "POST", path, with(`"Steps"`, `"<b>"`), `"title"`)
		refused(422, "POST", path, with(`"title"`, `"export_preferences":{"fhir_observations":true},"title"`), "fhir_observations")
		refused(422, "POST", path, with(`"title"`, `"scheduling_preferences":{"minimum_gap_duration_second":60},"title"`), "minimum_gap_duration_second")
		refused(422, "POST", path, with(`{"group_key":"*"},`, ``), `["body","query","select"]`)
		refused(422, "POST", path, with(`"title"`, `"query_config":{"provider_priority_overrides":["nobody"]},"title"`), "query_config")
		refused(422, "POST", path+"?query_type=platform", stepsByDay, "query_type")
		refused(404, "PATCH", path+"/019f0000-0000-7000-8000-000000000000", `{}`, "not found")
		refused(422, "PATCH", path+"/"+id, `{"title":"<b>"}`, "title")
		refused(422, "PATCH", path+"/"+id, `{"title":"Steps","query":{}}`, "query")
		refused(422, "PATCH", path+"/"+id, `{"titel":"Steps"}`, "titel")

		var validated struct {
			Schema       struct{ Columns []map[string]any } `json:"result_table_schema"`
			Dependencies []string                           `json:"resource_dependencies"`
		}
		s.Expect(http.StatusOK, "POST", s.org+"validate_continuous_query", with("steps-by-day", "other"), &validated)
		if len(validated.Schema.Columns) != 2 || validated.Schema.Columns[0]["group_key"] != true || validated.Dependencies[0] != "steps" {
			t.Errorf("validated %+v", validated)
		}
		var q struct {
			Title      string
			Status     string
			Scheduling struct {
				Gap *int `json:"minimum_gap_duration_second"`
			} `json:"scheduling_preferences"`
		}
		s.Expect(http.StatusOK, "PATCH", path+"/"+id, `{"title":"All steps","scheduling_preferences":{"minimum_gap_duration_second":3600}}`, &q)
		if q.Title != "All steps" || *q.Scheduling.Gap != 3600 {
			t.Errorf("changed to %+v", q)
		}
		s.Expect(http.StatusOK, "PATCH", path+"/"+id, `{"title":null,"scheduling_preferences":{}}`, &q)
		var list struct {
			Data []map[string]any
			Next *string `json:"next_cursor"`
		}
		if s.Get(path, &list); len(list.Data) != 1 || list.Data[0]["title"] != "All steps" || list.Next != nil {
			t.Errorf("the list %+v", list)
		}
		s.Expect(http.StatusOK, "DELETE", path+"/"+id, "", nil)
		if s.Get(path, &list); len(list.Data) != 0 {
			t.Errorf("the list after %+v", list)
		}
		if s.Get(path+"/"+id, &q); q.Status != "archived" {
			t.Errorf("archived: %+v", q)
		}
	})
}

// Runs for one user keep the gap that a query asks for, and none is forgotten.
func TestMinimumGap(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := begin(t, d)
		id := s.create(strings.Replace(stepsByDay, `"title"`, `"scheduling_preferences":{"minimum_gap_duration_second":1800},"title"`, 1))
		s.push("2026-03-01T10", 100)
		s.await(1)
		s.push("2026-03-01T11", 1)
		var history struct {
			Data []struct {
				Status  string
				Started *string `json:"started_at"`
			}
		}
		s.Get("/aggregate/v1/user/"+s.user+"/continuous_query/"+id+"/task_history", &history)
		if len(history.Data) != 2 || history.Data[0].Status != "scheduled" || history.Data[0].Started != nil || history.Data[1].Status != "completed" {
			t.Errorf("runs %+v", history.Data)
		}
		if got := s.result(id); !strings.Contains(got, `"sum.value":[100]`) {
			t.Errorf("the gap was not kept: %s", got)
		}
	})
}
