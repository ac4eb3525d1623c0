package apitest

import "testing"

func init() {
	meant["GET /v2/team/renormalise/{run_id}"] = map[string]string{"run_id": "renormalise_id"}
}

// ledger begins an upload in parts and orders a run over the ledger, and waits
// until that stands still.
func (s *service) ledger(t *testing.T, f *fixture) {
	t.Helper()
	if !s.serves("POST /v2/team/renormalise") {
		return
	}
	f.ids["upload_id"] = s.field(t, "POST", "/v2/user/"+f.ids["user_id"]+"/uploads", `{"size":1000000}`, "id")
	f.ids["renormalise_id"] = s.field(t, "POST", "/v2/team/renormalise", `{"dry_run":true,"user_id":"`+f.ids["user_id"]+`"}`, "id")
	s.ended(t, "/v2/jobs/"+f.ids["renormalise_id"])
}
