package apitest

import (
	"fmt"
	"testing"
)

func init() {
	wholeBodies["POST /v1/org/{org_id}/team/{team_id}/{environment}/continuous_query"] = fmt.Sprintf(someQuery, 0)
	meant["GET /v2/team/users/search"] = map[string]string{"query_id": "user_id"}
}

const someQuery = `{"slug":"beats-%d","title":"Beats","query":{
	"select":[{"group_key":"*"},{"func":"max","arg":{"timeseries":"heartrate","field":"value"}}],
	"group_by":[{"date_trunc":{"unit":"day"},"arg":{"index":"timeseries"}}]}}`

// continuousQuery makes a query and waits until it has run for the user, so
// that what a test looks at afterwards stands still. It goes with the test,
// since every push of the team looks at every one.
func (s *service) continuousQuery(t *testing.T, f *fixture) {
	t.Helper()
	org := "/v1/org/" + f.ids["team_id"] + "/team/" + f.ids["team_id"] + "/sandbox/continuous_query"
	if !s.serves("POST /v1/org/{org_id}/team/{team_id}/{environment}/continuous_query") {
		return
	}
	f.ids["query_id"] = s.field(t, "POST", org, fmt.Sprintf(someQuery, count.Add(1)), "id")
	t.Cleanup(func() { s.send(t, request{method: "DELETE", path: org + "/" + f.ids["query_id"]}, s.Key) })
	s.make(t, "POST", "/v2/timeseries/"+f.ids["user_id"]+"/heartrate",
		`{"stage":"daily","provider":"apple_health_kit","data":[{"timestamp":"2026-02-20T12:00:00Z","value":66,"unit":"bpm","source_type":"watch"}]}`)
	history := "/aggregate/v1/user/" + f.ids["user_id"] + "/continuous_query/" + f.ids["query_id"] + "/task_history"
	await(t, "the run of a continuous query", func() bool {
		var runs struct{ Data []struct{ Status string } }
		s.get(t, history, &runs)
		return len(runs.Data) > 0 && runs.Data[0].Status == "completed"
	})
}
