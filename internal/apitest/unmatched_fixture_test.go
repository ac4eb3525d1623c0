package apitest

import (
	"context"
	"net/http"
	"testing"

	"hale/internal/labs/inbox"
	"hale/internal/labs/matching"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/platform/civil"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func init() {
	wholeBodies["POST /v3/unmatched_result/{raw_result_id}/accept"] = `{"order_id":"$order_id"}`
	wholeBodies["POST /v3/unmatched_result/{raw_result_id}/resolve"] = `{"action":"unsure"}`
	wholeBodies["POST /v3/unmatched_result_test"] = `{"case":"no_match","order_source":"managed"}`
	const later = "what takes part is looked at when the run has started"
	indifferent["POST /v3/unmatched_result_test body lab_test_id"] = later
	wholeBodies["POST /v3/unmatched_result_test with wrong_lab_test_id"] = `{"case":"wrong_lab","order_source":"managed"}`
	indifferent["POST /v3/unmatched_result_test body wrong_lab_test_id"] = later
}

// unmatched makes a result that fits no order, and a rehearsal that has ended.
func (s *service) unmatched(t *testing.T, f *fixture) {
	t.Helper()
	team := ids.MustParse[teams.Team](f.ids["team_id"])
	var id matching.ID
	s.write(t, func(ctx context.Context, tx *store.Tx) (err error) {
		id, err = matching.Put(ctx, tx, team, unmatchedArrival(tx))
		return err
	})
	queue := matching.Queue{Orders: orders.NewIndex()}
	if err := queue.Match(store.AsSystem(t.Context()), s.DB, team, id, true); err != nil {
		t.Fatal(err)
	}
	f.ids["raw_result_id"] = id.String()
	s.rehearsal(t, f)
}

func unmatchedArrival(tx *store.Tx) inbox.Arrival {
	id := tx.NewUUID()
	return inbox.Arrival{ID: id, Network: "sandboxlab", Key: "fixture:" + id.String(), ReceivedAt: tx.Now(), Report: networks.Report{
		Lab: "quest", SampleID: "UNKNOWN", Patient: networks.ReportedPatient{FirstName: "Given", LastName: "Family", DOB: civil.MustParse("1984-05-17")},
		Results: &networks.ResultSet{Results: []networks.Result{{ProviderID: "70002", TestProviderID: "70002", Name: "Result", Value: "1", Status: "F"}}},
	}}
}

func (s *service) rehearsal(t *testing.T, f *fixture) {
	t.Helper()
	r := request{
		method: "POST", path: "/v3/unmatched_result_test", body: []byte(wholeBodies["POST /v3/unmatched_result_test"]),
		headers: map[string]string{"content-type": "application/json", "x-idempotency-key": f.ids["client_user_id"]},
	}
	got := s.send(t, r, s.Key)
	if got.status != http.StatusAccepted {
		t.Fatalf("a rehearsal was answered %d: %.300s", got.status, got.body)
	}
	f.ids["run_id"] = mustDecode(t, string(got.body)).(map[string]any)["run_id"].(string)
	if status := s.ended(t, "/v3/unmatched_result_test/"+f.ids["run_id"]); status != "succeeded" {
		t.Fatalf("a rehearsal %s", status)
	}
}
