package apitest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"hale/internal/labs/catalogue"
	"hale/internal/labs/critical"
	"hale/internal/labs/inbox"
	"hale/internal/labs/matching"
	"hale/internal/labs/networks"
	"hale/internal/labs/orders"
	"hale/internal/labs/results"
	"hale/internal/platform/civil"
	"hale/internal/platform/ids"
	"hale/internal/platform/store"
	"hale/internal/platform/teams"
)

func addCatalogueBodies() {
	validBodies["POST /v3/lab_tests"] = someLabTest
	validBodies["PUT /v2/team/practice"] = `{"name":"Example Clinic","address":{"first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip":"85004"},"phone_number":"+16025550100"}`
	sameForUnknown["DELETE /v2/team/practice query lab_account_id"] = "the account has no clinic of its own, which is not found either"
	validBodies["POST /v3/lab_tests/list_order_set_markers"] = `{"add_on":{"provider_ids":["70002"]}}`
	validBodies["POST /v3/compendium/search"] = `{"mode":"crosswalk","query":"lipid panel"}`
	validBodies["POST /v3/compendium/convert"] = `{"target_lab":"labcorp"}`
	validBodies["POST /v3/compendium/search_orderable_tests"] = `{"target_lab":"labcorp","provider_ids":["70002"]}`
}

const someLabTest = `{"name":"Panel","description":"","method":"walk_in_test","provider_ids":["70002"],"lab_slug":"quest"}`

// labs creates a lab test that can be ordered, an account at its lab, and a physician.
func (s *service) labs(t *testing.T, f *fixture) {
	t.Helper()
	f.ids["lab_test_id"] = s.activeTest(t, someLabTest)
	team := ids.MustParse[teams.Team](f.ids["team_id"])
	s.write(t, func(ctx context.Context, tx *store.Tx) error {
		c, err := catalogue.Load(ctx, tx, team)
		if err != nil {
			return err
		}
		quest, _ := c.LabBySlug("quest")
		id, err := catalogue.AddAccount(ctx, tx, catalogue.NewAccount{
			Owner: &team, Lab: quest.ID, Status: catalogue.AccountActive, Flow: catalogue.NotDelegated, Number: "12345",
			AllowedBilling: map[catalogue.Billing][]string{catalogue.ClientBill: {"AZ"}},
		})
		if err != nil {
			return err
		}
		f.ids["lab_account_id"] = id.String()
		_, err = catalogue.AddPhysician(ctx, tx, team, catalogue.Physician{FirstName: "Jane", LastName: "Example", NPI: "1234567893"})
		return err
	})
}

// activeTest creates a lab test that can be ordered.
func (s *service) activeTest(t *testing.T, body string) (id string) {
	t.Helper()
	id = s.requestField(t, "POST", "/v3/lab_tests", body, "id")
	s.requestObject(t, "PATCH", "/v3/lab_tests/"+id, `{"active":true}`)
	return id
}

const visitedAddress = `{"first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip_code":"85004"}`

func addAppointmentBodies() {
	const visit, center = "/v3/order/{order_id}/phlebotomy/appointment", "/v3/order/{order_id}/psc/appointment"
	validBodies["POST /v3/order/phlebotomy/appointment/availability"] = visitedAddress
	for _, path := range []string{visit, center} {
		validBodies["POST "+path+"/book"] = `{"booking_key":"no-key-at-all"}`
		validBodies["PATCH "+path+"/reschedule"] = `{"booking_key":"no-key-at-all"}`
	}
	validBodies["POST "+visit+"/request"] = `{"provider":"phlebfinders","address":` + visitedAddress + `}`
	validBodies["PATCH "+visit+"/cancel"] = `{"cancellation_reason_id":"5c0257ef-6fea-4c0e-8a4d-5f1c1f1a0001"}`
	validBodies["PATCH "+center+"/cancel"] = `{"cancellationReasonId":"226a6520-6fea-4c0e-8a4d-5f1c1f1a0101"}`
	// appointments_test.go tests orders with appointments.
	for _, operation := range []string{"GET " + visit, "POST " + visit + "/book", "POST " + visit + "/request", "PATCH " + visit + "/reschedule", "PATCH " + visit + "/cancel"} {
		sameForUnknown[operation+" path order_id"] = "the order of the fixture is a walk-in, and not found like one that is not there"
	}
	sameForUnknown["GET "+center+" path order_id"] = "the order of the fixture has no appointment, which is not found either"
	sameForUnknown["PATCH "+center+"/reschedule path order_id"] = sameForUnknown["GET "+center+" path order_id"]
	sameForUnknown["PATCH "+center+"/cancel path order_id"] = sameForUnknown["GET "+center+" path order_id"]
}

// appointments lets the team book appointments, even if an earlier request disabled them.
func (s *service) appointments(t *testing.T) {
	t.Helper()
	s.requestObject(t, "PATCH", "/v2/team/appointment_settings", `{"scheduling_enabled":true}`)
}

const (
	orderPatient = `{"first_name":"Given","last_name":"Family","dob":"1984-05-17","gender":"female","phone_number":"+14155550123","email":"person@example.com"}`
	orderAddress = `{"receiver_name":"Given Family","first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US","phone_number":"+14155550123"}`
	orderPeople  = `"patient_details":` + orderPatient + `,"patient_address":` + orderAddress
)

func addOrderBodies() {
	validBodies["POST /v3/order"] = `{"user_id":"$user_id","lab_test_id":"$lab_test_id","lab_account_id":"$lab_account_id",` + orderPeople + `}`
	validBodies["POST /v3/order with order_set.lab_test_ids[]"] = `{"user_id":"$user_id",` + orderPeople + `}`
	validBodies["POST /v3/order with order_set.lab_account_id"] = `{"user_id":"$user_id","order_set":{"lab_test_ids":["$lab_test_id"]},` + orderPeople + `}`
	for _, with := range []string{"", " with order_set.lab_test_ids[]", " with order_set.lab_account_id"} {
		validBodies["POST /v3/order/create"+with] = validBodies["POST /v3/order"+with]
	}
	validBodies["POST /v3/order/import"] = `{"user_id":"$user_id","sample_id":"IMPORTED-1","lab_account_id":"$lab_account_id","billing_type":"client_bill",` +
		`"collection_method":"walk_in_test","order_set":{"add_on":{"provider_ids":["70002"]}},` + orderPeople + `}`
	validBodies["POST /v3/order/testkit"] = `{"user_id":"$user_id","lab_test_id":"$kit_test_id","shipping_details":` + orderAddress + `}`
	validBodies["POST /v3/order/testkit/register"] = `{"sample_id":"$sample_id",` + orderPeople + `}`
	validBodies["POST /v3/order/resend_events"] = `{"start_at":"2026-01-01T00:00:00Z","end_at":"2026-01-02T00:00:00Z"}`
	validBodies["POST /v3/order/resend_events with order_ids[]"] = `{}`
	validBodies["POST /v3/order/{order_id}/recreate"] = `{"update_reason":"INCORRECT_LAB"}`
	validBodies["PATCH /v3/order/{order_id}"] = `{"activate_by":null}`
	inventedByCaller["POST /v3/order/import body sample_id"] = "a new name"
	validBodies["POST /v3/order/{order_id}/fulfilment"] = `{"status":"transit_customer"}`
	inventedByCaller["POST /v3/order/{order_id}/fulfilment body sample_id"] = "a new name"
	inventedByCaller["POST /v3/fulfilment/{partner} body sample_id"] = "a new name"
	valuesByOperation["POST /v3/order/testkit"] = map[string]string{"lab_test_id": "kit_test_id"}
}

// orders creates an order, a kit that can be registered, and an order with results.
func (s *service) orders(t *testing.T, f *fixture) {
	t.Helper()
	f.ids["order_id"], f.ids["transaction_id"] = s.order(t, f)
	f.ids["order_transaction_id"] = f.ids["transaction_id"]
	f.ids["kit_test_id"] = s.activeTest(t, `{"name":"Kit","description":"","method":"testkit","provider_ids":["US-050"],"lab_slug":"ussl"}`)
	kit := s.requestObject(t, "POST", "/v3/order/testkit", fmt.Sprintf(`{"user_id":%q,"lab_test_id":%q,"shipping_details":%s}`, f.ids["user_id"], f.ids["kit_test_id"], orderAddress))
	f.ids["sample_id"] = kit["order"].(map[string]any)["sample_id"].(string)
	s.addReportedOrder(t, f)
}

// order creates an order of the fixture's lab test.
func (s *service) order(t *testing.T, f *fixture) (id, transaction string) {
	t.Helper()
	made := s.requestObject(t, "POST", "/v3/order", fmt.Sprintf(`{"user_id":%q,"lab_test_id":%q,"lab_account_id":%q,%s}`,
		f.ids["user_id"], f.ids["lab_test_id"], f.ids["lab_account_id"], orderPeople))
	order := made["order"].(map[string]any)
	return order["id"].(string), order["order_transaction"].(map[string]any)["id"].(string)
}

// settle waits until the work of the fixture is done and the event numbers are stable.
// PostgreSQL numbers events shortly after their commit.
func (s *service) settle(t *testing.T) {
	t.Helper()
	last := func() (n int64) {
		var feed struct{ Last int64 }
		s.get(t, "/v2/events", &feed)
		return feed.Last
	}
	waitUntil(t, "the end of a fixture's work", func() bool {
		before := last()
		time.Sleep(100 * time.Millisecond)
		return !s.hasDueJobs(t, workingKinds, 0) && last() == before
	})
}

// workingKinds are the kinds of jobs that place orders, send messages about them, or
// rehearse results. After the last one nothing changes by itself, except workouts,
// which wait some seconds for their heart rate.
var workingKinds = []string{"orders.place", "orders.ship", "messages.send", "matching.match", "matching.rehearsal"}

// settleJobs waits like settle, and also for the jobs that look for heart rate and days.
// Tests that compare jobs need it.
func (s *service) settleJobs(t *testing.T) {
	t.Helper()
	waitUntil(t, "the end of looking for heart rate", func() bool { return !s.hasDueJobs(t, []string{"wearables.zones", "wearables.days"}, 5*time.Second) })
	s.settle(t)
}

// hasDueJobs reports whether a job of some kinds is due soon. It ignores later jobs.
func (s *service) hasDueJobs(t *testing.T, kinds []string, soon time.Duration) bool {
	t.Helper()
	for _, status := range []string{"queued", "running"} {
		var page struct {
			Jobs []struct {
				Kind  string
				RunAt time.Time `json:"run_at"`
			}
			NextCursor *string `json:"next_cursor"`
		}
		s.get(t, "/v2/jobs?limit=500&status="+status, &page)
		for _, job := range page.Jobs {
			if slices.Contains(kinds, job.Kind) && job.RunAt.Before(time.Now().Add(soon)) {
				return true
			}
		}
		if page.NextCursor != nil {
			t.Fatalf("a team has more than %d jobs that are %s", len(page.Jobs), status)
		}
	}
	return false
}

func addResultValues() {
	simplestTexts["collection_date"] = "2026-03-01T12:00:00+00:00"
	for _, paper := range []string{"requisition/pdf", "labels/pdf", "abn_pdf", "result", "result/metadata", "result/pdf"} {
		valuesByOperation["GET /v3/order/{order_id}/"+paper] = map[string]string{"order_id": "reported_order_id"}
	}
	valuesByOperation["DELETE /v3/order/{order_id}/requisition_link"] = map[string]string{"order_id": "reported_order_id"}
	for _, paper := range []string{"result", "result/pdf"} {
		valuesByOperation["GET /v3/order_transaction/{transaction_id}/"+paper] = map[string]string{"transaction_id": "reported_transaction_id"}
	}
}

// addReportedOrder creates an order that the lab accepted, with a notice and results, so
// that it has every document.
func (s *service) addReportedOrder(t *testing.T, f *fixture) {
	t.Helper()
	f.ids["reported_order_id"], f.ids["reported_transaction_id"] = s.order(t, f)
	team, id := ids.MustParse[teams.Team](f.ids["team_id"]), ids.MustParse[orders.Order](f.ids["reported_order_id"])
	s.write(t, func(ctx context.Context, tx *store.Tx) error {
		o, err := orders.Get(ctx, tx, team, id)
		if err != nil {
			return err
		}
		_, err = orders.Advance(ctx, tx, &o, orders.Move{To: orders.RequisitionCreated, By: orders.Requisition, Change: func(o *orders.Order) {
			o.SampleID, o.HasABN = "S-"+o.ID.String(), true
		}})
		if err != nil {
			return err
		}
		if err := results.Take(ctx, tx, &o, someResults(&o)); err != nil {
			return err
		}
		if err := critical.Raise(ctx, tx, team, critical.Subject{Order: &o, Revision: 1}); err != nil {
			return err
		}
		notices, err := critical.List(ctx, tx, team, critical.Filter{Limit: 1})
		if err == nil {
			f.ids["critical_result_id"] = notices[0].ID.String()
		}
		return err
	})
}

func someResults(o *orders.Order) results.Arrival {
	drawn := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	return results.Arrival{Key: "fixture:" + o.ID.String(), At: drawn.Add(24 * time.Hour), SampleID: o.SampleID, Set: networks.ResultSet{
		Specimen: networks.Specimen{Number: o.SampleID, Collected: networks.Moment{Time: drawn}, Reported: networks.Moment{Time: drawn.Add(24 * time.Hour)}},
		Results:  []networks.Result{{ProviderID: "70002", TestProviderID: "70002", Name: "Result", Value: "90", Unit: "mg/dL", Range: "70-99", Status: "F"}},
	}}
}

func addUnmatchedBodies() {
	validBodies["POST /v3/critical_result/{critical_result_id}/acknowledge"] = `{"notified_person":"Dr. Example","read_back":true}`
	validBodies["POST /v3/unmatched_result/{raw_result_id}/accept"] = `{"order_id":"$order_id"}`
	validBodies["POST /v3/unmatched_result/{raw_result_id}/resolve"] = `{"action":"unsure"}`
	validBodies["POST /v3/unmatched_result_test"] = `{"case":"no_match","order_source":"managed"}`
	const later = "what takes part is looked at when the run has started"
	sameForUnknown["POST /v3/unmatched_result_test body lab_test_id"] = later
	validBodies["POST /v3/unmatched_result_test with wrong_lab_test_id"] = `{"case":"wrong_lab","order_source":"managed"}`
	sameForUnknown["POST /v3/unmatched_result_test body wrong_lab_test_id"] = later
}

// unmatched creates a result without a matching order, and a rehearsal that has ended.
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
		method: "POST", path: "/v3/unmatched_result_test", body: []byte(validBodies["POST /v3/unmatched_result_test"]),
		headers: map[string]string{"content-type": "application/json", "x-idempotency-key": f.ids["client_user_id"]},
	}
	got := s.send(t, r, s.Key)
	if got.status != http.StatusAccepted {
		t.Fatalf("a rehearsal was answered %d: %.300s", got.status, got.body)
	}
	f.ids["run_id"] = mustDecode(t, string(got.body)).(map[string]any)["run_id"].(string)
	if status := s.waitForEnd(t, "/v3/unmatched_result_test/"+f.ids["run_id"]); status != "succeeded" {
		t.Fatalf("a rehearsal %s", status)
	}
}
