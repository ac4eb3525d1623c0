package apitest

import "strings"

// areas are the parts of the contract that are not served yet, by the
// beginnings of their operations.
var areas = []struct {
	area      string
	beginning []string
}{
	{"links to providers' clouds", []string{
		"POST /v2/link/token", "GET /v2/link/provider…", "POST /v2/link/provider/password/…", "POST /v2/link/provider/email/…",
	}},
	{"bulk operations on connections", []string{"GET /v2/link/bulk_…", "POST /v2/link/bulk_…"}},
	{"hosted webhook portal, of which the command line and /v2/webhooks have everything", []string{"GET /v2/team/svix/url"}},
	{"lab report parser", []string{"POST /lab_report/…", "GET /lab_report/…"}},
	{"organisations: teams, keys and members over the management API", []string{
		"/v1/org/{org_id}", "/v1/org/{org_id}/team", "/v1/org/{org_id}/team/{team_id}", "/v1/org/{org_id}/resolve_team",
		"/v1/org/{org_id}/team/{team_id}/create_api_access_token", "/v1/org/{org_id}/team/{team_id}/{environment}/event_delivery_metric",
		"/v1/org/{org_id}/member…", "/v1/org/{org_id}/invite…", "/v1/org/{org_id}/domain…", "/v1/org/{org_id}/management_key…",
		"/v1/org/{org_id}/team_api_keys…",
	}},
	{"providers' scopes, credentials and pull preferences of a team", []string{
		"/v1/org/{org_id}/team/{team_id}/scope_requirements", "/v1/org/{org_id}/team_custom_credentials…",
		"/v1/org/{org_id}/prepare_team_custom_credentials…", "/v1/org/{org_id}/team_data_pull_preferences…",
	}},
	{"pipelines into other stores", []string{"/v1/org/{org_id}/team_etl_pipelines…"}},
	{"embedding in electronic health records", []string{"/v1/org/{org_id}/ehr_integration…", "/v1/org/{org_id}/team_ehr_pipelines…"}},
	{"lab accounts over the management API, which the command line sets up", []string{"/v1/org/{org_id}/lab_account…"}},
}

// absent says of which area an operation is that is not served yet. A
// beginning ends where the path does, or in … for all that begins so.
func absent(o operation) (area string, listed bool) {
	for _, a := range areas {
		for _, path := range a.beginning {
			beginning, open := strings.CutSuffix(path, "…")
			whole := beginning == o.Path || beginning == o.String()
			if whole || open && (strings.HasPrefix(o.Path, beginning) || strings.HasPrefix(o.String(), beginning)) {
				return a.area, true
			}
		}
	}
	return "", false
}
