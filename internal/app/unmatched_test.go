package app_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"hale/internal/app/apptest"
	"hale/internal/platform/store"
	"hale/internal/platform/store/storetest"
	"hale/internal/platform/teams"
)

// rehearsalView holds the fields of a run that a test checks.
type rehearsalView struct {
	RunID       string `json:"run_id"`
	Status      string
	Stage       string
	RawResultID *string `json:"raw_result_id"`
	Error       *struct{ Code string }
	Orders      map[string]struct {
		OrderID       string `json:"order_id"`
		UserID        string `json:"user_id"`
		TransactionID string `json:"order_transaction_id"`
	}
}

// unmatchedView holds the fields of an unmatched result that a test checks.
type unmatchedView struct {
	ID             string
	Status         string
	DecisionCode   string   `json:"decision_code"`
	ResultStatus   string   `json:"result_status"`
	Interpretation string   `json:"interpretation"`
	Allowed        []string `json:"allowed_actions"`
	ResolvedOrder  *string  `json:"resolved_order_id"`
	Groups         []struct {
		UserID     string `json:"user_id"`
		Candidates []struct {
			OrderID    string `json:"order_id"`
			Confidence string `json:"confidence_level"`
		}
	} `json:"candidate_groups"`
}

// rehearse starts a run and waits for its end.
func rehearse(t *testing.T, s *apptest.Service, key, body string) rehearsalView {
	t.Helper()
	status, text := s.Call("POST", "/v3/unmatched_result_test", body, "X-Idempotency-Key", key)
	var r rehearsalView
	if err := json.Unmarshal(text, &r); err != nil || status != http.StatusAccepted || r.RunID == "" {
		t.Fatalf("%d: %s", status, text)
	}
	for deadline := time.Now().Add(90 * time.Second); r.Status != "succeeded" && r.Status != "failed"; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the run is %s, at %s", r.Status, r.Stage)
		}
		s.Get("/v3/unmatched_result_test/"+r.RunID, &r)
	}
	return r
}

// The test rehearses every case that works with orders of its own. Each case
// ends in the queue with the verdict that it is named after, and can be
// accepted.
func TestUnmatchedResultsFromQueueToDecision(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		var cases struct {
			Data []struct {
				Case       string
				OrderRoles []string `json:"order_roles"`
			}
		}
		s.Get("/v3/unmatched_result_test/case", &cases)
		if len(cases.Data) != 8 {
			t.Fatalf("%d cases", len(cases.Data))
		}
		var all []string
		for _, c := range cases.Data {
			if c.Case == "wrong_collection" {
				continue
			}
			r := rehearse(t, s, "key-"+c.Case, fmt.Sprintf(`{"case":%q,"order_source":"managed","result_status":"final","interpretation":"abnormal"}`, c.Case))
			if r.Status != "succeeded" || r.Stage != "succeeded" || r.RawResultID == nil || len(r.Orders) != len(c.OrderRoles) {
				t.Fatalf("%s: %+v, error %+v", c.Case, r, r.Error)
			}
			var i unmatchedView
			s.Get("/v3/unmatched_result/"+*r.RawResultID, &i)
			if i.DecisionCode != c.Case || i.Status != "pending_customer_review" || len(i.Allowed) != 3 || i.Interpretation != "abnormal" {
				t.Errorf("%s: %+v", c.Case, i)
			}
			all = append(all, i.ID)
			acceptCase(t, s, c.Case, i, r)
		}
		var events struct {
			Events []struct {
				Event struct {
					Data struct{ ID string }
				}
			}
		}
		var announced []string
		for deadline := time.Now().Add(90 * time.Second); len(announced) < len(all) && time.Now().Before(deadline); { // PostgreSQL numbers them a moment later
			s.Get("/v2/events?limit=1000&types=labtest.match_review.created", &events)
			announced = nil
			for _, e := range events.Events {
				announced = append(announced, e.Event.Data.ID)
			}
		}
		if !slices.Equal(announced, all) {
			t.Errorf("events about %v, want %v", announced, all)
		}
	})
}

// acceptCase accepts the result of a case as a reviewer does.
func acceptCase(t *testing.T, s *apptest.Service, kase string, i unmatchedView, r rehearsalView) {
	t.Helper()
	path := "/v3/unmatched_result/" + i.ID
	var o struct {
		ID          string
		UserID      string `json:"user_id"`
		Origin      string
		Status      string
		Transaction struct {
			Orders []struct {
				ID       string
				ParentID *string `json:"parent_id"`
			}
		} `json:"order_transaction"`
	}
	switch kase {
	case "no_match":
		s.Expect(422, "POST", path+"/accept", `{}`, nil)
		s.Expect(200, "POST", path+"/resolve", `{"action":"reject","note":"not ours"}`, &i)
	case "multiple_demo_match":
		s.Expect(422, "POST", path+"/accept", `{}`, nil)
		s.Expect(422, "POST", path+"/accept", fmt.Sprintf(`{"order_id":%q,"user_id":%q}`, r.Orders["first"].OrderID, r.Orders["second"].UserID), nil)
		s.Expect(200, "POST", path+"/accept", fmt.Sprintf(`{"order_id":%q}`, r.Orders["second"].OrderID), &o)
		if o.ID != r.Orders["second"].OrderID {
			t.Errorf("accepted for %s", o.ID)
		}
	case "match_sample_id_mismatch_demo":
		s.Expect(422, "POST", path+"/accept", `{}`, nil)
		s.Expect(200, "POST", path+"/resolve", `{"action":"unsure"}`, &i)
		if i.Status != "pending_ops_review" {
			t.Errorf("%s is %s", kase, i.Status)
		}
	case "match_cancelled", "wrong_lab":
		s.Expect(200, "POST", path+"/accept", `{"note":"called the lab"}`, &o)
		if old := r.Orders["order"]; o.ID == old.OrderID || o.UserID != old.UserID || o.Origin != "recreation" || len(o.Transaction.Orders) != 2 ||
			*o.Transaction.Orders[1].ParentID != old.OrderID {
			t.Errorf("%s made %+v", kase, o)
		}
	default:
		s.Expect(200, "POST", path+"/accept", `{}`, &o)
		if o.ID != r.Orders["order"].OrderID || o.Status != "completed" {
			t.Errorf("%s: accepted for %+v", kase, o)
		}
	}
	s.Get(path, &i)
	if len(i.Allowed) != 0 {
		t.Errorf("%s: still allowed %v", kase, i.Allowed)
	}
	s.Expect(404, "POST", path+"/resolve", `{"action":"reject"}`, nil)
	if o.ID != "" && (i.ResolvedOrder == nil || *i.ResolvedOrder != o.ID || i.Status != "resolved") {
		t.Errorf("%s: %+v", kase, i)
	}
}

// A phlebotomy order that was provided, a run that cannot succeed, and requests
// that cannot start one.
func TestUnmatchedResultTestRequests(t *testing.T) {
	storetest.EachDatabase(t, func(t *testing.T, d storetest.Database) {
		s := apptest.Start(t, d)
		ask := func(key, body string) (int, string) {
			status, text := s.Call("POST", "/v3/unmatched_result_test", body, "X-Idempotency-Key", key)
			return status, string(text)
		}
		const one = `{"case":"no_match","order_source":"managed"}`
		first, again := rehearse(t, s, "one", one), rehearse(t, s, "one", one)
		if first.RunID != again.RunID {
			t.Error("the same key started two runs")
		}
		for name, c := range map[string]struct {
			status    int
			key, body string
		}{
			"key used before":   {409, "one", `{"case":"match_demo","order_source":"managed"}`},
			"no key":            {422, "", one},
			"long key":          {422, strings.Repeat("k", 256), one},
			"unknown case":      {422, "a", `{"case":"match_sample_id","order_source":"managed"}`},
			"managed visit":     {422, "b", `{"case":"wrong_collection","order_source":"managed"}`},
			"orders missing":    {422, "c", `{"case":"match_demo","order_source":"provided"}`},
			"other role":        {422, "d", `{"case":"match_demo","order_source":"provided","orders":{"first":"00000000-0000-4000-8000-000000000001"}}`},
			"no such field":     {422, "e", `{"case":"match_demo","order_source":"managed","more":1}`},
			"wrong lab of none": {422, "f", `{"case":"match_demo","order_source":"managed","wrong_lab_test_id":"00000000-0000-4000-8000-000000000001"}`},
		} {
			if status, text := ask(c.key, c.body); status != c.status {
				t.Errorf("%s: %d %s", name, status, text)
			}
		}
		r := rehearse(t, s, "unknown-order", `{"case":"match_demo","order_source":"provided","orders":{"order":"00000000-0000-4000-8000-000000000001"}}`)
		if r.Status != "failed" || r.Error == nil || r.Error.Code != "order_not_found" {
			t.Errorf("an unknown order: %+v", r)
		}
		real := production(t, s)
		real.Expect(404, "GET", "/v3/unmatched_result_test/case", "", nil)
		real.Expect(404, "GET", "/v3/unmatched_result_test/"+first.RunID, "", nil)
		if status, _ := real.Call("POST", "/v3/unmatched_result_test", one, "X-Idempotency-Key", "x"); status != 404 {
			t.Errorf("in production: %d", status)
		}
		real.Expect(400, "GET", "/v3/unmatched_result", "", nil)
	})
}

// production creates a production team and returns a caller with its key.
func production(t *testing.T, s *apptest.Service) *apptest.Service {
	t.Helper()
	ctx := store.AsSystem(t.Context())
	other := *s
	err := s.DB.Write(ctx, func(tx *store.Tx) error {
		team, err := teams.Create(ctx, tx, "Real", teams.Production)
		if err != nil {
			return err
		}
		_, key, err := teams.CreateKey(ctx, tx, team, teams.NewKey{Label: "test", Rights: teams.FullRights})
		other.Key = key.Reveal()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return &other
}
