package apitest

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

const (
	orderPatient = `{"first_name":"Given","last_name":"Family","dob":"1984-05-17","gender":"female","phone_number":"+14155550123","email":"person@example.com"}`
	orderAddress = `{"receiver_name":"Given Family","first_line":"1 Example Street","city":"Phoenix","state":"AZ","zip":"85004","country":"US","phone_number":"+14155550123"}`
	orderPeople  = `"patient_details":` + orderPatient + `,"patient_address":` + orderAddress
)

func init() {
	wholeBodies["POST /v3/order"] = `{"user_id":"$user_id","lab_test_id":"$lab_test_id","lab_account_id":"$lab_account_id",` + orderPeople + `}`
	wholeBodies["POST /v3/order with order_set.lab_test_ids[]"] = `{"user_id":"$user_id",` + orderPeople + `}`
	wholeBodies["POST /v3/order with order_set.lab_account_id"] = `{"user_id":"$user_id","order_set":{"lab_test_ids":["$lab_test_id"]},` + orderPeople + `}`
	for _, with := range []string{"", " with order_set.lab_test_ids[]", " with order_set.lab_account_id"} {
		wholeBodies["POST /v3/order/create"+with] = wholeBodies["POST /v3/order"+with]
	}
	wholeBodies["POST /v3/order/import"] = `{"user_id":"$user_id","sample_id":"IMPORTED-1","lab_account_id":"$lab_account_id","billing_type":"client_bill",` +
		`"collection_method":"walk_in_test","order_set":{"add_on":{"provider_ids":["70002"]}},` + orderPeople + `}`
	wholeBodies["POST /v3/order/testkit"] = `{"user_id":"$user_id","lab_test_id":"$kit_test_id","shipping_details":` + orderAddress + `}`
	wholeBodies["POST /v3/order/testkit/register"] = `{"sample_id":"$sample_id",` + orderPeople + `}`
	wholeBodies["POST /v3/order/resend_events"] = `{"start_at":"2026-01-01T00:00:00Z","end_at":"2026-01-02T00:00:00Z"}`
	wholeBodies["POST /v3/order/resend_events with order_ids[]"] = `{}`
	wholeBodies["PATCH /v3/order/{order_id}"] = `{"activate_by":null}`
	chosen["POST /v3/order/import body sample_id"] = "a new name"
	meant["POST /v3/order/testkit"] = map[string]string{"lab_test_id": "kit_test_id"}
}

// orders makes an order, a kit that can be registered, and an order with
// results.
func (s *service) orders(t *testing.T, f *fixture) {
	t.Helper()
	f.ids["order_id"], f.ids["transaction_id"] = s.order(t, f)
	f.ids["order_transaction_id"] = f.ids["transaction_id"]
	f.ids["kit_test_id"] = s.activeTest(t, `{"name":"Kit","description":"","method":"testkit","provider_ids":["US-050"],"lab_slug":"ussl"}`)
	kit := s.make(t, "POST", "/v3/order/testkit", fmt.Sprintf(`{"user_id":%q,"lab_test_id":%q,"shipping_details":%s}`, f.ids["user_id"], f.ids["kit_test_id"], orderAddress))
	f.ids["sample_id"] = kit["order"].(map[string]any)["sample_id"].(string)
	s.reported(t, f)
}

// order makes an order of the fixture's lab test.
func (s *service) order(t *testing.T, f *fixture) (id, transaction string) {
	t.Helper()
	made := s.make(t, "POST", "/v3/order", fmt.Sprintf(`{"user_id":%q,"lab_test_id":%q,"lab_account_id":%q,%s}`,
		f.ids["user_id"], f.ids["lab_test_id"], f.ids["lab_account_id"], orderPeople))
	order := made["order"].(map[string]any)
	return order["id"].(string), order["order_transaction"].(map[string]any)["id"].(string)
}

// settle waits until the fixture's work is done and stands still: PostgreSQL
// numbers events a moment after the work that made them.
func (s *service) settle(t *testing.T) {
	t.Helper()
	last := func() (n int64) {
		var feed struct{ Last int64 }
		s.get(t, "/v2/events", &feed)
		return feed.Last
	}
	await(t, "the end of a fixture's work", func() bool {
		before := last()
		time.Sleep(100 * time.Millisecond)
		return !s.atWork(t, working, 0) && last() == before
	})
}

// working are the jobs that hand over orders and speak of them, or rehearse
// results. When none is left nothing changes any more by itself, but for workouts
// that wait some seconds for their heart rate.
var working = []string{"orders.place", "orders.ship", "messages.send", "matching.match", "matching.drill"}

// rest is settle for one who looks at the jobs as well.
func (s *service) rest(t *testing.T) {
	t.Helper()
	await(t, "the end of looking for heart rate", func() bool { return !s.atWork(t, []string{"wearables.zones"}, 5*time.Second) })
	s.settle(t)
}

// atWork reports whether a job of some kinds is due soon. One that is due only
// later is not waited for.
func (s *service) atWork(t *testing.T, kinds []string, soon time.Duration) bool {
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
